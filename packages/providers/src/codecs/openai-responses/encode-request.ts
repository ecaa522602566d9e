import type { ChatRequest, JsonObject, ResponseFormat } from '@sluice/contracts';
import type { CallContext, EncodedRequest } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { compact } from '../../json/json-access.ts';
import { encodeEffort, thinksBetweenToolsOnly } from '../openai-chat/encode-request.ts';
import { encodeInput } from './encode-items.ts';
import { encodeTools } from './encode-tools.ts';
import { formatName } from './wire.ts';

/** Fields that mean the same in OpenAI's two formats. */
const shared = new Set([
  'metadata',
  'moderation',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'safety_identifier',
]);

const encrypted = 'reasoning.encrypted_content';
const logprobs = 'message.output_text.logprobs';

/** Model → wire. Nothing is kept at the provider: what it must remember travels with the caller. */
export function encodeRequest(
  request: ChatRequest,
  _context: CallContext,
): EncodedRequest & { body: JsonObject } {
  if ((request.choices ?? 1) > 1)
    throw invalidField('n', 'must be 1: this provider gives one answer per request');
  const dropped = droppedFields(request);
  const { instructions, input } = encodeInput(request.messages, dropped);
  const { verbosity, ...fields } = sharedFields(request, dropped);
  const text = compact({ format: encodeFormat(request.responseFormat), verbosity });
  const reasoning = encodeReasoning(request);
  const include = included(request, reasoning, input);
  const isOpenAi = isKin(request.extensions.format);
  const body = compact<Record<string, unknown>>({
    model: request.model,
    instructions,
    input,
    stream: request.stream || undefined,
    ...encodeTools(request, dropped),
    max_output_tokens: request.outputTokensMax,
    temperature: request.temperature,
    top_p: request.topP,
    top_logprobs: request.topLogprobs,
    user: request.user,
    service_tier: isOpenAi ? request.serviceTier : undefined,
    text: Object.keys(text).length === 0 ? undefined : text,
    reasoning,
    include: include.length === 0 ? undefined : include,
    ...fields,
    store: false,
  });
  if (!isOpenAi && request.serviceTier !== undefined) dropped.push('service_tier');
  return { body: body as JsonObject, dropped };
}

function isKin(format: string): boolean {
  return format === formatName || format === 'openai-chat';
}

function droppedFields(request: ChatRequest): string[] {
  const candidates: [string, unknown][] = [
    ['frequency_penalty', request.frequencyPenalty],
    ['presence_penalty', request.presencePenalty],
    ['logit_bias', request.logitBias],
    ['seed', request.seed],
    ['thinking', thinksBetweenToolsOnly(request) || undefined],
    ['stop', request.stop],
    ['top_k', request.topK],
    ['cache_control', request.cacheControl],
  ];
  return candidates.filter(([, value]) => value !== undefined).map(([name]) => name);
}

function sharedFields(request: ChatRequest, dropped: string[]): JsonObject {
  const { format, fields } = request.extensions;
  const result: JsonObject = {};
  for (const key in fields) {
    const value = fields[key];
    const isKnown = format === formatName || shared.has(key) || key === 'verbosity';
    if (value !== undefined && isKin(format) && isKnown) result[key] = value;
    else dropped.push(key);
  }
  return result;
}

/** A summary is asked for only where thoughts are: some accounts may not have it. */
function encodeReasoning({ reasoning }: ChatRequest): JsonObject | undefined {
  const effort = encodeEffort(reasoning);
  const shows =
    (reasoning?.mode === 'enabled' || reasoning?.mode === 'adaptive') &&
    reasoning.display !== 'omitted';
  if (effort === undefined && !shows) return undefined;
  return compact({ effort, summary: shows ? 'auto' : undefined }) as JsonObject;
}

/** Models that do not reason refuse to be asked for encrypted reasoning, so it takes a sign that this one does. */
function included(
  request: ChatRequest,
  reasoning: JsonObject | undefined,
  input: JsonObject[],
): string[] {
  const reasons =
    (reasoning !== undefined && reasoning.effort !== 'none') ||
    input.some((item) => item.type === 'reasoning');
  const wanted = [reasons ? encrypted : '', request.logprobs === true ? logprobs : ''];
  return wanted.filter((entry) => entry !== '');
}

function encodeFormat(format: ResponseFormat | undefined): JsonObject | undefined {
  if (format === undefined) return undefined;
  if (format.type === 'json') return { type: 'json_object' };
  if (format.type === 'text') return { type: 'text' };
  const { name = 'response', description, schema, strict } = format;
  return compact({ type: 'json_schema', name, description, schema, strict }) as JsonObject;
}
