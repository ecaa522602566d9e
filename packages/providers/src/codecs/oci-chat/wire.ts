/**
 * Words of OCI's generative AI chat that more than one file here needs. One
 * address takes two formats: `GENERIC` for most models, `COHERE` for Cohere's.
 * https://docs.oracle.com/en-us/iaas/api/#/EN/generative-ai-inference/latest/ChatResult/Chat
 */
import { createHash } from 'node:crypto';
import type { ChatUsage, FinishReason, JsonObject } from '@sluice/contracts';
import { countOf, objectOf, tellsAny } from '../../json/json-access.ts';

export const formatName = 'oci-chat';

const unified = new Map<string, FinishReason>(
  Object.entries({
    stop: 'stop',
    complete: 'stop',
    length: 'length',
    max_tokens: 'length',
    error_limit: 'length',
    tool_calls: 'tool-calls',
    tool_call: 'tool-calls',
    content_filter: 'content-filter',
    error_toxic: 'content-filter',
  }),
);

export function decodeFinishReason(raw: string): FinishReason {
  return unified.get(raw.toLowerCase()) ?? 'other';
}

/** Usage that a reply tells; undefined where it counts neither what went in nor what came out. */
export function usageOf(told: JsonObject | undefined): ChatUsage | undefined {
  return told !== undefined && tellsAny(told, counts) ? decodeUsage(told) : undefined;
}

const counts = ['promptTokens', 'completionTokens'] as const;

export function decodeUsage(usage: JsonObject): ChatUsage {
  const input = objectOf(usage.promptTokensDetails);
  const output = objectOf(usage.completionTokensDetails);
  return {
    inputTokens: countOf(usage.promptTokens),
    outputTokens: countOf(usage.completionTokens),
    cacheReadTokens: countOf(input?.cachedTokens),
    cacheWriteTokens: 0,
    cacheWrite1hTokens: 0,
    reasoningTokens: countOf(output?.reasoningTokens),
    inputAudioTokens: countOf(input?.audioTokens),
    outputAudioTokens: countOf(output?.audioTokens),
  };
}

/** Cohere's calls have no id here, and every caller needs one to answer them by. */
export function callId(name: string, args: string, index: number): string {
  const hash = createHash('sha256').update(`${index}:${name}:${args}`).digest('hex');
  return `call_${hash.slice(0, 16)}`;
}
