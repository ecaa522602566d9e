import { z } from 'zod';
import { referenceField } from '../../fields/fields.ts';
import { keptOnly } from '../../fields/kept-only.ts';

/**
 * Fields of a resource whose value stands in a secret manager: which field,
 * which reference, which part of the secret. Each field is named once.
 */
export const secretMappings = keptOnly(
  z
    .array(
      z.object({
        target_field: z.string().min(1).max(255),
        secret_reference_id: referenceField,
        secret_key: z.string().max(255).nullish(),
        value_format: z.enum(['string', 'json']).nullish(),
      }),
    )
    .max(50)
    .refine(
      (list) => new Set(list.map((mapping) => mapping.target_field)).size === list.length,
      'holds a target_field twice',
    ),
  'secret managers are not asked, so that nothing is sent from there',
);
export type SecretMappingBody = z.infer<typeof secretMappings>[number];

/** A mapping as it is kept and shown: the reference by its UUID. */
export const secretMapping = z.object({
  target_field: z.string(),
  secret_reference_id: z.uuid(),
  secret_key: z.string().nullable(),
  value_format: z.enum(['string', 'json']).nullable(),
});
export type SecretMapping = z.infer<typeof secretMapping>;
