export { type JsonBounds, jsonBounds } from './bounds.ts';
export { GrowingBytes } from './growing-bytes.ts';
export { JsonError, type JsonFault } from './json-error.ts';
export { type ReadOptions, readJson, readJsonObject, readJsonText } from './read-json.ts';
export { type JsonScan, scanJson } from './scan-json.ts';
export { SkimmedJson } from './skim-json.ts';
export { spellingsOf } from './spellings-of.ts';
