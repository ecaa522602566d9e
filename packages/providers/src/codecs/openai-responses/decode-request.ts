import type {
  ChatMessage,
  ChatRequest,
  JsonObject,
  Reasoning,
  ResponseFormat,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import {
  arrayOf,
  booleanOf,
  compact,
  numberField,
  objectOf,
  stringOf,
} from '../../json/json-access.ts';
import { readReasoning } from '../read-reasoning.ts';
import { decodeInput } from './decode-items.ts';
import { decodeTools } from './decode-tools.ts';
import { notKept } from './not-kept.ts';
import { formatName } from './wire.ts';

/** Fields that the chat model has a name for, or that mean nothing to a provider that keeps nothing. */
const knownMembers = new Set(
  `model input instructions stream stream_options tools tool_choice parallel_tool_calls
  max_output_tokens temperature top_p top_k top_logprobs user service_tier text reasoning thinking
  frequency_penalty presence_penalty
  include store truncation background previous_response_id conversation prompt`.split(/\s+/),
);

/** What the provider of this format remembers from call to call. No other can. */
const remembered = ['previous_response_id', 'conversation', 'prompt'];

const logprobs = 'message.output_text.logprobs';

/** Wire → model. */
export function decodeRequest(body: JsonObject): { request: ChatRequest; dropped: string[] } {
  const dropped: string[] = [];
  const model = stringOf(body.model);
  if (model === undefined) throw invalidField('model', 'must be a string');
  refuseState(body);
  const fields: JsonObject = {};
  for (const key in body) {
    const value = body[key];
    if (!knownMembers.has(key) && value !== null && value !== undefined) fields[key] = value;
  }
  const text = objectOf(body.text);
  const verbosity = stringOf(text?.verbosity);
  if (verbosity !== undefined) fields.verbosity = verbosity;
  if (body.truncation === 'auto') dropped.push('truncation');
  const topLogprobs = numberField(body, 'top_logprobs');
  const wantsLogprobs = topLogprobs !== undefined || arrayOf(body.include)?.includes(logprobs);
  const request: ChatRequest = {
    model,
    messages: [...instructions(body), ...decodeInput(body.input, dropped)],
    stream: body.stream === true,
    extensions: { format: formatName, fields },
  };
  const rest = {
    includeUsage: true,
    ...decodeTools(body, dropped),
    parallelToolCalls: booleanOf(body.parallel_tool_calls),
    outputTokensMax: numberField(body, 'max_output_tokens'),
    temperature: numberField(body, 'temperature'),
    topP: numberField(body, 'top_p'),
    topK: numberField(body, 'top_k'),
    frequencyPenalty: numberField(body, 'frequency_penalty'),
    presencePenalty: numberField(body, 'presence_penalty'),
    logprobs: wantsLogprobs ? true : undefined,
    topLogprobs,
    user: stringOf(body.user),
    serviceTier: stringOf(body.service_tier),
    responseFormat: decodeFormat(objectOf(text?.format)),
    reasoning: decodeReasoning(body, dropped),
  };
  return { request: Object.assign(request, compact(rest)), dropped };
}

function refuseState(body: JsonObject): void {
  for (const field of remembered)
    if (body[field] != null)
      throw notKept(
        field,
        'refers to what only another provider may have: send the conversation in full',
      );
  if (body.background === true)
    throw invalidField('background', 'must be false: this provider answers at once or not at all');
}

function instructions(body: JsonObject): ChatMessage[] {
  const text = stringOf(body.instructions);
  if (text === undefined || text === '') return [];
  return [{ role: 'system', parts: [{ type: 'text', text }], path: 'instructions' }];
}

function decodeFormat(format: JsonObject | undefined): ResponseFormat | undefined {
  if (format?.type === 'text') return { type: 'text' };
  if (format?.type === 'json_object') return { type: 'json' };
  if (format?.type !== 'json_schema') return undefined;
  return {
    type: 'json-schema',
    schema: objectOf(format.schema) ?? {},
    ...compact({
      name: stringOf(format.name),
      description: stringOf(format.description),
      strict: booleanOf(format.strict),
    }),
  };
}

/**
 * `thinking` is not the format's own: callers may say more of it than an effort.
 * A summary that is asked for is a wish to see thoughts; each of its sizes is.
 */
function decodeReasoning(body: JsonObject, dropped: string[]): Reasoning | undefined {
  const {
    effort,
    summary,
    generate_summary: olderSummary,
    ...rest
  } = objectOf(body.reasoning) ?? {};
  for (const key in rest) if (rest[key] !== null) dropped.push(`reasoning.${key}`);
  const reasoning = readReasoning(objectOf(body.thinking), stringOf(effort));
  if (stringOf(summary ?? olderSummary) === undefined || reasoning?.display !== undefined)
    return reasoning;
  return { ...reasoning, display: 'summarized' };
}
