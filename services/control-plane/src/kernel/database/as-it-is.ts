import { canonicalJson } from './canonical-json.ts';

/** Whether a row says already what it would say with these columns; what is undefined stays as it is. */
export function isAsItIs(row: object, columns: object): boolean {
  const stored = new Map<string, unknown>(Object.entries(row));
  return Object.entries(columns).every(
    ([name, value]) =>
      value === undefined || canonicalJson(value) === canonicalJson(stored.get(name)),
  );
}
