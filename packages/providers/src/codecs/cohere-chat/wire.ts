/**
 * Words of Cohere's chat (API v2) that more than one file here needs.
 * https://docs.cohere.com/reference/chat
 */
import type { ChatUsage, FinishReason, JsonObject } from '@sluice/contracts';
import {
  arrayOf,
  countOf,
  numberOf,
  objectOf,
  stringOf,
  tellsAny,
} from '../../json/json-access.ts';

export const formatName = 'cohere-chat';

const unified = new Map<string, FinishReason>(
  Object.entries({
    COMPLETE: 'stop',
    STOP_SEQUENCE: 'stop',
    MAX_TOKENS: 'length',
    TOOL_CALL: 'tool-calls',
    ERROR_TOXIC: 'content-filter',
    ERROR_LIMIT: 'length',
  }),
);

/** `ERROR` and `TIMEOUT` are neither a stop nor a limit. */
export function decodeFinishReason(raw: string): FinishReason {
  return unified.get(raw) ?? 'other';
}

const wire: Record<FinishReason, string> = {
  stop: 'COMPLETE',
  length: 'MAX_TOKENS',
  'tool-calls': 'TOOL_CALL',
  'content-filter': 'ERROR',
  other: 'COMPLETE',
};

export function encodeFinishReason(reason: FinishReason, stopSequence?: string): string {
  return stopSequence === undefined ? wire[reason] : 'STOP_SEQUENCE';
}

/** Usage that a reply tells; undefined where it counts neither what went in nor what came out. */
export function usageOf(told: JsonObject | undefined): ChatUsage | undefined {
  return told !== undefined &&
    (countsIn(told.tokens) !== undefined || countsIn(told.billed_units) !== undefined)
    ? decodeUsage(told)
    : undefined;
}

/** Counts of tokens in `tokens` or `billed_units`; undefined where none is told. */
export function countsIn(value: unknown): JsonObject | undefined {
  const counts = objectOf(value);
  return counts !== undefined && tellsAny(counts, ['input_tokens', 'output_tokens'])
    ? counts
    : undefined;
}

/** `tokens` are those the model saw and made; `billed_units` leave out what is not charged. */
export function decodeUsage(usage: JsonObject): ChatUsage {
  const counts = countsIn(usage.tokens) ?? countsIn(usage.billed_units);
  return {
    inputTokens: countOf(counts?.input_tokens),
    outputTokens: countOf(counts?.output_tokens),
    cacheReadTokens: countOf(usage.cached_tokens),
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens: 0,
    inputAudioTokens: 0,
    outputAudioTokens: 0,
  };
}

export function encodeUsage(usage: ChatUsage): JsonObject {
  const counts = { input_tokens: usage.inputTokens, output_tokens: usage.outputTokens };
  return {
    billed_units: counts,
    tokens: { ...counts },
    cached_tokens: usage.cacheReadTokens,
  };
}

/**
 * The wire gives a piece of text with the probability of each of its tokens,
 * but not the tokens' own texts: the piece is told as one token, as likely as
 * all of its tokens together.
 */
export function decodeLogprobs(items: unknown[]): JsonObject {
  const content = items.map((value) => {
    const item = objectOf(value) ?? {};
    const sum = (arrayOf(item.logprobs) ?? []).reduce<number>(
      (total, logprob) => total + (numberOf(logprob) ?? 0),
      0,
    );
    return { token: stringOf(item.text) ?? '', logprob: sum, bytes: null, top_logprobs: [] };
  });
  return { content };
}

export function encodeLogprobs(logprobs: JsonObject): JsonObject[] {
  return (arrayOf(logprobs.content) ?? []).map((value) => {
    const entry = objectOf(value) ?? {};
    return {
      text: stringOf(entry.token) ?? '',
      token_ids: [],
      logprobs: [numberOf(entry.logprob) ?? 0],
    };
  });
}
