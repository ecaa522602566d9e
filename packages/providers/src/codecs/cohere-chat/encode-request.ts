import type {
  ChatMessage,
  ChatRequest,
  ChatTool,
  FunctionTool,
  JsonObject,
  Reasoning,
  ResponseFormat,
} from '@sluice/contracts';
import type { CallContext, EncodedRequest } from '../../contract.ts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, compact } from '../../json/json-access.ts';
import { fitCacheMarks, noCacheMarks } from '../fit-cache-marks.ts';
import { outputInWords } from '../output-in-words.ts';
import { takenStops } from '../stop-sequences.ts';
import { withinRange } from '../within-range.ts';
import { encodeMessages } from './encode-messages.ts';
import { formatName } from './wire.ts';

/** More are refused. */
const stopSequencesMax = 5;

/** Fields of this format that callers of other formats may send as they are. */
const forwardedMembers = new Set([
  'documents',
  'citation_options',
  'safety_mode',
  'priority',
  'strict_tools',
]);

/** Model → wire. */
export function encodeRequest(
  asked: ChatRequest,
  _context: CallContext,
): EncodedRequest & { body: JsonObject } {
  if ((asked.choices ?? 1) > 1)
    throw invalidField('n', 'must be 1: this provider gives one answer per request');
  const dropped = droppedFields(asked);
  const request = withOutputInWords(fitCacheMarks(asked, noCacheMarks, dropped), dropped);
  const body = compact<Record<string, unknown>>({
    model: request.model,
    messages: encodeMessages(request.messages, refusesThoughts.test(request.model), dropped),
    stream: request.stream || undefined,
    ...encodeTools(request, dropped),
    max_tokens: request.outputTokensMax,
    temperature: request.temperature,
    // All words, and hardly any, are a hundredth short of that here.
    p: withinRange(request.topP, [0.01, 0.99], 'top_p', dropped, [0, 1]),
    k: withinRange(request.topK, [0, 500], 'top_k', dropped),
    seed: request.seed,
    frequency_penalty: withinRange(request.frequencyPenalty, [0, 1], 'frequency_penalty', dropped),
    presence_penalty: withinRange(request.presencePenalty, [0, 1], 'presence_penalty', dropped),
    logprobs: request.logprobs,
    stop_sequences: takenStops(request.stop, { most: stopSequencesMax }, dropped),
    response_format: responseFormat(request.responseFormat),
    thinking: thinking(request.reasoning, request.model, dropped),
    ...forwarded(request, dropped),
  });
  return { body: body as JsonObject, dropped };
}

function droppedFields(request: ChatRequest): string[] {
  const format = request.responseFormat;
  const candidates: [string, unknown][] = [
    ['parallel_tool_calls', request.parallelToolCalls],
    ['logit_bias', request.logitBias],
    ['top_logprobs', request.topLogprobs],
    ['user', request.user],
    ['service_tier', request.serviceTier],
    [
      'response_format.json_schema.description',
      format?.type === 'json-schema' ? format.description : undefined,
    ],
    // Thoughts are always shown here.
    ['thinking.display', request.reasoning?.display === 'omitted' ? 'omitted' : undefined],
  ];
  return candidates.filter(([, value]) => value !== undefined).map(([name]) => name);
}

/** Answers in JSON are refused beside tools, and so are schemas in which nothing is required: these are told. */
function withOutputInWords(request: ChatRequest, dropped: string[]): ChatRequest {
  const { responseFormat: format, messages, ...rest } = request;
  if (format === undefined || format.type === 'text') return request;
  const isOpen =
    format.type === 'json-schema' && (arrayOf(format.schema.required) ?? []).length === 0;
  if (!isOpen && (request.tools ?? []).length === 0) return request;
  dropped.push(format.type === 'json' ? 'response_format' : 'response_format.json_schema');
  const text = outputInWords(format);
  const told: ChatMessage = { role: 'system', parts: [{ type: 'text', text }], path: '' };
  const opening = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer');
  const at = opening < 0 ? messages.length : opening;
  return { ...rest, messages: [...messages.slice(0, at), told, ...messages.slice(at)] };
}

function forwarded(request: ChatRequest, dropped: string[]): JsonObject {
  const { format, fields } = request.extensions;
  const result: JsonObject = {};
  for (const key in fields) {
    const value = fields[key];
    if (value !== undefined && (format === formatName || forwardedMembers.has(key)))
      result[key] = value;
    else dropped.push(key);
  }
  return result;
}

/** A choice of one tool is told by offering no other. */
function encodeTools(request: ChatRequest, dropped: string[]): JsonObject {
  const choice = request.toolChoice;
  const chosen =
    choice?.type === 'tool'
      ? request.tools?.filter((tool) => tool.type === 'function' && tool.name === choice.name)
      : request.tools;
  const offered = chosen?.length === 0 ? request.tools : chosen;
  const functions = (offered ?? []).filter((tool) => tool.type === 'function');
  const tools = (offered ?? []).flatMap((tool) => encodeTool(tool, dropped));
  if (tools.length === 0) {
    if (choice !== undefined) dropped.push('tool_choice');
    return {};
  }
  const offer = (more: JsonObject = {}) =>
    compact({ tools, ...more, tool_choice: toolChoice(request) }) as JsonObject;
  if (functions.length === 0) return offer();
  // Strictness is one switch for all tools.
  const strict = functions.every((tool) => tool.strict === true);
  const loose = functions.every((tool) => tool.strict === false);
  if (strict || loose) return offer({ strict_tools: strict });
  for (const tool of functions)
    if (tool.strict !== undefined) dropped.push(`${tool.path}.function.strict`);
  return offer();
}

function encodeTool(tool: ChatTool, dropped: string[]): JsonObject[] {
  if (tool.type === 'function') return [encodeFunction(tool, dropped)];
  if (tool.format === formatName) return [tool.value];
  dropped.push(tool.path);
  return [];
}

function encodeFunction(tool: FunctionTool, dropped: string[]): JsonObject {
  for (const key in tool.extensions) dropped.push(`${tool.path}.function.${key}`);
  const fn = compact({
    name: tool.name,
    description: tool.description,
    parameters: tool.parameters ?? { type: 'object', properties: {} },
  });
  return { type: 'function', function: fn as JsonObject };
}

/** `auto` is what the provider does when it is told nothing. */
function toolChoice(request: ChatRequest): string | undefined {
  switch (request.toolChoice?.type) {
    case 'none':
      return 'NONE';
    case 'required':
    case 'tool':
      return 'REQUIRED';
    default:
      return undefined;
  }
}

function responseFormat(format: ResponseFormat | undefined): JsonObject | undefined {
  if (format === undefined) return undefined;
  if (format.type === 'text') return { type: 'text' };
  if (format.type === 'json') return { type: 'json_object' };
  return { type: 'json_object', json_schema: format.schema };
}

/** Those that do not think refuse thoughts in earlier answers as well. */
const refusesThoughts = /^(?:c4ai-)?command-(?!a-(?:reasoning|plus))/;

/** Only these think, and refuse to be told nothing of it; the others refuse the field. */
const reasoningModel = /^(?:c4ai-)?command-a-(?:reasoning|plus)/;

/** Budgets for efforts: the provider is told no effort, only how many tokens. */
const budgetOfEffort: ReadonlyMap<string, number> = new Map(
  Object.entries({ minimal: 1024, low: 1024, medium: 8192, high: 16_384, xhigh: 31_000 }),
);

function thinking(
  reasoning: Reasoning | undefined,
  model: string,
  dropped: string[],
): JsonObject | undefined {
  if (reasoning === undefined) return undefined;
  const { mode, effort, budgetTokens } = reasoning;
  if (mode !== undefined || budgetTokens !== undefined) {
    if (effort !== undefined) dropped.push('reasoning_effort');
    if (mode === 'between_tools') dropped.push('thinking.type');
    const type = mode === 'disabled' || mode === 'between_tools' ? 'disabled' : 'enabled';
    return compact({ type, token_budget: budgetTokens }) as JsonObject;
  }
  if (effort === undefined) return undefined;
  if (!reasoningModel.test(model)) {
    if (effort !== 'none') dropped.push('reasoning_effort');
    return undefined;
  }
  if (effort === 'none') return { type: 'disabled' };
  return compact({ type: 'enabled', token_budget: budgetOfEffort.get(effort) }) as JsonObject;
}
