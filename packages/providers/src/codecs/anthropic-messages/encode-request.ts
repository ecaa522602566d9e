import type { ChatRequest, FunctionTool, JsonObject } from '@sluice/contracts';
import type { CallContext, EncodedRequest } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, compact, objectOf, stringOf } from '../../json/json-access.ts';
import { type ClaudeFacts, factsOfClaude } from '../../models/claude.ts';
import { claudeCacheMarks, fitCacheMarks } from '../fit-cache-marks.ts';
import { takenStops } from '../stop-sequences.ts';
import { refusesSampling } from './api-version.ts';
import { encodeMessages } from './encode-messages.ts';
import { encodeOutput } from './encode-output.ts';
import { encodeProviderTool } from './encode-provider-tool.ts';
import { FunctionOptions } from './function-options.ts';
import { HostedTools } from './hosted-tools.ts';
import { offeredTools } from './offered-tools.ts';
import { type BlockKinds, lacksThought, type OpenTurn } from './open-turn.ts';
import { encodeSampling } from './sampling.ts';
import { StrictTools } from './strict-tools.ts';
import { encodeThinking } from './thinking.ts';
import { demandsCall, mayDemandCall } from './tool-choice.ts';
import { formatName, isThought, meansAnother } from './wire.ts';

/** Fields of this format that callers of other formats may send as they are. */
const forwardedMembers = new Set([
  'context_management',
  'mcp_servers',
  'container',
  'inference_geo',
  'diagnostics',
  'fallbacks',
  'output_config',
  'speed',
]);

const filesBeta = 'files-api-2025-04-14';

/** Model → wire. */
export function encodeRequest(
  asked: ChatRequest,
  context: CallContext,
): EncodedRequest & { body: JsonObject } {
  if ((asked.choices ?? 1) > 1)
    throw invalidField('n', 'must be 1: this provider gives one answer per request');
  const facts = factsOfClaude(asked.model, context.modelOverrides);
  const dropped = droppedFields(asked);
  const request = fitCacheMarks(asked, claudeCacheMarks, dropped);
  const rules = {
    takesSystemTurns: facts.systemTurnsAt.includes(context.provider.id),
    takesPrefill: facts.prefill,
  };
  const { system, messages, usesFiles } = encodeMessages(request.messages, rules, dropped);
  const output = encodeOutput(request.responseFormat, facts, dropped);
  if (output.instruction !== undefined) system.push({ type: 'text', text: output.instruction });
  const extensions = forwarded(request, dropped);
  const betas = betasOf(extensions);
  if (usesFiles && !betas.includes(filesBeta)) betas.push(filesBeta);
  const hosted = new HostedTools(context.provider, betas);
  delete extensions.anthropic_beta;
  const version = stringOf(extensions.anthropic_version);
  delete extensions.anthropic_version;

  const options = { lacksThought: lacksThought(messages.map(openTurnOf), blockKinds) };
  const thinking = encodeThinking(request, facts, options, dropped);
  const type = thinking.thinking?.type;
  const isThinking = type === 'enabled' || type === 'adaptive';
  const taken = refusesSampling(version, context) ? ({ sampling: 'default' } as const) : facts;
  const { temperature, topP, topK } = encodeSampling(request, taken, isThinking, dropped);
  const outputConfig = {
    ...objectOf(extensions.output_config),
    ...thinking.outputConfig,
    ...(output.schema !== undefined && {
      format: { type: 'json_schema', schema: output.schema },
    }),
  };
  delete extensions.output_config;

  const body = compact<Record<string, unknown>>({
    model: request.model,
    max_tokens: thinking.outputTokensMax,
    system: system.length === 0 ? undefined : system,
    messages,
    stream: request.stream || undefined,
    temperature,
    top_p: topP,
    top_k: topK,
    stop_sequences: takenStops(request.stop, { refusesBlank: true }, dropped),
    ...encodeTools(request, facts, hosted, mayDemandCall(facts, type), dropped),
    thinking: thinking.thinking,
    output_config: Object.keys(outputConfig).length === 0 ? undefined : outputConfig,
    metadata: request.user === undefined ? undefined : { user_id: request.user },
    service_tier: serviceTier(request, dropped),
    cache_control: request.cacheControl,
    ...extensions,
  });
  const headers = {
    ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
    ...(version === undefined ? {} : { 'anthropic-version': version }),
  };
  return {
    body: body as JsonObject,
    dropped,
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
}

function openTurnOf({ role, content }: JsonObject): OpenTurn {
  return { role, blocks: arrayOf(content) === undefined ? [] : (content as JsonObject[]) };
}

const blockKinds: BlockKinds = {
  isResult: (block) => block.type === 'tool_result',
  isThought,
};

function droppedFields(request: ChatRequest): string[] {
  const candidates: [string, unknown][] = [
    ['frequency_penalty', request.frequencyPenalty],
    ['presence_penalty', request.presencePenalty],
    ['logit_bias', request.logitBias],
    ['logprobs', request.logprobs],
    ['top_logprobs', request.topLogprobs],
    ['seed', request.seed],
  ];
  const names = candidates.filter(([, value]) => value !== undefined).map(([name]) => name);
  if (
    request.responseFormat?.type === 'json-schema' &&
    request.responseFormat.description !== undefined
  )
    names.push('response_format.json_schema.description');
  return names;
}

function forwarded(request: ChatRequest, dropped: string[]): JsonObject {
  const { format, fields } = request.extensions;
  const result: JsonObject = {};
  for (const key in fields) {
    const known =
      forwardedMembers.has(key) || key === 'anthropic_beta' || key === 'anthropic_version';
    const value = fields[key];
    const isTaken = format === formatName || (known && !meansAnother(key, value));
    if (value !== undefined && isTaken) result[key] = value;
    else dropped.push(key);
  }
  return result;
}

/** Betas may stand in the body as a list or as a comma-separated string. */
export function betasOf(fields: JsonObject): string[] {
  const value = fields.anthropic_beta;
  const list = typeof value === 'string' ? value.split(',') : (arrayOf(value) ?? []);
  return list.map((beta) => String(beta).trim()).filter((beta) => beta !== '');
}

function serviceTier(request: ChatRequest, dropped: string[]): string | undefined {
  switch (request.serviceTier) {
    case undefined:
    case 'auto':
      return request.serviceTier;
    case 'default':
    case 'standard_only':
      return 'standard_only';
    default:
      dropped.push('service_tier');
      return undefined;
  }
}

function encodeTools(
  request: ChatRequest,
  facts: ClaudeFacts,
  hosted: HostedTools,
  mayDemand: boolean,
  dropped: string[],
): JsonObject {
  const strict = new StrictTools(facts, dropped);
  const offered = offeredTools(request, facts.bindsThoughts, dropped);
  const options = new FunctionOptions(offered);
  const tools: JsonObject[] = [];
  for (const tool of offered) {
    const encoded =
      tool.type === 'function'
        ? encodeFunction(tool, strict, options, dropped)
        : (hosted.encode(tool, request, dropped) ?? encodeProviderTool(tool, dropped));
    if (encoded !== undefined) tools.push(encoded);
  }
  if (tools.length === 0) {
    if (request.toolChoice !== undefined) dropped.push('tool_choice');
    if (request.parallelToolCalls !== undefined) dropped.push('parallel_tool_calls');
    return {};
  }
  const choice = toolChoice(request, mayDemand, dropped);
  return choice === undefined ? { tools } : { tools, tool_choice: choice };
}

const choices = { none: 'none', auto: 'auto', required: 'any', tool: 'tool' } as const;

function toolChoice(
  request: ChatRequest,
  mayDemand: boolean,
  dropped: string[],
): JsonObject | undefined {
  let choice = request.toolChoice;
  if (demandsCall(request) && !mayDemand) {
    dropped.push('tool_choice');
    choice = undefined;
  }
  const oneAtATime = request.parallelToolCalls === false && choice?.type !== 'none';
  if (choice === undefined && !oneAtATime) return undefined;
  const result: JsonObject = { type: choices[choice?.type ?? 'auto'] };
  if (choice?.type === 'tool') result.name = choice.name;
  if (oneAtATime) result.disable_parallel_tool_use = true;
  return result;
}

function encodeFunction(
  tool: FunctionTool,
  strict: StrictTools,
  options: FunctionOptions,
  dropped: string[],
): JsonObject {
  const parameters: JsonObject = { type: 'object', ...(tool.parameters ?? { properties: {} }) };
  const closed = strict.schemaOf(tool, parameters);
  const result: JsonObject = { name: tool.name, input_schema: closed ?? parameters };
  if (closed !== undefined) result.strict = true;
  if (tool.description !== undefined) result.description = tool.description;
  if (tool.cacheControl !== undefined) result.cache_control = { ...tool.cacheControl };
  return Object.assign(result, options.encode(tool, dropped));
}
