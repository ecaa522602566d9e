/** What Converse and its models know beyond what the chat model has names for. */
import type { ChatRequest, JsonObject, JsonValue } from '@sluice/contracts';
import type { ReadSetting } from '../../call-facts.ts';
import { objectOf } from '../../json/json-access.ts';
import { meansAnother } from '../anthropic-messages/wire.ts';
import { bedrockBetas } from './betas.ts';
import type { Family, FamilyFields } from './models.ts';
import { formatName } from './wire.ts';

/** Converse's own fields, which callers of other formats may send under either name. */
const converseFields: ReadonlyMap<string, string> = new Map([
  ['performanceConfig', 'performanceConfig'],
  ['performance_config', 'performanceConfig'],
  ['guardrailConfig', 'guardrailConfig'],
  ['guardrail_config', 'guardrailConfig'],
  ['promptVariables', 'promptVariables'],
  ['prompt_variables', 'promptVariables'],
  ['requestMetadata', 'requestMetadata'],
  ['request_metadata', 'requestMetadata'],
  ['additionalModelResponseFieldPaths', 'additionalModelResponseFieldPaths'],
  ['additional_model_response_field_paths', 'additionalModelResponseFieldPaths'],
]);

const additional = new Set(['additionalModelRequestFields', 'additional_model_request_fields']);

/** What AWS takes for a value of the request's metadata. */
const metadataValue = /^[a-zA-Z0-9\s:_@$#=/+,.-]{0,256}$/;

/** Fields of the request by the side they go to; the rest is told as dropped. */
export function ownFields(
  request: ChatRequest,
  family: Family,
  setting: ReadSetting,
  dropped: string[],
): { fields: JsonObject; modelFields: JsonObject } {
  const fields: JsonObject = {};
  const modelFields: JsonObject = {};
  const metadata: JsonObject = {};
  for (const key in request.extensions.fields) {
    const value = request.extensions.fields[key] as JsonValue;
    const known = converseFields.get(key);
    if (known !== undefined) fields[known] = value;
    else if (additional.has(key)) Object.assign(modelFields, objectOf(value));
    else if (key === 'metadata') Object.assign(metadata, carriedMetadata(value, dropped));
    else if (key === 'anthropic_beta' && family.isClaude) continue;
    else if (family.forwarded.includes(key) && !meansAnother(key, value)) modelFields[key] = value;
    else if (request.extensions.format === formatName) fields[key] = value;
    else dropped.push(key);
  }
  const betas = bedrockBetas(request.extensions.fields.anthropic_beta, setting);
  if (family.isClaude && betas.length > 0) modelFields.anthropic_beta = betas;
  if (request.user !== undefined && family.fields.user === undefined)
    Object.assign(metadata, carriedMetadata({ user_id: request.user }, dropped, 'user'));
  if (Object.keys(metadata).length > 0)
    fields.requestMetadata = { ...metadata, ...objectOf(fields.requestMetadata) };
  return { fields, modelFields };
}

function carriedMetadata(value: JsonValue, dropped: string[], only?: string): JsonObject {
  const carried: JsonObject = {};
  const source = objectOf(value) ?? {};
  for (const key in source) {
    const entry = source[key];
    if (typeof entry === 'string' && metadataValue.test(entry) && metadataValue.test(key))
      carried[key] = entry;
    else dropped.push(only ?? `metadata.${key}`);
  }
  return carried;
}

/** The names that callers know these fields by. */
const callerNames: Readonly<Record<keyof FamilyFields, string>> = {
  topK: 'top_k',
  seed: 'seed',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
  logitBias: 'logit_bias',
  effort: 'reasoning_effort',
  user: 'user',
};

/** What the chat model has a name for and only some models take; `topK` as far as the model allows it. */
export function modelFields(
  request: ChatRequest,
  family: Family,
  topK: number | undefined,
  dropped: string[],
): JsonObject {
  const { seed, frequencyPenalty, presencePenalty, logitBias, user } = request;
  const values = {
    topK,
    seed,
    frequencyPenalty,
    presencePenalty,
    logitBias,
    user: family.fields.user === undefined ? undefined : user,
    effort: family.fields.effort === undefined ? undefined : request.reasoning?.effort,
  };
  if (request.logprobs !== undefined) dropped.push('logprobs');
  if (request.topLogprobs !== undefined) dropped.push('top_logprobs');
  const result: JsonObject = {};
  for (const key of Object.keys(values) as (keyof FamilyFields)[]) {
    const value = values[key];
    if (value === undefined) continue;
    const place = family.fields[key];
    if (place === undefined) dropped.push(callerNames[key]);
    else setAt(result, place, value);
  }
  // Nova thinks only when it is told so beside the effort.
  const reasoning = objectOf(result.reasoningConfig);
  if (reasoning !== undefined) reasoning.type = 'enabled';
  return result;
}

function setAt(target: JsonObject, place: string, value: JsonValue): void {
  const [first = '', second] = place.split('.');
  if (second === undefined) target[first] = value;
  else target[first] = { ...objectOf(target[first]), [second]: value };
}
