import type { JsonObject } from '@sluice/providers';

const counted = new WeakMap<JsonObject, boolean>();

/**
 * Whether a document has more values than checks of texts look at: to gather the
 * texts of a few hundred thousand would keep the event loop for everybody.
 */
export function hasTooManyValues(document: JsonObject): boolean {
  let known = counted.get(document);
  if (known === undefined) {
    known = isBeyond(document, valuesMax);
    counted.set(document, known);
  }
  return known;
}

/** Some 13,000 messages: ten milliseconds to gather their texts. */
export const valuesMax = 40_000;

function isBeyond(document: JsonObject, max: number): boolean {
  let count = 0;
  const waiting: object[] = [document];
  for (let holder = waiting.pop(); holder !== undefined; holder = waiting.pop()) {
    const values = Object.values(holder);
    count += values.length;
    if (count > max) return true;
    for (const value of values)
      if (typeof value === 'object' && value !== null) waiting.push(value);
  }
  return false;
}
