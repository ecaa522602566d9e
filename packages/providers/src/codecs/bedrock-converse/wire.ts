/**
 * Words of Bedrock's Converse format that more than one file here needs.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
import type { CacheControl, ChatUsage, FinishReason, JsonObject } from '@sluice/contracts';
import { arrayOf, countOf, objectOf, stringOf, tellsAny } from '../../json/json-access.ts';

export const formatName = 'bedrock-converse';

/** The event that stands for an exception frame, once the stream is server-sent events. */
export const exception = 'exception';

const unified = new Map<string, FinishReason>(
  Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop',
    malformed_model_output: 'stop',
    malformed_tool_use: 'stop',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    tool_use: 'tool-calls',
    guardrail_intervened: 'content-filter',
    content_filtered: 'content-filter',
  }),
);

export function decodeStopReason(raw: string): FinishReason {
  return unified.get(raw) ?? 'other';
}

const wire: Record<FinishReason, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'content_filtered',
  other: 'end_turn',
};

export function encodeStopReason(reason: FinishReason, stopSequence: string | undefined): string {
  return stopSequence === undefined ? wire[reason] : 'stop_sequence';
}

/** Usage that a reply tells; undefined where it counts neither what went in nor what came out. */
export function usageOf(told: JsonObject | undefined): ChatUsage | undefined {
  return told !== undefined && tellsAny(told, counts) ? decodeUsage(told) : undefined;
}

const counts = [
  'inputTokens',
  'outputTokens',
  'cacheReadInputTokens',
  'cacheWriteInputTokens',
] as const;

/** The wire counts cached input apart from `inputTokens`; our input includes it. */
export function decodeUsage(usage: JsonObject): ChatUsage {
  const read = countOf(usage.cacheReadInputTokens);
  const written = countOf(usage.cacheWriteInputTokens);
  let hour = 0;
  for (const value of arrayOf(usage.cacheDetails) ?? []) {
    const detail = objectOf(value);
    if (detail?.ttl === '1h') hour += countOf(detail.inputTokens);
  }
  return {
    inputTokens: countOf(usage.inputTokens) + read + written,
    outputTokens: countOf(usage.outputTokens),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    cacheWrite1hTokens: Math.min(hour, written),
    reasoningTokens: 0,
    inputAudioTokens: 0,
    outputAudioTokens: 0,
  };
}

export function encodeUsage(usage: ChatUsage): JsonObject {
  const { cacheReadTokens, cacheWriteTokens, cacheWrite1hTokens } = usage;
  const uncached = Math.max(0, usage.inputTokens - cacheReadTokens - cacheWriteTokens);
  const body: JsonObject = {
    inputTokens: uncached,
    outputTokens: usage.outputTokens,
    totalTokens: usage.inputTokens + usage.outputTokens,
  };
  if (cacheReadTokens > 0) body.cacheReadInputTokens = cacheReadTokens;
  if (cacheWriteTokens > 0) {
    body.cacheWriteInputTokens = cacheWriteTokens;
    const details = [
      { ttl: '1h', inputTokens: cacheWrite1hTokens },
      { ttl: '5m', inputTokens: cacheWriteTokens - cacheWrite1hTokens },
    ];
    body.cacheDetails = details.filter((detail) => detail.inputTokens > 0);
  }
  return body;
}

export function encodeCachePoint(control: CacheControl): JsonObject {
  const point: JsonObject = { type: 'default' };
  if (control.ttl !== undefined) point.ttl = control.ttl;
  return { cachePoint: point };
}

/** Undefined when the block is not a cache point. */
export function decodeCachePoint(block: JsonObject): CacheControl | undefined {
  const point = objectOf(block.cachePoint);
  if (point === undefined) return undefined;
  const ttl = stringOf(point.ttl);
  return ttl === undefined ? { type: 'ephemeral' } : { type: 'ephemeral', ttl };
}
