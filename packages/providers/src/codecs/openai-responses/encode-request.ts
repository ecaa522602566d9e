import type { ChatRequest, JsonObject, ResponseFormat } from '@sluice/contracts';
import type { CallContext, EncodedRequest } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { compact } from '../../json/json-access.ts';
import type { ModelFacts } from '../../models/model-facts.ts';
import { fitCacheMarks } from '../fit-cache-marks.ts';
import {
  encodeEffort,
  encodeUser,
  factsOfAsked,
  isReasoned,
  thinksBetweenToolsOnly,
  withTakenSampling,
} from '../openai-abilities.ts';
import { cacheMarksOf } from '../openai-cache-marks.ts';
import { type EncodedInput, encodeInput } from './encode-items.ts';
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
  asked: ChatRequest,
  context: CallContext,
): EncodedRequest & { body: JsonObject } {
  if ((asked.choices ?? 1) > 1)
    throw invalidField('n', 'must be 1: this provider gives one answer per request');
  const dropped: string[] = [];
  const facts = factsOfAsked(asked, context);
  const effort = encodeEffort(asked.reasoning, facts, 'responses', dropped);
  const marks = cacheMarksOf(facts, context);
  const taken = withTakenSampling(asked, facts, effort, dropped);
  const request = fitCacheMarks(taken, marks.rules, dropped);
  dropped.push(...droppedFields(request));
  const { instructions, input } = withoutThoughts(
    encodeInput(request.messages, marks, dropped),
    facts,
    dropped,
  );
  const { verbosity, ...fields } = sharedFields(request, dropped);
  const text = compact({ format: encodeFormat(request.responseFormat), verbosity });
  const reasoning = encodeReasoning(request, facts, effort);
  const include = included(request, isReasoned(facts, effort) ?? isAsked(reasoning, input));
  const isOpenAi = isKin(request.extensions.format);
  const body = compact<Record<string, unknown>>({
    model: request.model,
    instructions,
    input,
    stream: request.stream || undefined,
    ...encodeTools(request, marks, dropped),
    max_output_tokens: outputTokensMax(request, dropped),
    temperature: request.temperature,
    top_p: request.topP,
    top_logprobs: request.topLogprobs,
    user: encodeUser(request.user),
    service_tier: isOpenAi ? request.serviceTier : undefined,
    text: Object.keys(text).length === 0 ? undefined : text,
    reasoning,
    include: include.length === 0 ? undefined : include,
    ...marks.write(request.cacheControl),
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

/** A model that does not reason refuses thoughts, also those of another model of its provider. */
function withoutThoughts(
  encoded: EncodedInput,
  { efforts }: ModelFacts,
  dropped: string[],
): EncodedInput {
  const isThought = (item: JsonObject): boolean => item.type === 'reasoning';
  if (efforts?.length !== 0 || !encoded.input.some(isThought)) return encoded;
  dropped.push('thinking');
  return { ...encoded, input: encoded.input.filter((item) => !isThought(item)) };
}

/** The least that this format takes. */
const outputTokensMin = 16;

function outputTokensMax(
  { outputTokensMax: asked }: ChatRequest,
  dropped: string[],
): number | undefined {
  if (asked === undefined || asked >= outputTokensMin) return asked;
  dropped.push('max_tokens');
  return outputTokensMin;
}

/** A summary is asked for only where thoughts are: some accounts may not have it. */
function encodeReasoning(
  { reasoning }: ChatRequest,
  { efforts }: ModelFacts,
  effort: string | undefined,
): JsonObject | undefined {
  const isOn = reasoning?.mode === 'enabled' || reasoning?.mode === 'adaptive';
  const shows = (isOn && reasoning.display !== 'omitted') || reasoning?.display === 'summarized';
  const summary = shows && effort !== 'none' && efforts?.length !== 0 ? 'auto' : undefined;
  if (effort === undefined && summary === undefined) return undefined;
  return compact({ effort, summary }) as JsonObject;
}

/** Models that do not reason refuse to be asked for encrypted reasoning: of one that is not known it takes a sign. */
function isAsked(reasoning: JsonObject | undefined, input: JsonObject[]): boolean {
  return (
    (reasoning !== undefined && reasoning.effort !== 'none') ||
    input.some((item) => item.type === 'reasoning')
  );
}

function included(request: ChatRequest, reasons: boolean): string[] {
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
