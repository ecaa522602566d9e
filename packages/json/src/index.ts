export { type JsonBounds, jsonBounds } from './bounds.ts';
export { canonicalJson, writeCanonicalJson } from './canonical-json.ts';
export { GrowingBytes } from './growing-bytes.ts';
export { JsonEdit, type JsonStep } from './json-edit.ts';
export { JsonError, type JsonFault } from './json-error.ts';
export { parseText } from './parse-text.ts';
export { type PassingText, PassingTexts } from './passing-texts.ts';
export { type ReadOptions, readJson, readJsonObject, readJsonText } from './read-json.ts';
export { repeatedPath } from './repeated-path.ts';
export { type JsonScan, scanJson } from './scan-json.ts';
export { isWithinText, ShortTexts, shortTexts } from './short-texts.ts';
export { SkimmedJson } from './skim-json.ts';
export {
  itemSpans,
  type JsonSpan,
  keyOf,
  type MemberSpan,
  memberSpans,
  quote,
  scalarEnd,
  skipSpace,
  stringEnd,
  valueEnd,
} from './spans.ts';
export { spellingsOf } from './spellings-of.ts';
