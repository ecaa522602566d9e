import { z } from 'zod';
import { openObject } from '../../fields/kept-only.ts';
import { requestTypes } from '../../operations/request-types.ts';
import type { CheckDeclaration } from '../declaration.ts';
import {
  allAnyNone,
  anyText,
  areApart,
  not,
  optionalTexts,
  parameters,
  texts,
} from '../parameter-fields.ts';

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

const values = openObject({
  blockedValues: z.array(z.unknown()).nullish(),
  allowedValues: z.array(z.unknown()).nullish(),
}).refine(
  (lists) => areApart(lists.blockedValues, lists.allowedValues),
  'blocks and allows a value',
);

/** Checks that look at what is known of a call beside its texts. */
export const callChecks = {
  'default.modelWhitelist': {
    judges: 'parameters',
    aliases: ['default.modelwhitelist'],
    parameters: parameters({ models: texts, not }),
  },
  'default.modelRules': {
    judges: 'parameters',
    parameters: parameters({
      rules: openObject({
        defaults: optionalTexts,
        /** Models by the value of each key of the request's metadata. */
        metadata: z.record(z.string(), z.record(z.string(), optionalTexts)).nullish(),
      }),
      not,
    }),
  },
  'default.allowedRequestTypes': {
    judges: 'type',
    parameters: parameters({ allowedTypes: typeList, blockedTypes: typeList }).refine(
      ({ allowedTypes, blockedTypes }) => areApart(allowedTypes, blockedTypes),
      'allows and blocks the same type',
    ),
  },
  'default.requiredMetadataKeys': {
    judges: 'call',
    parameters: parameters({ metadataKeys: texts, operator: allAnyNone.default('all') }),
  },
  'default.requiredMetadataKeyPairs': {
    judges: 'call',
    parameters: parameters({
      metadataPairs: z
        .record(z.string(), z.union([scalar, z.array(scalar).min(1)]))
        .refine((pairs) => Object.keys(pairs).length > 0, 'must have a pair'),
      operator: allAnyNone.default('all'),
      matchType: z.enum(['exact', 'contains', 'containsAll', 'regex']).default('exact'),
    }),
  },
  'default.requestParametersCheck': {
    judges: 'parameters',
    parameters: parameters({
      tools: openObject({
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
      params: openObject({
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
} satisfies Record<string, CheckDeclaration>;
