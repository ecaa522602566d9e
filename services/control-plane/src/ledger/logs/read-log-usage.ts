/** What the bodies of somebody's own log tell of a model and its tokens. */
export interface LogUsage {
  /** As it was asked for; as the answer names it where the request does not. */
  readonly model: string;
  readonly responseModel: string;
  /** Undefined = none are given. */
  readonly tokens: LogTokens | undefined;
}

interface LogTokens {
  /** With those of caches. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

type Body = Readonly<Record<string, unknown>>;

/** Reads `usage` as OpenAI writes it, in either of its formats, and as Anthropic does. */
export function readLogUsage(request: Body, response: Body): LogUsage {
  const responseModel = textOf(response.model);
  const asked = textOf(request.model);
  const { usage } = response;
  return {
    model: asked === '' ? responseModel : asked,
    responseModel,
    tokens: isObject(usage) ? tokensOf(usage) : undefined,
  };
}

function tokensOf(usage: Body): LogTokens | undefined {
  const input = countOf(usage.prompt_tokens) ?? countOf(usage.input_tokens);
  const output = countOf(usage.completion_tokens) ?? countOf(usage.output_tokens);
  if (input === undefined && output === undefined) return undefined;
  const read = countOf(usage.cache_read_input_tokens);
  const write = countOf(usage.cache_creation_input_tokens);
  // Anthropic counts those of its cache beside the input, all others among it.
  const beside = (read ?? 0) + (write ?? 0);
  return {
    inputTokens: (input ?? 0) + beside,
    outputTokens: output ?? 0,
    cacheReadTokens: read ?? cachedAmong(usage),
    cacheWriteTokens: write ?? 0,
  };
}

function cachedAmong(usage: Body): number {
  const details = usage.prompt_tokens_details ?? usage.input_tokens_details;
  return isObject(details) ? (countOf(details.cached_tokens) ?? 0) : 0;
}

/** Nobody's answer has as many. */
const countMax = 1e9;

function countOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= countMax
    ? value
    : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, 1024).toWellFormed() : '';
}

function isObject(value: unknown): value is Body {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
