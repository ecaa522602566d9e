import type { ChatRequest, JsonObject, JsonValue } from '@sluice/contracts';
import type { CallContext, EncodedRequest } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { compact, objectOf } from '../../json/json-access.ts';
import { type ClaudeFacts, factsOfClaude } from '../../models/claude.ts';
import { type EncodedOutput, encodeOutput } from '../anthropic-messages/encode-output.ts';
import { type BlockKinds, lacksThought } from '../anthropic-messages/open-turn.ts';
import { encodeSampling, type Sampling } from '../anthropic-messages/sampling.ts';
import { mayDemandCall } from '../anthropic-messages/tool-choice.ts';
import { fitCacheMarks } from '../fit-cache-marks.ts';
import { takenStops } from '../stop-sequences.ts';
import { withinRange } from '../within-range.ts';
import { cacheRulesOf } from './cache-rules.ts';
import { type EncodedMessages, encodeMessages } from './encode-messages.ts';
import { modelFields, ownFields } from './further-fields.ts';
import { familyOf, modelBehind } from './models.ts';
import { encodeClaudeThinking, encodeFamilyThinking } from './thinking.ts';
import { encodeTools } from './tools.ts';

/** Model → wire. The model's name is part of the address, not of the body; so is whether to stream. */
export function encodeRequest(
  asked: ChatRequest,
  context: CallContext,
): EncodedRequest & { body: JsonObject } {
  if ((asked.choices ?? 1) > 1)
    throw invalidField('n', 'must be 1: this provider gives one answer per request');
  const name = asked.model === '' ? context.model : asked.model;
  const overrides = context.modelOverrides;
  const model = modelBehind(name, overrides);
  const family = familyOf(model);
  const claude = family.isClaude ? factsOfClaude(name, overrides) : undefined;
  const dropped: string[] = [];
  const request = fitCacheMarks(asked, cacheRulesOf(model, family), dropped);
  const rules = { family, takesPrefill: claude?.prefill ?? true };
  const { system, messages, usedTools } = encodeMessages(request, rules, dropped);
  const structuredOutputs = claude?.structuredOutputs ?? family.structuredOutputs;
  const output = encodeOutput(request.responseFormat, { structuredOutputs }, dropped);
  if (output.instruction !== undefined) system.push({ text: output.instruction });
  const thinking =
    claude === undefined
      ? encodeFamilyThinking(request, family, dropped)
      : encodeClaudeThinking(request, claude, hasOpenTurn(messages), dropped);
  const thinkingType = objectOf(thinking.fields.thinking)?.type;
  const tools = encodeTools(
    request,
    {
      family,
      usedTools,
      hasThoughts: messages.some(({ content }) => content.some(blockKinds.isThought)),
      mayDemand: claude === undefined || mayDemandCall(claude, thinkingType),
      structuredOutputs,
      bindsThoughts: claude?.bindsThoughts ?? false,
    },
    dropped,
  );
  const isThinking = thinkingType === 'enabled' || thinkingType === 'adaptive';
  const sampling = sampled(request, claude, isThinking, dropped);
  const own = ownFields(request, family, context.setting, dropped);
  const outputConfig = {
    ...objectOf(own.modelFields.output_config),
    ...objectOf(thinking.fields.output_config),
  };
  const additional = {
    ...modelFields(request, family, sampling.topK, dropped),
    ...thinking.fields,
    ...(tools.modelTools.length === 0 ? {} : { tools: tools.modelTools }),
    ...own.modelFields,
    ...(Object.keys(outputConfig).length === 0 ? {} : { output_config: outputConfig }),
  };
  const body = compact<Record<string, unknown>>({
    messages,
    system: system.length === 0 ? undefined : system,
    inferenceConfig: inference(request, thinking.outputTokensMax, sampling, dropped),
    toolConfig: tools.toolConfig,
    outputConfig: textFormat(request, output),
    serviceTier: serviceTier(request, dropped),
    ...own.fields,
    additionalModelRequestFields: Object.keys(additional).length === 0 ? undefined : additional,
  });
  return { body: body as JsonObject, dropped };
}

const blockKinds: BlockKinds = {
  isResult: (block) => block.toolResult !== undefined,
  isThought: (block) => block.reasoningContent !== undefined,
};

function hasOpenTurn(messages: EncodedMessages['messages']): boolean {
  return lacksThought(
    messages.map(({ role, content }) => ({ role, blocks: content })),
    blockKinds,
  );
}

function sampled(
  request: ChatRequest,
  claude: ClaudeFacts | undefined,
  isThinking: boolean,
  dropped: string[],
): Sampling {
  if (claude === undefined) {
    const temperature = withinRange(request.temperature, [0, 1], 'temperature', dropped);
    const topP = withinRange(request.topP, [0, 1], 'top_p', dropped);
    return compact<Sampling>({ temperature, topP, topK: request.topK });
  }
  return encodeSampling(request, claude, isThinking, dropped);
}

function inference(
  request: ChatRequest,
  maxTokens: number | undefined,
  { temperature, topP }: Sampling,
  dropped: string[],
): JsonObject | undefined {
  const config = compact({
    maxTokens,
    temperature,
    topP,
    stopSequences: takenStops(request.stop, { refusesBlank: true }, dropped),
  });
  return Object.keys(config).length === 0 ? undefined : (config as JsonObject);
}

function textFormat(
  { responseFormat: format }: ChatRequest,
  output: EncodedOutput,
): JsonObject | undefined {
  if (format?.type !== 'json-schema' || output.schema === undefined) return undefined;
  const { name, description } = format;
  const schema = JSON.stringify(output.schema);
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
