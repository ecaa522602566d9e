import { isObject, type JsonObject } from './fold.ts';

/**
 * Tokens as agents and tools tell them: neither A2A nor MCP says how, so the usual spellings are read, here for both.
 * Input includes what was read from a cache. Whoever answers may write anything: reading never fails, and how much is
 * believed of one call is said where it is billed.
 */
export interface AgentUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
  /** The model that is named beside them; empty = none is. */
  readonly model: string;
  /** Something was told that is no count: nothing of it is believed, and all counts are 0. */
  readonly isImplausible?: boolean;
}

const inputNames = [
  'prompt_tokens',
  'input_tokens',
  'inputTokens',
  'promptTokens',
  'promptTokenCount',
  'prompt_token_count',
];
const outputNames = [
  'completion_tokens',
  'output_tokens',
  'outputTokens',
  'completionTokens',
  'candidatesTokenCount',
  'candidates_token_count',
];
const totalNames = ['total_tokens', 'totalTokens', 'totalTokenCount', 'total_token_count'];
const countNames = [...inputNames, ...outputNames, ...totalNames];

/** Tokens under the names of OpenAI, Anthropic, camel case and Google; undefined = there are none. */
export function readUsage(usage: unknown, beside?: JsonObject): AgentUsage | undefined {
  if (!isObject(usage)) return undefined;
  const told = countNames.filter((name) => (own(usage, name) ?? undefined) !== undefined);
  if (told.length === 0) return undefined;
  const model = modelIn(usage) ?? modelIn(beside) ?? '';
  if (!told.every((name) => isCount(own(usage, name)))) return { ...implausible, model };
  let input = first(usage, inputNames);
  let output = first(usage, outputNames);
  const total = first(usage, totalNames);
  const thoughts = first(usage, ['thoughtsTokenCount', 'thoughts_token_count']) ?? 0;
  // Google counts thoughts beside the answer, all others within it.
  const isGoogle = 'promptTokenCount' in usage || 'prompt_token_count' in usage;
  if (isGoogle) output = (output ?? 0) + thoughts;
  // Anthropic counts what a cache did beside the input.
  const ofCache = first(usage, ['cache_read_input_tokens']) ?? 0;
  if (input !== undefined) input += ofCache + (first(usage, ['cache_creation_input_tokens']) ?? 0);
  if (input === undefined) input = Math.max(0, (total ?? 0) - (output ?? 0));
  // What thinks is not told apart by all, and is then in the total only.
  output = Math.max(output ?? 0, (total ?? 0) - input);
  return {
    inputTokens: input,
    outputTokens: output,
    cachedTokens:
      first(usage, ['cachedContentTokenCount', 'cached_content_token_count', 'cachedTokens']) ??
      detail(usage, ['prompt_tokens_details', 'input_tokens_details'], 'cached_tokens') ??
      ofCache,
    reasoningTokens:
      detail(usage, ['completion_tokens_details', 'output_tokens_details'], 'reasoning_tokens') ??
      thoughts,
    model,
  };
}

const implausible = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  cachedTokens: 0,
  reasoningTokens: 0,
  isImplausible: true,
});

const metadataNames = [
  'usage',
  'adk_usage_metadata',
  'kagent_usage_metadata',
  'usage_metadata',
  'usageMetadata',
  'token_usage',
  'tokenUsage',
];

/** Metadata are small; what is not, is not looked through. */
const namesMax = 1000;
const nameCharsMax = 64;

/**
 * What the `metadata` of a message or a task says, or `_meta` of a tool's result; an extension's is under a URI, or a name with a
 * prefix, that ends in `usage`.
 */
export function usageInMetadata(metadata: unknown): AgentUsage | undefined {
  if (!isObject(metadata)) return undefined;
  for (const name of metadataNames) {
    const usage = readUsage(own(metadata, name), metadata);
    if (usage !== undefined) return usage;
  }
  let looked = 0;
  for (const name in metadata) {
    if (++looked > namesMax) return undefined;
    if (!/[:/].*usage(?:_metadata|\/v?[0-9.]{1,20})?\/?$/i.test(name.slice(-nameCharsMax)))
      continue;
    const value = own(metadata, name);
    const usage = readUsage(value, metadata) ?? usageInBody(value);
    if (usage !== undefined) return usage;
  }
  return undefined;
}

/** What the body or an event of an agent says that speaks another protocol. */
export function usageInBody(body: unknown): AgentUsage | undefined {
  if (!isObject(body)) return undefined;
  const within = [body.response, body.message].filter(isObject);
  return [body, ...within].reduce<AgentUsage | undefined>(
    (found, one) => found ?? readUsage(one.usage ?? one.usageMetadata, one),
    undefined,
  );
}

/** The larger of each count: what is reported again, or in two halves, is counted once. */
export function highestUsage(one: AgentUsage | undefined, other: AgentUsage | undefined) {
  if (one === undefined || other === undefined) return one ?? other;
  if (one.isImplausible === true || other.isImplausible === true)
    return one.isImplausible === true ? other : one;
  return {
    inputTokens: Math.max(one.inputTokens, other.inputTokens),
    outputTokens: Math.max(one.outputTokens, other.outputTokens),
    cachedTokens: Math.max(one.cachedTokens, other.cachedTokens),
    reasoningTokens: Math.max(one.reasoningTokens, other.reasoningTokens),
    model: other.model === '' ? one.model : other.model,
  };
}

export function sumOfUsage(one: AgentUsage | undefined, other: AgentUsage | undefined) {
  if (one === undefined || other === undefined) return one ?? other;
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    cachedTokens: one.cachedTokens + other.cachedTokens,
    reasoningTokens: one.reasoningTokens + other.reasoningTokens,
    model: other.model === '' ? one.model : other.model,
    ...((one.isImplausible === true || other.isImplausible === true) && { isImplausible: true }),
  };
}

/** By how much `now` is more than what was counted before. */
export function increaseOf(now: AgentUsage, before: AgentUsage | undefined): AgentUsage {
  const more = (count: Exclude<keyof AgentUsage, 'model' | 'isImplausible'>) =>
    Math.max(0, now[count] - (before?.[count] ?? 0));
  return {
    inputTokens: more('inputTokens'),
    outputTokens: more('outputTokens'),
    cachedTokens: more('cachedTokens'),
    reasoningTokens: more('reasoningTokens'),
    model: now.model,
    ...(now.isImplausible === true && { isImplausible: true }),
  };
}

function first(object: JsonObject, names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = own(object, name);
    if (isCount(value)) return value;
  }
  return undefined;
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= countMax;
}

/** Of a task all its calls together; sums of a few are exact. */
const countMax = 1e12;

function own(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function detail(usage: JsonObject, places: readonly string[], name: string): number | undefined {
  for (const place of places) {
    const details = usage[place];
    const value = isObject(details) ? first(details, [name]) : undefined;
    if (value !== undefined) return value;
  }
  return undefined;
}

const modelLengthMax = 256;

function modelIn(object: JsonObject | undefined): string | undefined {
  if (object === undefined) return undefined;
  const model = object.model ?? object.model_name ?? object.modelVersion ?? object.model_version;
  return typeof model === 'string' && model !== '' ? model.slice(0, modelLengthMax) : undefined;
}
