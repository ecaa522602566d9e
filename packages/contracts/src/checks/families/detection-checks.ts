import { z } from 'zod';
import { openObject } from '../../fields/kept-only.ts';
import type { CheckDeclaration } from '../declaration.ts';
import { anyText, flag, not, parameters, subjects, text } from '../parameter-fields.ts';

/** What is found by what it is made of: check digits, forms of vendors, plans of numbers. */
const certainPii = [
  'EMAIL_ADDRESS',
  'PHONE_NUMBER',
  'CREDIT_CARD',
  'IBAN',
  'NATIONAL_ID',
  'IP_ADDRESS',
  'MAC_ADDRESS',
  'CRYPTO_ADDRESS',
  'SECRET',
] as const;
/** What is guessed by lists of words: sought only by who asks for it. */
const guessedPii = ['PERSON', 'LOCATION'] as const;
export const piiKinds = [...certainPii, ...guessedPii] as const;

/** A kind of the config's own; identifiers are made of it. */
const kindName = z
  .string()
  .regex(/^[A-Z][A-Z0-9_]{0,63}$/, 'must be capitals, digits and underscores');

/** Checks that find, by themselves, what should not be said. */
export const detectionChecks = {
  'default.pii': {
    parameters: parameters({
      categories: z
        .array(z.enum(piiKinds))
        .max(100)
        .default([...certainPii]),
      redact: flag(false),
      /** What was taken out of a request is put back into its answer. */
      restore: flag(false),
      /** Whose telephone numbers count without `+`. */
      regions: z
        .array(z.string().regex(/^[A-Z]{2}$/, 'must be the two capitals of a country'))
        .max(20)
        .default(['US']),
      patterns: z
        .array(openObject({ name: kindName, rule: text }))
        .max(50)
        .default([]),
      lists: z
        .array(openObject({ name: kindName, words: z.array(text.max(1_000)).min(1).max(1_000) }))
        .max(20)
        .default([]),
      allow: z.array(anyText.max(1_000)).max(1_000).default([]),
      not,
      subjects,
    }),
  },
} satisfies Record<string, CheckDeclaration>;
