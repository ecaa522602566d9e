import { isObject } from '../../../kernel/http/json-object.ts';

/** One place where two definitions are not the same. */
export interface Difference {
  /** `inputSchema.properties.path`; empty = the whole. */
  readonly path: string;
  /** Null = it was not there. */
  readonly before: unknown;
  readonly after: unknown;
}

/** More than this nobody reads. */
const differencesMax = 100;
const depthMax = 32;

/** Where two JSON documents differ, the innermost places first named by the order of their names. */
export function differences(before: unknown, after: unknown): Difference[] {
  const found: Difference[] = [];
  const compare = (old: unknown, now: unknown, path: readonly string[]): void => {
    if (found.length >= differencesMax) return;
    const inner = path.length < depthMax ? membersOf(old, now) : undefined;
    if (inner === undefined) {
      if (JSON.stringify(old) !== JSON.stringify(now))
        found.push({ path: path.join('.'), before: old ?? null, after: now ?? null });
      return;
    }
    for (const name of inner)
      compare((old as Record<string, unknown>)[name], (now as Record<string, unknown>)[name], [
        ...path,
        name,
      ]);
  };
  compare(before, after, []);
  return found;
}

/** Names in either, when both have names; of lists their places. */
function membersOf(old: unknown, now: unknown): string[] | undefined {
  const areLists = Array.isArray(old) && Array.isArray(now);
  if (!areLists && !(isObject(old) && isObject(now))) return undefined;
  const names = [...Object.keys(old as object), ...Object.keys(now as object)];
  return areLists ? [...new Set(names)] : [...new Set(names)].sort();
}
