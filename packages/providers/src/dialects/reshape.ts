import type { JsonObject } from '@sluice/contracts';

export interface Reshaping {
  /** Unified field → the vendor's name for it. */
  rename?: Readonly<Record<string, string>>;
  /** What the vendor has no word for; told to the caller. */
  drop?: readonly string[];
  /** What the dialect has used up, in other fields. */
  used?: readonly string[];
}

/**
 * A copy of the caller's body in the vendor's words. Fields that are neither
 * renamed nor taken out travel on: they are the vendor's own. A null means the
 * same as an absent field, and not every vendor knows that.
 */
export function reshape(
  body: JsonObject,
  { rename = {}, drop = [], used = [] }: Reshaping,
): { body: JsonObject; dropped: string[] } {
  const shaped: JsonObject = {};
  const dropped: string[] = [];
  for (const key of Object.keys(body)) {
    const value = body[key];
    if (value === undefined || value === null || used.includes(key)) continue;
    if (drop.includes(key)) dropped.push(key);
    else {
      const to = Object.hasOwn(rename, key) ? (rename[key] as string) : key;
      // A caller who writes the vendor's own name means it.
      if (to === key || body[to] === undefined || body[to] === null) shaped[to] = value;
    }
  }
  return { body: shaped, dropped };
}
