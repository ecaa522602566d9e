import type { JsonObject } from '@sluice/contracts';

/** The caller's fields that are not among those that were read. */
export function droppedBeside(body: JsonObject, known: readonly string[]): string[] {
  return Object.keys(body).filter(
    (key) => !known.includes(key) && body[key] !== null && body[key] !== undefined,
  );
}
