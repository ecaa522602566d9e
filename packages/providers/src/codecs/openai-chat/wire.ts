/**
 * Words of OpenAI's chat completions format that more than one file here needs.
 * https://platform.openai.com/docs/api-reference/chat
 */
import type { ChatUsage, FinishReason, JsonObject } from '@sluice/contracts';
import { furtherKinds } from '../../bills/further-kinds.ts';
import { countOf, objectOf } from '../../json/json-access.ts';

export const formatName = 'openai-chat';

/** OpenAI's words, then those of compatible providers. */
const unified = new Map<string, FinishReason>(
  Object.entries({
    stop: 'stop',
    length: 'length',
    tool_calls: 'tool-calls',
    function_call: 'tool-calls',
    content_filter: 'content-filter',
    eos: 'stop',
    eos_token: 'stop',
    end_turn: 'stop',
    stop_sequence: 'stop',
    max_tokens: 'length',
    model_length: 'length',
    tool_use: 'tool-calls',
    sensitive: 'content-filter',
    safety: 'content-filter',
    refusal: 'content-filter',
    recitation: 'content-filter',
  }),
);

export function decodeFinishReason(raw: string): FinishReason {
  return unified.get(raw) ?? unified.get(raw.toLowerCase()) ?? 'other';
}

const wire: Record<FinishReason, string> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  'content-filter': 'content_filter',
  other: 'stop',
};

export function encodeFinishReason(reason: FinishReason): string {
  return wire[reason];
}

/** Usage that a reply tells; undefined where it counts neither what went in nor what came out: a total does not say which. */
export function usageOf(told: JsonObject | undefined): ChatUsage | undefined {
  return told !== undefined && (tellsInput(told) || tellsOutput(told))
    ? decodeUsage(told)
    : undefined;
}

/** The same of an endpoint that only takes in: there a total does say. */
export function inputUsageOf(told: JsonObject | undefined): ChatUsage | undefined {
  if (told === undefined || tellsInput(told)) return usageOf(told);
  return usageOf({ ...told, prompt_tokens: told.total_tokens ?? null });
}

/** A stream's usage so far, with what an event tells of it: what that leaves out stays as it was told before. */
export function joinedUsage(former: JsonObject | undefined, told: JsonObject): JsonObject {
  if (former === undefined || (tellsInput(told) && tellsOutput(told))) return told;
  const joined = { ...former };
  for (const [name, value] of Object.entries(told)) if (value !== null) joined[name] = value;
  return joined;
}

function tellsInput({ prompt_tokens, input_tokens }: JsonObject): boolean {
  return (prompt_tokens ?? input_tokens ?? null) !== null;
}

function tellsOutput({ completion_tokens, output_tokens }: JsonObject): boolean {
  return (completion_tokens ?? output_tokens ?? null) !== null;
}

/** Input already includes cached tokens here. Further spellings are those of compatible providers. */
export function decodeUsage(usage: JsonObject): ChatUsage {
  const input = objectOf(usage.prompt_tokens_details) ?? objectOf(usage.input_tokens_details);
  const output = objectOf(usage.completion_tokens_details) ?? objectOf(usage.output_tokens_details);
  // DashScope tells it within the details.
  const written = objectOf(usage.cache_creation) ?? objectOf(input?.cache_creation);
  const inputTokens =
    countOf(usage.prompt_tokens ?? usage.input_tokens) +
    // What connectors of Mistral's read for the answer is counted beside the prompt.
    countOf(usage.connector_tokens);
  const reasoningTokens = countOf(output?.reasoning_tokens ?? usage.reasoning_tokens);
  return {
    inputTokens,
    outputTokens: outputTokens(usage, inputTokens, reasoningTokens),
    cacheReadTokens: countOf(
      input?.cached_tokens ??
        usage.cache_read_input_tokens ??
        usage.prompt_cache_hit_tokens ??
        usage.cached_tokens,
    ),
    cacheWriteTokens: countOf(
      usage.cache_creation_input_tokens ??
        input?.cache_write_tokens ??
        input?.cache_creation_input_tokens,
    ),
    cacheWrite1hTokens: countOf(written?.ephemeral_1h_input_tokens),
    reasoningTokens,
    inputAudioTokens: countOf(input?.audio_tokens),
    outputAudioTokens: countOf(output?.audio_tokens),
    ...furtherKinds({
      inputImageTokens: countOf(input?.image_tokens),
      outputImageTokens: countOf(output?.image_tokens),
      inputVideoTokens: countOf(input?.video_tokens),
      cacheReadAudioTokens: countOf(objectOf(input?.cached_tokens_details)?.audio_tokens),
      cacheReadImageTokens: countOf(objectOf(input?.cached_tokens_details)?.image_tokens),
      citationTokens: countOf(usage.citation_tokens),
    }),
  };
}

/**
 * xAI counts reasoning beside the completion: its total tells, since only then it
 * is the sum of all three. Perplexity does, too, where it tells what it quoted:
 * its total is of prompt and completion alone.
 * https://docs.perplexity.ai/docs/sonar/models/sonar-deep-research
 */
function outputTokens(usage: JsonObject, input: number, reasoning: number): number {
  const completion = countOf(usage.completion_tokens ?? usage.output_tokens);
  const apart =
    reasoning > 0 &&
    (countOf(usage.citation_tokens) > 0 ||
      countOf(usage.total_tokens) === input + completion + reasoning);
  return apart ? completion + reasoning : completion;
}

export function encodeUsage(usage: ChatUsage): JsonObject {
  const input: JsonObject = { cached_tokens: usage.cacheReadTokens };
  if (usage.inputAudioTokens > 0) input.audio_tokens = usage.inputAudioTokens;
  const output: JsonObject = { reasoning_tokens: usage.reasoningTokens };
  if (usage.outputAudioTokens > 0) output.audio_tokens = usage.outputAudioTokens;
  const body: JsonObject = {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.inputTokens + usage.outputTokens,
    prompt_tokens_details: input,
    completion_tokens_details: output,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
  };
  if (usage.cacheWriteTokens > 0) {
    body.cache_creation = {
      ephemeral_5m_input_tokens: usage.cacheWriteTokens - usage.cacheWrite1hTokens,
      ephemeral_1h_input_tokens: usage.cacheWrite1hTokens,
    };
  }
  return body;
}
