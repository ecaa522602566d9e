import type { JsonObject, JsonValue } from '@sluice/contracts';

/** A guess made before the call, good enough to compare prices. */
export interface TokenEstimate {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Reply length when the caller sets no limit. */
export const assumedOutputTokens = 1000;
/** One picture, sound or file, whatever its size. */
export const assumedMediaTokens = 1000;

const charactersPerToken = 4;
/** Values looked at; what lies behind is not counted, so that no body costs more than a millisecond. */
const valuesMax = 20_000;
const depthMax = 32;

const textKeys = ['messages', 'prompt', 'input', 'contents', 'system', 'instructions', 'tools'];

/** Characters of all text by four, and the caller's own limit of the reply. */
export function estimateTokens(json: Readonly<JsonObject>): TokenEstimate {
  const count: Count = { characters: 0, media: 0, valuesLeft: valuesMax };
  for (const key of textKeys) if (Object.hasOwn(json, key)) add(json[key], '', count, depthMax);
  return {
    inputTokens:
      Math.ceil(count.characters / charactersPerToken) + count.media * assumedMediaTokens,
    outputTokens: outputTokens(json),
  };
}

interface Count {
  characters: number;
  media: number;
  valuesLeft: number;
}

/** Base64 is not read as text, whether it stands in a string or in an object of its own. */
const mediaTextKeys = new Set(['data', 'file_data', 'b64_json', 'image_url']);
const mediaObjectKeys = new Set(['image_url', 'input_audio', 'inline_data', 'inlineData']);

/** Keys count as text too: they are about what roles and schemas cost. */
function add(value: JsonValue | undefined, key: string, count: Count, depth: number): void {
  if (--count.valuesLeft < 0) return;
  if (typeof value === 'string') {
    if (mediaTextKeys.has(key) || value.startsWith('data:')) count.media++;
    else count.characters += value.length;
  } else if (Array.isArray(value)) {
    // A prompt may be given as token ids.
    if (typeof value[0] === 'number') count.characters += value.length * charactersPerToken;
    else if (depth > 0)
      for (const entry of value) {
        if (count.valuesLeft < 0) return;
        add(entry, key, count, depth - 1);
      }
  } else if (typeof value === 'object' && value !== null) {
    if (mediaObjectKeys.has(key)) count.media++;
    else if (depth > 0) addObject(value, count, depth);
  }
}

function addObject(value: JsonObject, count: Count, depth: number): void {
  for (const name in value) {
    if (count.valuesLeft < 0) return;
    if (!Object.hasOwn(value, name)) continue;
    count.characters += name.length;
    add(value[name], name, count, depth - 1);
  }
}

const limitKeys = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'];
const outputTokensMax = 10_000_000;

function outputTokens(json: Readonly<JsonObject>): number {
  for (const key of limitKeys) {
    const limit = Object.hasOwn(json, key) ? json[key] : undefined;
    if (typeof limit === 'number' && limit > 0) return Math.min(Math.ceil(limit), outputTokensMax);
  }
  return assumedOutputTokens;
}
