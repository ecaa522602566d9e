/**
 * Tokens as tools and agents tell them: neither MCP nor A2A says how, so the
 * usual spellings are read. Whoever answers may write anything here; what is no
 * count, or more than a call can come to, is not believed, and never fails.
 */
export interface ToldTokens {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Something was told that cannot be true. */
  readonly isImplausible?: boolean;
}

/** More than any call uses; what says so is not believed. */
export const toldTokensMax = 10_000_000;

/** Spellings of OpenAI, of Anthropic, of camel case, and of Google (ADK, kagent), in this order. */
const spellings = [
  ['prompt_tokens', 'completion_tokens', 'total_tokens'],
  ['input_tokens', 'output_tokens', 'total_tokens'],
  ['inputTokens', 'outputTokens', 'totalTokens'],
  ['promptTokens', 'completionTokens', 'totalTokens'],
  ['promptTokenCount', 'candidatesTokenCount', 'totalTokenCount'],
] as const;

/** @returns undefined where nothing of the kind is told */
export function readToldTokens(value: unknown): ToldTokens | undefined {
  if (!isObject(value)) return undefined;
  for (const [input, output, total] of spellings) {
    const told = [own(value, input), own(value, output), own(value, total)] as const;
    if (told[0] === undefined && told[1] === undefined && told[2] === undefined) continue;
    const [inputTokens, outputTokens, all] = told.map(countOf) as [Count, Count, Count];
    if (inputTokens === null || outputTokens === null || all === null) return implausible;
    // What thinks is not told apart by all, and is then in the total only.
    const rest = all === undefined ? 0 : all - (inputTokens ?? 0) - (outputTokens ?? 0);
    return {
      inputTokens: inputTokens ?? 0,
      outputTokens: (outputTokens ?? 0) + Math.max(0, rest),
    };
  }
  return undefined;
}

/** What a tool's result tells of itself: in `_meta` under `usage` or a key that ends in it, else in `structuredContent.usage`. */
export function usageInToolResult(result: unknown): ToldTokens | undefined {
  if (!isObject(result)) return undefined;
  return usageInMetadata(own(result, '_meta')) ?? usageIn(own(result, 'structuredContent'));
}

/** `usage`, those of frameworks, or an extension's, whose key is a URI that ends in it. */
export function usageInMetadata(metadata: unknown): ToldTokens | undefined {
  const plain = usageIn(metadata);
  if (plain !== undefined || !isObject(metadata)) return plain;
  let looked = 0;
  for (const key in metadata) {
    if (++looked > keysMax) return undefined;
    if (!/usage(?:_metadata)?$/i.test(key.slice(-keyCharsMax))) continue;
    const told = readToldTokens(own(metadata, key));
    if (told !== undefined) return told;
  }
  return undefined;
}

function usageIn(holder: unknown): ToldTokens | undefined {
  return isObject(holder) ? readToldTokens(own(holder, 'usage')) : undefined;
}

/** Metadata are small; what is not, is not looked through. */
const keysMax = 1000;
const keyCharsMax = 32;

/** Undefined = not told, null = no count. */
type Count = number | undefined | null;

function countOf(value: unknown): Count {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'number' || !Number.isInteger(value)) return null;
  return value < 0 || value > toldTokensMax ? null : value;
}

const implausible: ToldTokens = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  isImplausible: true,
});

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(value: Readonly<Record<string, unknown>>, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
