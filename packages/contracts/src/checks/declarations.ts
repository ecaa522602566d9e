import { z } from 'zod';
import { requestTypes } from '../operations/request-types.ts';
import { isLanguage } from './code-languages.ts';
import {
  allAnyNone,
  anyText,
  areApart,
  count,
  flag,
  not,
  optionalTexts,
  parameters,
  text,
  texts,
} from './parameter-fields.ts';

/** One kind of check: what it can be told. What it does with that stands in `packages/guardrails`. */
export interface CheckDeclaration {
  /** Further ids by which it may be named. */
  readonly aliases?: readonly string[];
  readonly parameters: z.ZodType<object>;
}

const someTypes = z.array(z.enum(requestTypes)).max(100);
/** A list, or as a text with commas. */
const typeList = z
  .union([
    someTypes,
    anyText
      .transform((list) =>
        list
          .split(',')
          .map((type) => type.trim())
          .filter((type) => type !== ''),
      )
      .pipe(someTypes),
  ])
  .optional();

const scalar = z.union([anyText, z.number(), z.boolean()]);

const values = z
  .looseObject({
    blockedValues: z.array(z.unknown()).nullish(),
    allowedValues: z.array(z.unknown()).nullish(),
  })
  .refine(
    (lists) => areApart(lists.blockedValues, lists.allowedValues),
    'blocks and allows a value',
  );

/** The checks that the gateway runs by itself. */
export const checkDeclarations = {
  'default.regexMatch': { parameters: parameters({ rule: text, not }) },
  'default.regexReplace': {
    parameters: parameters({
      rule: text,
      redactText: anyText.default('[REDACTED]'),
      failOnDetection: flag(false),
    }),
  },
  'default.sentenceCount': {
    parameters: parameters({ minSentences: count(0), maxSentences: count(99_999), not }),
  },
  'default.wordCount': {
    parameters: parameters({ minWords: count(0), maxWords: count(99_999), not }),
  },
  'default.characterCount': {
    parameters: parameters({ minCharacters: count(0), maxCharacters: count(9_999_999), not }),
  },
  'default.contains': {
    parameters: parameters({ words: texts, operator: allAnyNone.default('any') }),
  },
  'default.containsCode': {
    parameters: parameters({
      format: text.refine(isLanguage, 'is no language that is known'),
      not,
    }),
  },
  'default.endsWith': { parameters: parameters({ suffix: text, not }) },
  'default.alluppercase': { parameters: parameters({ not }) },
  'default.alllowercase': {
    aliases: ['default.isAllLowerCase'],
    parameters: parameters({ not }),
  },
  'default.jsonKeys': {
    parameters: parameters({ keys: texts, operator: allAnyNone.default('any') }),
  },
  'default.notNull': { parameters: parameters({ not }) },
  'default.modelWhitelist': {
    aliases: ['default.modelwhitelist'],
    parameters: parameters({ models: texts, not }),
  },
  'default.modelRules': {
    parameters: parameters({
      rules: z.looseObject({
        defaults: optionalTexts,
        /** Models by the value of each key of the request's metadata. */
        metadata: z.record(z.string(), z.record(z.string(), optionalTexts)).nullish(),
      }),
      not,
    }),
  },
  'default.allowedRequestTypes': {
    parameters: parameters({ allowedTypes: typeList, blockedTypes: typeList }).refine(
      ({ allowedTypes, blockedTypes }) => areApart(allowedTypes, blockedTypes),
      'allows and blocks the same type',
    ),
  },
  'default.requiredMetadataKeys': {
    parameters: parameters({ metadataKeys: texts, operator: allAnyNone.default('all') }),
  },
  'default.requiredMetadataKeyPairs': {
    parameters: parameters({
      metadataPairs: z
        .record(z.string(), z.union([scalar, z.array(scalar).min(1)]))
        .refine((pairs) => Object.keys(pairs).length > 0, 'must have a pair'),
      operator: allAnyNone.default('all'),
      matchType: z.enum(['exact', 'contains', 'containsAll', 'regex']).default('exact'),
    }),
  },
  'default.requestParametersCheck': {
    parameters: parameters({
      tools: z
        .looseObject({
          blockedTypes: optionalTexts,
          allowedTypes: optionalTexts,
          blockedFunctionNames: optionalTexts,
          allowedFunctionNames: optionalTexts,
        })
        .refine(
          (tools) =>
            areApart(tools.blockedTypes, tools.allowedTypes) &&
            areApart(tools.blockedFunctionNames, tools.allowedFunctionNames),
          'blocks and allows the same tool',
        )
        .optional(),
      params: z
        .looseObject({
          blockedKeys: optionalTexts,
          allowedKeys: optionalTexts,
          /** By the name of a top-level parameter. */
          values: z.record(z.string(), values.nullish()).nullish(),
        })
        .refine(
          (params) => areApart(params.blockedKeys, params.allowedKeys),
          'blocks and allows the same key',
        )
        .optional(),
    }),
  },
  'default.addPrefix': {
    parameters: parameters({
      prefix: text,
      applyToRole: text.default('user'),
      /** Into the message; otherwise as a message of its own before it. */
      addToExisting: flag(true),
      /** Leaves messages that have content alone. */
      onlyIfEmpty: flag(false),
    }),
  },
} satisfies Record<string, CheckDeclaration>;

export type CheckId = keyof typeof checkDeclarations;

export type ParametersOf<Id extends CheckId> = z.output<
  (typeof checkDeclarations)[Id]['parameters']
>;
