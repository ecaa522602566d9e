import type { IdleSetting } from '../../idle-actions.ts';

/** A resource as the API shows it. */
export type Shown = Readonly<Record<string, unknown>>;

/** A field of a resource that does nothing beside the rest of it. */
export interface IdleField extends IdleSetting {
  /** Further fields of the resource by which that is so: a change of one of them is told of it as well. */
  readonly by?: readonly string[];
}

/** What of a resource does nothing as it stands; paths as bodies have them, without `body`. */
export type IdleFields = (shown: Shown) => readonly IdleField[];

/** A field of a resource that may be an object. */
export function objectIn(shown: Shown, name: string): Shown {
  const value = shown[name];
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Shown)
    : {};
}

/** Whether something was said: not null, and no empty list or object. */
export function isSaid(value: unknown): boolean {
  return value != null && (typeof value !== 'object' || Object.keys(value).length > 0);
}
