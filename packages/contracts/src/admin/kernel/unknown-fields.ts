import type { z } from 'zod';
import { namesOf, sentFields } from '../../fields/sent-fields.ts';

/** A field that was sent and has no meaning where it stands. */
export interface UnknownField {
  readonly path: readonly PropertyKey[];
  /** The names that have one there, in the order in which they are declared. */
  readonly known: readonly string[];
}

/** Bodies are bounded in bytes and in depth; this bounds the answer. */
const unknownMax = 20;

/**
 * Finds what a schema would leave out of a value without a word: properties that no form of an object knows, at any
 * depth. Of a value that may have several forms, each that fits its discriminator counts.
 * @returns at most 20, in the order in which they were sent
 */
export function unknownFields(schema: z.ZodType, value: unknown): readonly UnknownField[] {
  const found: UnknownField[] = [];
  for (const { path, meant, around } of sentFields(schema, value)) {
    if (meant.length > 0) continue;
    found.push({ path, known: around.flatMap(namesOf) });
    if (found.length >= unknownMax) break;
  }
  return found;
}
