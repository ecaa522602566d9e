import { z } from 'zod';
import { metadataValueMax } from '../../metadata-values.ts';

/** Metadata travels in headers and becomes columns of the ledger. */
const value = z.string().max(metadataValueMax);
const name = z.string().min(1).max(128);

const property = z
  .strictObject({
    type: z.literal('string'),
    title: z.string().max(255).optional(),
    description: z.string().max(2000).optional(),
    enum: z.array(value).min(1).max(200).optional(),
    default: value.optional(),
  })
  .refine(
    ({ default: given, enum: values }) =>
      given === undefined || values === undefined || values.includes(given),
    { path: ['default'], message: 'is none of the values of enum' },
  );

/**
 * The part of JSON Schema draft-07 in which an organisation says what metadata
 * must hold. A keyword that is not known here is refused: a rule that somebody
 * wrote down and nobody keeps is worse than none.
 */
export const metadataSchema = z.strictObject({
  $schema: z.string().max(255).optional(),
  $id: z.string().max(255).optional(),
  title: z.string().max(255).optional(),
  description: z.string().max(2000).optional(),
  type: z.literal('object'),
  additionalProperties: z.literal(true),
  properties: z
    .record(name, property)
    .refine(
      (properties) => Object.keys(properties).length <= 100,
      'may hold 100 properties at most',
    )
    .default({}),
  required: z.array(name).max(100).default([]),
});

export type MetadataSchema = z.infer<typeof metadataSchema>;
