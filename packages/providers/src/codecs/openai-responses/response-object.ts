import type { ChatUsage, FinishReason, JsonObject, JsonValue } from '@sluice/contracts';
import { arrayOf, objectOf } from '../../json/json-access.ts';
import type { ReplyOptions } from '../chat-codec.ts';
import { ownAnswerId } from '../own-answer-id.ts';
import { encodeFinish, encodeUsage } from './wire.ts';

/** What a response is known by, from its first event to its last. */
export interface ResponseHead {
  id: string;
  model: string;
  createdSeconds: number;
  serviceTier: string | undefined;
}

export function headOf(
  reply: { id?: string; model?: string; createdSeconds?: number; serviceTier?: string },
  options: ReplyOptions,
): ResponseHead {
  const { provider, nowMs, requestedModel } = options;
  const id = reply.id ?? `${provider}_${ownAnswerId(options)}`;
  return {
    id: id.startsWith('resp_') ? id : `resp_${id.slice(0, upstreamIdMax)}`,
    model: reply.model ?? requestedModel ?? '',
    createdSeconds: reply.createdSeconds ?? Math.floor(nowMs / 1000),
    serviceTier: reply.serviceTier,
  };
}

/** The format's own provider refuses ids of more than 64 characters, and a caller may take them there. */
const upstreamIdMax = 48;

/** An item's id: the response's own, and the item's place in it. */
export function itemId(
  prefix: 'msg' | 'rs' | 'fc' | 'ig',
  responseId: string,
  index: number,
): string {
  return `${prefix}_${responseId.slice('resp_'.length)}_${index}`;
}

/** Whether an item's id was made here: the provider's own do not end in a place. */
export function isItemOfOurs(id: string | undefined): boolean {
  return id !== undefined && /^[a-z]+_.*_\d+$/.test(id);
}

/** Whether an id is that of a reasoning item. */
export function isThoughtId(id: string): boolean {
  return id.startsWith('rs_');
}

export interface ResponseState {
  status: string;
  reason?: string;
  output: JsonValue[];
  usage?: ChatUsage;
  error?: JsonObject;
}

export function endState(
  finish: FinishReason,
  output: JsonValue[],
  usage: ChatUsage | undefined,
): ResponseState {
  return { ...encodeFinish(finish), output, ...(usage === undefined ? {} : { usage }) };
}

/** A whole response. It repeats the request, with the schema's defaults for what was not said. */
export function responseObject(
  head: ResponseHead,
  state: ResponseState,
  { provider, nowMs, request }: ReplyOptions,
): JsonObject {
  const { status, reason, output, usage, error = null } = state;
  const nowSeconds = Math.max(head.createdSeconds, Math.floor(nowMs / 1000));
  return {
    id: head.id,
    object: 'response',
    created_at: head.createdSeconds,
    completed_at: status === 'completed' ? nowSeconds : null,
    status,
    background: false,
    error,
    incomplete_details: reason === undefined ? null : { reason },
    model: head.model,
    output,
    usage: usage === undefined ? null : encodeUsage(usage),
    ...echo(request),
    // The schema wants a tier named, also where a provider has but one.
    service_tier: head.serviceTier ?? 'default',
    provider,
  };
}

const defaults: JsonObject = {
  frequency_penalty: 0,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: 0,
  prompt_cache_key: null,
  safety_identifier: null,
  temperature: 1,
  tool_choice: 'auto',
  top_logprobs: 0,
  top_p: 1,
  user: null,
};

function echo(request: JsonObject): JsonObject {
  const repeated: JsonObject = {};
  for (const key in defaults) repeated[key] = request[key] ?? (defaults[key] as JsonValue);
  const text = objectOf(request.text);
  return {
    ...repeated,
    // Whatever was asked: this response is not kept, and its input was not cut.
    previous_response_id: null,
    store: false,
    truncation: 'disabled',
    reasoning: { effort: null, summary: null, ...objectOf(request.reasoning) },
    text: { ...text, format: text?.format ?? { type: 'text' } },
    tools: (arrayOf(request.tools) ?? []).map(completeTool),
  };
}

/** Tools have to name these, if only to say that nothing was said. */
function completeTool(value: JsonValue): JsonValue {
  const tool = objectOf(value);
  if (tool?.type !== 'function') return value;
  return { description: null, parameters: null, strict: null, ...tool };
}
