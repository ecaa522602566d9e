import type { textChecks } from '@sluice/contracts/checks';
import type { CompilersOf } from '../../compile.ts';
import { addPrefix } from '../add-prefix.ts';
import { allLowercase } from '../all-lowercase.ts';
import { allUppercase } from '../all-uppercase.ts';
import { characterCount } from '../character-count.ts';
import { contains } from '../contains.ts';
import { containsCode } from '../contains-code.ts';
import { endsWith } from '../ends-with.ts';
import { jsonKeys } from '../json-keys.ts';
import { notNull } from '../not-null.ts';
import { regexMatch } from '../regex-match.ts';
import { regexReplace } from '../regex-replace.ts';
import { sentenceCount } from '../sentence-count.ts';
import { wordCount } from '../word-count.ts';

export const textCompilers: CompilersOf<typeof textChecks> = {
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
  'default.addPrefix': addPrefix,
};
