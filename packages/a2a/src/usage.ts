import { isObject, type JsonObject } from './fold.ts';

/** Tokens as an agent reports them; input includes what was read from a cache. */
export interface AgentUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
  /** The model that is named beside them; empty = none is. */
  readonly model: string;
}

/** More than any task uses: a number beyond it is no count. */
const tokensMax = 1e12;

/** Tokens under the names of OpenAI, Anthropic, camel case and Google; undefined = there are none. */
export function readUsage(usage: unknown, beside?: JsonObject): AgentUsage | undefined {
  if (!isObject(usage)) return undefined;
  const isGoogle = 'promptTokenCount' in usage || 'prompt_token_count' in usage;
  let input = first(usage, [
    'prompt_tokens',
    'input_tokens',
    'inputTokens',
    'promptTokens',
    'promptTokenCount',
    'prompt_token_count',
  ]);
  let output = first(usage, [
    'completion_tokens',
    'output_tokens',
    'outputTokens',
    'completionTokens',
    'candidatesTokenCount',
    'candidates_token_count',
  ]);
  const total = first(usage, [
    'total_tokens',
    'totalTokens',
    'totalTokenCount',
    'total_token_count',
  ]);
  if (input === undefined && output === undefined && total === undefined) return undefined;
  const thoughts = first(usage, ['thoughtsTokenCount', 'thoughts_token_count']) ?? 0;
  // Google counts thoughts beside the answer, all others within it.
  if (isGoogle) output = (output ?? 0) + thoughts;
  // Anthropic counts what a cache did beside the input.
  const ofCache = first(usage, ['cache_read_input_tokens']) ?? 0;
  if (input !== undefined) input += ofCache + (first(usage, ['cache_creation_input_tokens']) ?? 0);
  if (input === undefined) input = Math.max(0, (total ?? 0) - (output ?? 0));
  output ??= Math.max(0, (total ?? 0) - input);
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
    model: modelIn(usage) ?? modelIn(beside) ?? '',
  };
}

const metadataNames = [
  'usage',
  'adk_usage_metadata',
  'kagent_usage_metadata',
  'usage_metadata',
  'usageMetadata',
  'token_usage',
  'tokenUsage',
];

/** What the `metadata` of a message or a task says; an extension's is under a URI that ends in `usage`. */
export function usageInMetadata(metadata: unknown): AgentUsage | undefined {
  if (!isObject(metadata)) return undefined;
  for (const name of metadataNames) {
    const usage = readUsage(metadata[name], metadata);
    if (usage !== undefined) return usage;
  }
  for (const name in metadata) {
    if (!/^[a-z][a-z0-9+.-]*:.*usage(?:\/v?[0-9.]+)?\/?$/i.test(name)) continue;
    const value = metadata[name];
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
  };
}

/** By how much `now` is more than what was counted before. */
export function increaseOf(now: AgentUsage, before: AgentUsage | undefined): AgentUsage {
  const more = (count: Exclude<keyof AgentUsage, 'model'>) =>
    Math.max(0, now[count] - (before?.[count] ?? 0));
  return {
    inputTokens: more('inputTokens'),
    outputTokens: more('outputTokens'),
    cachedTokens: more('cachedTokens'),
    reasoningTokens: more('reasoningTokens'),
    model: now.model,
  };
}

function first(object: JsonObject, names: readonly string[]): number | undefined {
  for (const name of names) {
    const value = object[name];
    if (typeof value === 'number' && value >= 0 && value <= tokensMax) return Math.round(value);
  }
  return undefined;
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
