import type { CheckId, ParametersOf } from '@sluice/contracts/checks';
import type { CheckFunction } from '../check.ts';
import { addPrefix } from './add-prefix.ts';
import { allLowercase } from './all-lowercase.ts';
import { allUppercase } from './all-uppercase.ts';
import { allowedRequestTypes } from './allowed-request-types.ts';
import { characterCount } from './character-count.ts';
import { contains } from './contains.ts';
import { containsCode } from './contains-code.ts';
import { endsWith } from './ends-with.ts';
import { jsonKeys } from './json-keys.ts';
import { modelRules } from './model-rules.ts';
import { modelWhitelist } from './model-whitelist.ts';
import { notNull } from './not-null.ts';
import { regexMatch } from './regex-match.ts';
import { regexReplace } from './regex-replace.ts';
import { requestParametersCheck } from './request-parameters-check.ts';
import { requiredMetadataKeyPairs } from './required-metadata-key-pairs.ts';
import { requiredMetadataKeys } from './required-metadata-keys.ts';
import { sentenceCount } from './sentence-count.ts';
import { wordCount } from './word-count.ts';

/**
 * Makes a check of its parameters, once for each check of a config.
 * @throws CheckError when no check can be made of them
 */
export type Compile<Id extends CheckId> = (parameters: ParametersOf<Id>) => CheckFunction;

/** What each check does. A new one is declared in contracts; then the compiler asks for its line here. */
export const compilers: { readonly [Id in CheckId]: Compile<Id> } = {
  'default.regexMatch': regexMatch,
  'default.regexReplace': regexReplace,
  'default.sentenceCount': sentenceCount,
  'default.wordCount': wordCount,
  'default.characterCount': characterCount,
  'default.contains': contains,
  'default.containsCode': containsCode,
  'default.endsWith': endsWith,
  'default.alluppercase': allUppercase,
  'default.alllowercase': allLowercase,
  'default.jsonKeys': jsonKeys,
  'default.notNull': notNull,
  'default.modelWhitelist': modelWhitelist,
  'default.modelRules': modelRules,
  'default.allowedRequestTypes': allowedRequestTypes,
  'default.requiredMetadataKeys': requiredMetadataKeys,
  'default.requiredMetadataKeyPairs': requiredMetadataKeyPairs,
  'default.requestParametersCheck': requestParametersCheck,
  'default.addPrefix': addPrefix,
};
