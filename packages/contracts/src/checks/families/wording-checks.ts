import { z } from 'zod';
import { openObject } from '../../fields/kept-only.ts';
import type { CheckDeclaration } from '../declaration.ts';
import {
  anyText,
  areApart,
  fraction,
  not,
  parameters,
  someOf,
  subjects,
  text,
  timeoutMs,
} from '../parameter-fields.ts';

/** ISO 639-1, of the languages that are told apart. */
export const toldLanguages = [
  ...['am', 'ar', 'az', 'be', 'bg', 'bn', 'ca', 'cs', 'da', 'de', 'el', 'en', 'es', 'et', 'eu'],
  ...['fa', 'fi', 'fr', 'gu', 'he', 'hi', 'hr', 'hu', 'hy', 'is', 'it', 'ja', 'ka', 'kn', 'ko'],
  ...['ku', 'lo', 'lt', 'lv', 'ml', 'mr', 'ms', 'nl', 'no', 'or', 'pa', 'pl', 'pt', 'ro', 'ru'],
  ...['sk', 'sl', 'sq', 'sr', 'sv', 'ta', 'te', 'th', 'tl', 'tr', 'uk', 'ur', 'vi', 'yo', 'zh'],
] as const;

export const toxicCategories = ['profanity', 'insult', 'threat', 'sexual', 'hate'] as const;
export type ToxicCategory = (typeof toxicCategories)[number];

const listName = z
  .string()
  .regex(/^[\w -]{1,64}$/, 'must be letters, digits, blanks, underscores and hyphens');
const phrases = z.array(text.max(200)).max(2_000);
const letters = z.int().min(1).max(1_000);
/** Languages by their codes. */
const languages = someOf(toldLanguages).min(1).optional();

/** Checks of how something is said, and of what it speaks. */
export const wordingChecks = {
  'default.languages': {
    parameters: parameters({
      allowed: languages,
      denied: languages,
      /** Letters below which nobody could say. */
      minLetters: letters.default(20),
      /** Of the text that is looked at: what less is in counts for nothing. */
      share: fraction.default(0.25),
      onUndecided: z.enum(['pass', 'fail']).default('pass'),
      not,
      timeout: timeoutMs(3000),
      subjects,
    })
      .refine(({ allowed, denied }) => (allowed ?? denied) !== undefined, 'needs allowed or denied')
      .refine(({ allowed, denied }) => areApart(allowed, denied), 'allows and denies a language'),
  },
  'default.gibberish': {
    parameters: parameters({
      /** From which share of the text on it fails. */
      threshold: z.number().gt(0).max(1).default(0.5),
      minLetters: letters.default(12),
      not,
      timeout: timeoutMs(3000),
      subjects,
    }),
  },
  'default.toxicity': {
    parameters: parameters({
      categories: someOf(toxicCategories)
        .min(1)
        .default([...toxicCategories]),
      /** More of them, of one’s own. */
      words: phrases.default([]),
      /** Phrases that are fine here. */
      allow: z.array(anyText.max(200)).max(200).default([]),
      not,
      subjects,
    }),
  },
  'default.bannedTopics': {
    parameters: parameters({
      topics: z
        .array(
          openObject({
            name: listName,
            words: phrases.default([]),
            /** How many of its words speak of it. */
            minWords: z.int().min(1).max(100).default(1),
            /** What is said of it, for `similarity`. */
            examples: z.array(text.max(1_000)).max(20).default([]),
          }),
        )
        .min(1)
        .max(50),
      /** From which cosine on a text is like an example; models differ, so nobody knows one for all. */
      similarity: z.number().gt(0).max(1).optional(),
      /** Who makes vectors: a saved provider of the workspace, as @slug. Default: the operator's. */
      embedding: openObject({
        provider: z.string().regex(/^@[^/]{1,255}$/, 'must be a saved provider, as @slug'),
        model: z.string().min(1).max(256),
      }).optional(),
      allow: z.array(anyText.max(200)).max(200).default([]),
      not,
      timeout: timeoutMs(3000),
      subjects,
    })
      .refine(
        ({ topics }) => topics.every(({ words, examples }) => words.length + examples.length > 0),
        'has a topic without words and examples',
      )
      .refine(
        ({ topics, similarity }) =>
          similarity !== undefined || topics.every(({ examples }) => examples.length === 0),
        'needs similarity beside examples',
      ),
  },
} satisfies Record<string, CheckDeclaration>;
