/** A JSON object of somebody else's. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The name of a member as its readers may understand it: JSON of protobuf is read
 * in camel and in snake case (https://protobuf.dev/programming-guides/json), and
 * Go matches names in any case. What policy looks at it must find under each.
 */
export function folded(name: string): string {
  const known = foldedNames.get(name);
  if (known !== undefined) return known;
  const made = name.replaceAll('_', '').toLowerCase();
  // Protocols have few names; what else is sent is not worth its memory.
  if (foldedNames.size < foldedMax && name.length <= 64) foldedNames.set(name, made);
  return made;
}

const foldedNames = new Map<string, string>();
const foldedMax = 1000;

/** Every value that `object` has under a name that may be read as one of `names`, which are folded. */
export function membersOf(object: unknown, ...names: readonly string[]): unknown[] {
  if (!isObject(object)) return [];
  const found: unknown[] = [];
  for (const name in object) if (names.includes(folded(name))) found.push(object[name]);
  return found;
}

/** The same with the names as they stand there. */
export function entriesOf(object: unknown, ...names: readonly string[]): [string, unknown][] {
  if (!isObject(object)) return [];
  const found: [string, unknown][] = [];
  for (const name in object) if (names.includes(folded(name))) found.push([name, object[name]]);
  return found;
}

/** The first of them that is an object. */
export function objectIn(object: unknown, ...names: readonly string[]): JsonObject | undefined {
  return membersOf(object, ...names).find(isObject);
}

/** The first of them that is a text with something in it. */
export function textIn(object: unknown, ...names: readonly string[]): string | undefined {
  return membersOf(object, ...names).find(
    (value): value is string => typeof value === 'string' && value !== '',
  );
}
