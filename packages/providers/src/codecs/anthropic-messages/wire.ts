/**
 * Words of Anthropic's messages format that more than one file here needs.
 * https://docs.claude.com/en/api/messages
 */
import type { ChatUsage, FinishReason, JsonObject, JsonValue } from '@sluice/contracts';
import { countOf, objectOf, stringOf, tellsAny } from '../../json/json-access.ts';

export const formatName = 'anthropic-messages';

/** Of the blocks of an answer. */
export function isThought({ type }: JsonObject): boolean {
  return type === 'thinking' || type === 'redacted_thinking';
}

/** OpenAI has a list under the name of an object of this format, which means something else. */
export function meansAnother(key: string, value: JsonValue | undefined): boolean {
  return key === 'context_management' && objectOf(value) === undefined;
}

const unified = new Map<string, FinishReason>(
  Object.entries({
    end_turn: 'stop',
    stop_sequence: 'stop',
    pause_turn: 'stop',
    max_tokens: 'length',
    model_context_window_exceeded: 'length',
    tool_use: 'tool-calls',
    refusal: 'content-filter',
    content_filtered: 'content-filter',
    guardrail_intervened: 'content-filter',
  }),
);

export function decodeStopReason(raw: string): FinishReason {
  return unified.get(raw) ?? 'other';
}

const wire: Record<FinishReason, string> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
  other: 'end_turn',
};

export function encodeStopReason(reason: FinishReason): string {
  return wire[reason];
}

/** Usage that a reply tells; undefined where it counts neither what went in nor what came out. */
export function usageOf(told: JsonObject | undefined): ChatUsage | undefined {
  return told !== undefined && tellsAny(told, counts) ? decodeUsage(told) : undefined;
}

const counts = [
  'input_tokens',
  'output_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
] as const;

/** The wire counts cached input apart from `input_tokens`; our input includes it. */
export function decodeUsage(usage: JsonObject): ChatUsage {
  const read = countOf(usage.cache_read_input_tokens);
  const creation = objectOf(usage.cache_creation);
  const hour = countOf(creation?.ephemeral_1h_input_tokens);
  // Some vendors tell the parts alone.
  const parts = hour + countOf(creation?.ephemeral_5m_input_tokens);
  const written = countOf(usage.cache_creation_input_tokens ?? parts);
  return {
    inputTokens: countOf(usage.input_tokens) + read + written,
    outputTokens: countOf(usage.output_tokens),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    cacheWrite1hTokens: Math.min(hour, written),
    reasoningTokens: countOf(objectOf(usage.output_tokens_details)?.thinking_tokens),
    inputAudioTokens: 0,
    outputAudioTokens: 0,
  };
}

/**
 * `message_delta` repeats what `message_start` said, in newer versions whole
 * and in older ones the output alone: absent fields keep their first value, and
 * so do counts where compatible servers fill in zeros for what went in or came out.
 */
export function mergeUsage(first: JsonObject, later: JsonObject): JsonObject {
  const merged: JsonObject = { ...first };
  const tellsInput = decodeUsage(later).inputTokens !== 0;
  for (const key in later) {
    const value = later[key];
    if (value === null || value === undefined) continue;
    const isFilledIn = inputFields.has(key) ? !tellsInput : key === 'output_tokens' && value === 0;
    if (!isFilledIn || merged[key] === undefined) merged[key] = value;
  }
  return merged;
}

const inputFields: ReadonlySet<string> = new Set([
  'input_tokens',
  'cache_read_input_tokens',
  'cache_creation_input_tokens',
  'cache_creation',
]);

/** Before its end a message counts a token or so of what comes out. */
export function tellsOutput(usage: unknown): boolean {
  return (objectOf(usage)?.output_tokens ?? null) !== null;
}

export function encodeUsage(usage: ChatUsage, serviceTier?: string): JsonObject {
  // Some vendors count more as cached than they count at all; here all is the sum.
  const written = Math.min(usage.cacheWriteTokens, usage.inputTokens);
  const read = Math.min(usage.cacheReadTokens, usage.inputTokens - written);
  const body: JsonObject = {
    input_tokens: usage.inputTokens - written - read,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: usage.outputTokens,
  };
  if (usage.cacheWriteTokens > 0)
    body.cache_creation = {
      ephemeral_5m_input_tokens: usage.cacheWriteTokens - usage.cacheWrite1hTokens,
      ephemeral_1h_input_tokens: usage.cacheWrite1hTokens,
    };
  if (usage.reasoningTokens > 0)
    body.output_tokens_details = { thinking_tokens: usage.reasoningTokens };
  const tier = serviceTiers.get(serviceTier ?? '');
  if (tier !== undefined) body.service_tier = tier;
  return body;
}

/** Those the format knows, by the names of the chat model. */
const serviceTiers = new Map(
  Object.entries({ default: 'standard', priority: 'priority', batch: 'batch' }),
);

/** What OpenAI calls `default` is `standard` here. */
export function decodeServiceTier(usage: JsonObject): string | undefined {
  return usage.service_tier === 'standard' ? 'default' : stringOf(usage.service_tier);
}
