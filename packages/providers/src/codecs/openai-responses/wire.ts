/**
 * Words of OpenAI's Responses format that more than one file here needs.
 * https://platform.openai.com/docs/api-reference/responses
 */
import type { ChatUsage, FinishReason, JsonObject } from '@sluice/contracts';
import { furtherKinds } from '../../bills/further-kinds.ts';
import { countOf, objectOf, stringOf, tellsAny } from '../../json/json-access.ts';

export const formatName = 'openai-responses';

/** Usage that a reply tells; undefined where it counts neither what went in nor what came out. */
export function usageOf(told: JsonObject | undefined): ChatUsage | undefined {
  return told !== undefined && tellsAny(told, counts) ? decodeUsage(told) : undefined;
}

const counts = ['input_tokens', 'output_tokens'] as const;

/** Input already includes cached tokens here. Perplexity's agents have Anthropic's words for them. */
export function decodeUsage(usage: JsonObject): ChatUsage {
  const input = objectOf(usage.input_tokens_details);
  const output = objectOf(usage.output_tokens_details);
  return {
    inputTokens: countOf(usage.input_tokens),
    outputTokens: countOf(usage.output_tokens),
    cacheReadTokens: countOf(input?.cached_tokens ?? input?.cache_read_input_tokens),
    cacheWriteTokens: countOf(input?.cache_write_tokens ?? input?.cache_creation_input_tokens),
    cacheWrite1hTokens: 0,
    reasoningTokens: countOf(output?.reasoning_tokens),
    inputAudioTokens: countOf(input?.audio_tokens),
    outputAudioTokens: countOf(output?.audio_tokens),
    ...furtherKinds({
      inputImageTokens: countOf(input?.image_tokens),
      outputImageTokens: countOf(output?.image_tokens),
    }),
  };
}

export function encodeUsage(usage: ChatUsage): JsonObject {
  return {
    input_tokens: usage.inputTokens,
    input_tokens_details: {
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    },
    output_tokens: usage.outputTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.inputTokens + usage.outputTokens,
  };
}

/** How a response ended, as the format says it: the reason where it is incomplete, else the status. */
export function rawFinishOf(response: JsonObject): string | undefined {
  return stringOf(objectOf(response.incomplete_details)?.reason) ?? stringOf(response.status);
}

export function decodeFinish(response: JsonObject, hasCalls: boolean): FinishReason {
  if (response.status === 'completed') return hasCalls ? 'tool-calls' : 'stop';
  if (response.status !== 'incomplete') return 'other';
  switch (objectOf(response.incomplete_details)?.reason) {
    case 'max_output_tokens':
      return 'length';
    case 'content_filter':
      return 'content-filter';
    default:
      return 'other';
  }
}

/** `reason` is set where the response is incomplete. */
export function encodeFinish(reason: FinishReason): { status: string; reason?: string } {
  if (reason === 'length') return { status: 'incomplete', reason: 'max_output_tokens' };
  if (reason === 'content-filter') return { status: 'incomplete', reason: 'content_filter' };
  return { status: 'completed' };
}
