import type { CheckKind } from '../check.ts';
import { addPrefix } from './add-prefix.ts';
import { contains, endsWith } from './contains.ts';
import { containsCode } from './contains-code.ts';
import { characterCount, sentenceCount, wordCount } from './counts.ts';
import { jsonKeys } from './json-keys.ts';
import { allLowercase, allUppercase } from './letter-case.ts';
import { modelRules, modelWhitelist } from './models.ts';
import { notNull } from './not-null.ts';
import { regexMatch, regexReplace } from './regex.ts';
import { requestParametersCheck } from './request-parameters.ts';
import { allowedRequestTypes } from './request-types.ts';
import { requiredMetadataKeyPairs, requiredMetadataKeys } from './required-metadata.ts';

/** Every check there is. A new one is a file and a line here. */
const kinds: readonly CheckKind[] = [
  regexMatch,
  regexReplace,
  sentenceCount,
  wordCount,
  characterCount,
  contains,
  endsWith,
  allUppercase,
  allLowercase,
  containsCode,
  jsonKeys,
  notNull,
  modelWhitelist,
  modelRules,
  allowedRequestTypes,
  requiredMetadataKeys,
  requiredMetadataKeyPairs,
  requestParametersCheck,
  addPrefix,
];

/** By every spelling: `default.` may be left out. */
export const checkKinds: ReadonlyMap<string, CheckKind> = new Map(
  kinds.flatMap((kind) =>
    [kind.id, ...(kind.aliases ?? [])].flatMap((id) => [
      [id, kind] as const,
      [id.replace(/^default\./, ''), kind] as const,
    ]),
  ),
);

export const knownChecks: ReadonlySet<string> = new Set(checkKinds.keys());
