import type { ChatRequest, JsonObject, JsonValue } from '@sluice/contracts';
import type { CallContext, EncodedRequest } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { compact, objectOf } from '../../json/json-access.ts';
import { closed } from '../anthropic-messages/encode-request.ts';
import { encodeMessages } from './encode-messages.ts';
import { modelFields, ownFields } from './further-fields.ts';
import { familyOf, readModel } from './models.ts';
import { encodeModelThinking } from './thinking.ts';
import { encodeTools } from './tools.ts';

const jsonInstruction = 'Answer with one valid JSON object and nothing else.';

/** Model → wire. The model's name is part of the address, not of the body; so is whether to stream. */
export function encodeRequest(
  request: ChatRequest,
  context: CallContext,
): EncodedRequest & { body: JsonObject } {
  if ((request.choices ?? 1) > 1)
    throw invalidField('n', 'must be 1: this provider gives one answer per request');
  const model = readModel(request.model === '' ? context.model : request.model);
  const family = familyOf(model);
  const dropped: string[] = [];
  const { system, messages, usedTools } = encodeMessages(request, family, dropped);
  if (request.responseFormat?.type === 'json') system.push({ text: jsonInstruction });
  const thinking = encodeModelThinking(request, model, family, dropped);
  const tools = encodeTools(request, family, usedTools, thinking.isThinking, dropped);
  const own = ownFields(request, family, context.setting, dropped);
  const outputConfig = {
    ...objectOf(own.modelFields.output_config),
    ...objectOf(thinking.fields.output_config),
  };
  const additional = {
    ...modelFields(request, family, thinking.isThinking, dropped),
    ...thinking.fields,
    ...(tools.modelTools.length === 0 ? {} : { tools: tools.modelTools }),
    ...own.modelFields,
    ...(Object.keys(outputConfig).length === 0 ? {} : { output_config: outputConfig }),
  };
  const body = compact<Record<string, unknown>>({
    messages,
    system: system.length === 0 ? undefined : system,
    inferenceConfig: inference(request, thinking.outputTokensMax, {
      isClaude: family.isClaude,
      isThinking: thinking.isThinking,
      dropped,
    }),
    toolConfig: tools.toolConfig,
    outputConfig: outputFormat(request),
    serviceTier: serviceTier(request, dropped),
    ...own.fields,
    additionalModelRequestFields: Object.keys(additional).length === 0 ? undefined : additional,
  });
  return { body: body as JsonObject, dropped };
}

function inference(
  request: ChatRequest,
  maxTokens: number | undefined,
  rules: { isClaude: boolean; isThinking: boolean; dropped: string[] },
): JsonObject | undefined {
  const { isClaude, isThinking, dropped } = rules;
  let { temperature, topP } = request;
  if (isClaude && temperature !== undefined) {
    temperature = Math.min(1, Math.max(0, temperature));
    if (isThinking && temperature !== 1) {
      dropped.push('temperature');
      temperature = undefined;
    }
    // Claude takes one of the two.
    if (topP !== undefined) dropped.push('top_p');
    topP = undefined;
  }
  const stop = request.stop?.filter((sequence) => sequence.trim() !== '');
  const config = compact({
    maxTokens,
    temperature,
    topP,
    stopSequences: stop === undefined || stop.length === 0 ? undefined : stop,
  });
  return Object.keys(config).length === 0 ? undefined : (config as JsonObject);
}

function outputFormat({ responseFormat: format }: ChatRequest): JsonObject | undefined {
  if (format?.type !== 'json-schema') return undefined;
  const { name, description } = format;
  const schema = JSON.stringify(closed(format.schema));
  const jsonSchema = compact({ schema, name, description }) as JsonValue;
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}

const tiers: ReadonlyMap<string, string> = new Map(
  Object.entries({
    default: 'default',
    standard_only: 'default',
    priority: 'priority',
    flex: 'flex',
    reserved: 'reserved',
  }),
);

/** `auto` leaves the choice to the provider, which is what no tier does. */
function serviceTier(request: ChatRequest, dropped: string[]): JsonObject | undefined {
  const asked = request.serviceTier;
  if (asked === undefined || asked === 'auto') return undefined;
  const type = tiers.get(asked);
  if (type !== undefined) return { type };
  dropped.push('service_tier');
  return undefined;
}
