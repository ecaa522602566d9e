import { isDeepStrictEqual } from 'node:util';

/** Whether a row says already what it would say with these columns; what is undefined stays as it is. */
export function isAsItIs(row: object, columns: object): boolean {
  const stored = new Map<string, unknown>(Object.entries(row));
  return Object.entries(columns).every(
    ([name, value]) =>
      value === undefined || isDeepStrictEqual(asJson(value), asJson(stored.get(name))),
  );
}

/** As it comes back from a column: dates as text, and nothing that is undefined. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify({ value }));
}
