import type { ChatRequest, JsonObject, JsonValue } from '@sluice/contracts';
import type { CallContext, EncodedRequest } from '../../contract.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { fitCacheMarks, noCacheMarks } from '../fit-cache-marks.ts';
import { takenStops } from '../stop-sequences.ts';
import { encodeContents } from './encode-contents.ts';
import { camelKeys, encodeTools } from './encode-tools.ts';
import { type GeminiModel, geminiModel } from './models.ts';
import { encodeThinking } from './thinking.ts';
import { formatName } from './wire.ts';

const stopSequencesMax = 5;
const topLogprobsMax = 20;

/** Model → wire. Model and streaming are told by the address. */
export function encodeRequest(
  asked: ChatRequest,
  context: CallContext,
): EncodedRequest & { body: JsonObject } {
  const model = geminiModel(context.model || asked.model, context.modelOverrides);
  const dropped = droppedFields(asked);
  // What a prompt begins with is kept by itself, or by its name: `cachedContent`.
  const request = fitCacheMarks(asked, noCacheMarks, dropped);
  const isOwn = request.extensions.format === formatName;
  const { system, contents } = encodeContents(request.messages, model, isOwn, dropped);
  const tools = encodeTools(request, dropped);
  const further = isOwn ? { ...request.extensions.fields } : forwarded(request, dropped);
  const generationConfig = {
    ...encodeConfig(request, model, dropped),
    ...objectOf(further.generationConfig),
  };
  delete further.generationConfig;
  const toolConfig = { ...objectOf(further.toolConfig), ...objectOf(tools.toolConfig) };
  delete further.toolConfig;
  const stored = further.cachedContent !== undefined && !isOwn;
  if (stored) dropped.push(...storedFields(request));
  const body = compact<Record<string, unknown>>({
    contents,
    systemInstruction: system.length === 0 || stored ? undefined : { parts: system },
    tools: stored ? undefined : tools.tools,
    toolConfig: Object.keys(toolConfig).length === 0 || stored ? undefined : toolConfig,
    generationConfig: Object.keys(generationConfig).length === 0 ? undefined : generationConfig,
    serviceTier: serviceTier(request, dropped),
    ...further,
  });
  return { body: body as JsonObject, dropped };
}

function droppedFields(request: ChatRequest): string[] {
  const format = request.responseFormat;
  const candidates: [string, unknown][] = [
    ['user', request.user],
    ['logit_bias', request.logitBias],
    [
      'response_format.json_schema.description',
      format?.type === 'json-schema' ? format.description : undefined,
    ],
  ];
  return candidates.filter(([, value]) => value !== undefined).map(([name]) => name);
}

/** What was stored has its own of these, and beside it they are refused. */
function storedFields({ messages, tools, toolChoice }: ChatRequest): string[] {
  const system = messages.filter(({ role }) => role === 'system' || role === 'developer');
  return [
    ...system.map(({ path }) => path),
    ...(tools === undefined ? [] : ['tools']),
    ...(toolChoice === undefined ? [] : ['tool_choice']),
  ];
}

function encodeConfig(request: ChatRequest, model: GeminiModel, dropped: string[]): JsonObject {
  const { stop, topLogprobs } = request;
  const sampling = model.takesSampling ? request : dropSampling(request, dropped);
  return compact<Record<string, unknown>>({
    temperature: sampling.temperature,
    topP: sampling.topP,
    topK: sampling.topK,
    maxOutputTokens: request.outputTokensMax,
    stopSequences: takenStops(stop, { most: stopSequencesMax }, dropped),
    candidateCount: request.choices,
    seed: request.seed,
    presencePenalty: sampling.presencePenalty,
    frequencyPenalty: sampling.frequencyPenalty,
    responseLogprobs: request.logprobs,
    logprobs: topLogprobs === undefined ? undefined : Math.min(topLogprobs, topLogprobsMax),
    ...responseFormat(request),
    thinkingConfig: encodeThinking(request.reasoning, model, dropped),
  }) as JsonObject;
}

type Sampling = Pick<
  ChatRequest,
  'temperature' | 'topP' | 'topK' | 'frequencyPenalty' | 'presencePenalty'
>;

const noSampling: Sampling = {};

/** Names what is missed of it; what stands for nothing is not. */
function dropSampling(sampling: Sampling, dropped: string[]): Sampling {
  const { temperature = 1, topP = 1, topK, frequencyPenalty = 0, presencePenalty = 0 } = sampling;
  if (temperature !== 1) dropped.push('temperature');
  if (topP !== 1) dropped.push('top_p');
  if (frequencyPenalty !== 0) dropped.push('frequency_penalty');
  if (presencePenalty !== 0) dropped.push('presence_penalty');
  if (topK !== undefined) dropped.push('top_k');
  return noSampling;
}

function responseFormat({ responseFormat: format }: ChatRequest): JsonObject {
  switch (format?.type) {
    case 'text':
      return { responseMimeType: 'text/plain' };
    case 'json':
      return { responseMimeType: 'application/json' };
    case 'json-schema':
      return { responseMimeType: 'application/json', responseJsonSchema: format.schema };
    default:
      return {};
  }
}

const tiers = new Map([
  ['default', 'standard'],
  ['standard_only', 'standard'],
  ['flex', 'flex'],
  ['priority', 'priority'],
]);

function serviceTier(request: ChatRequest, dropped: string[]): string | undefined {
  const { serviceTier: tier } = request;
  if (tier === undefined || tier === 'auto') return undefined;
  const known = tiers.get(tier);
  if (known === undefined) dropped.push('service_tier');
  return known;
}

/** Fields of this format that callers of others may send, in their own spelling. */
const bodyFields = new Map(
  ['safetySettings', 'cachedContent', 'labels'].flatMap((name) => [
    [name, name],
    [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), name],
  ]) as [string, string][],
);

function forwarded(request: ChatRequest, dropped: string[]): JsonObject {
  const result: JsonObject = {};
  const config: JsonObject = {};
  const { fields } = request.extensions;
  for (const key in fields) {
    const value = fields[key];
    const name = bodyFields.get(key);
    if (value === undefined) continue;
    if (name !== undefined) result[name] = value;
    else if (!forwardConfig(key, value, config)) dropped.push(key);
  }
  if (Object.keys(config).length > 0) result.generationConfig = config;
  return result;
}

function forwardConfig(key: string, value: JsonValue, config: JsonObject): boolean {
  const options = objectOf(value);
  switch (key) {
    case 'modalities': {
      const names = (arrayOf(value) ?? []).map((name) => String(name).toUpperCase());
      config.responseModalities = names;
      return true;
    }
    case 'media_resolution':
      config.mediaResolution = value;
      return true;
    case 'image_config':
      config.imageConfig = camelKeys(options ?? {});
      return true;
    case 'speech_config':
      config.speechConfig = camelKeys(options ?? {});
      return true;
    case 'audio': {
      // The provider has one format of sound, raw samples, whichever is asked for.
      const voiceName = stringOf(options?.voice);
      if (voiceName === undefined) return false;
      config.speechConfig = { voiceConfig: { prebuiltVoiceConfig: { voiceName } } };
      return true;
    }
    default:
      return false;
  }
}
