import type {
  ChatMessage,
  ChatPart,
  ChatRequest,
  ChatTool,
  JsonObject,
  ResponseFormat,
  ToolCallPart,
  ToolResultPart,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, compact, objectOf, parseObject, stringOf } from '../../json/json-access.ts';
import { partName } from '../part-name.ts';

/**
 * `chatRequest` for Cohere's models, in the words of Cohere's first version:
 * one message, the history before it, and calls that are known by what they
 * were, not by an id.
 */
export function encodeCohere(request: ChatRequest, dropped: string[]): JsonObject {
  if ((request.choices ?? 1) > 1)
    throw invalidField('n', 'must be 1: this model gives one answer per request');
  dropped.push(...Object.keys(request.extensions.fields), ...droppedFields(request));
  const preamble: string[] = [];
  const history: JsonObject[] = [];
  const calls = new Map<string, ToolCallPart>();
  for (const message of request.messages) {
    if (message.role === 'system' || message.role === 'developer')
      preamble.push(textOf(message, dropped));
    else for (const entry of encodeMessage(message, calls, dropped)) append(history, entry);
  }
  const last = history.at(-1);
  if (last === undefined || last.role === 'CHATBOT')
    throw invalidField('messages', 'must end with a message of the user or a tool');
  history.pop();
  const body = compact<Record<string, unknown>>({
    apiFormat: 'COHERE',
    message: last.message ?? '',
    toolResults: last.toolResults,
    chatHistory: history.length === 0 ? undefined : history,
    preambleOverride: preamble.length === 0 ? undefined : preamble.join('\n'),
    isStream: request.stream || undefined,
    streamOptions: request.stream ? { isIncludeUsage: true } : undefined,
    maxTokens: request.outputTokensMax,
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    frequencyPenalty: request.frequencyPenalty,
    presencePenalty: request.presencePenalty,
    seed: request.seed,
    stopSequences: request.stop,
    tools: encodeTools(request.tools, dropped),
    responseFormat: responseFormat(request.responseFormat),
  });
  return body as JsonObject;
}

/** Results of one turn's calls stand together, however many messages brought them. */
function append(history: JsonObject[], entry: JsonObject): void {
  const last = history.at(-1);
  const before = arrayOf(last?.toolResults);
  const added = arrayOf(entry.toolResults);
  if (before === undefined || added === undefined) history.push(entry);
  else before.push(...added);
}

function droppedFields(request: ChatRequest): string[] {
  const { reasoning, responseFormat: format } = request;
  const candidates: [string, unknown][] = [
    // The model is told nothing of choices; `auto` is what it does.
    ['tool_choice', request.toolChoice?.type === 'auto' ? undefined : request.toolChoice],
    ['parallel_tool_calls', request.parallelToolCalls],
    ['logit_bias', request.logitBias],
    ['logprobs', request.logprobs],
    ['top_logprobs', request.topLogprobs],
    ['user', request.user],
    ['service_tier', request.serviceTier],
    ['reasoning_effort', reasoning?.effort],
    ['thinking', reasoning?.mode ?? reasoning?.budgetTokens],
    [
      'response_format.json_schema.strict',
      format?.type === 'json-schema' ? format.strict : undefined,
    ],
  ];
  return candidates.filter(([, value]) => value !== undefined).map(([name]) => name);
}

function encodeMessage(
  message: ChatMessage,
  calls: Map<string, ToolCallPart>,
  dropped: string[],
): JsonObject[] {
  const results = message.parts.filter((part) => part.type === 'tool-result');
  const rest = message.parts.filter((part) => part.type !== 'tool-result');
  const out: JsonObject[] = [];
  if (results.length > 0)
    out.push({
      role: 'TOOL',
      toolResults: results.map((result) => encodeResult(result, calls, message, dropped)),
    });
  if (rest.length === 0) return out;
  const own = rest.filter((part): part is ToolCallPart => part.type === 'tool-call');
  for (const call of own) calls.set(call.id, call);
  const text = textOf(
    { ...message, parts: rest.filter((part) => part.type !== 'tool-call') },
    dropped,
  );
  const toolCalls: JsonObject = own.length === 0 ? {} : { toolCalls: own.map(encodeCall) };
  out.push({
    role: message.role === 'assistant' ? 'CHATBOT' : 'USER',
    message: text,
    ...toolCalls,
  });
  return out;
}

function textOf(message: ChatMessage, dropped: string[]): string {
  if (message.name !== undefined) dropped.push(`${message.path}.name`);
  const texts: string[] = [];
  for (const part of message.parts) {
    const text = textOfPart(part);
    if (text === undefined) dropped.push(`${message.path}.${partName(part)}`);
    else texts.push(text);
  }
  return texts.join('\n');
}

function textOfPart(part: ChatPart): string | undefined {
  if (part.type === 'text' || part.type === 'refusal') return part.text;
  return part.type === 'file' && part.source.kind === 'text' ? part.source.text : undefined;
}

function encodeCall(call: ToolCallPart): JsonObject {
  return { name: call.name, parameters: parseObject(call.arguments) ?? {} };
}

function encodeResult(
  result: ToolResultPart,
  calls: Map<string, ToolCallPart>,
  message: ChatMessage,
  dropped: string[],
): JsonObject {
  const call = calls.get(result.toolCallId);
  if (call === undefined)
    throw invalidField(`${message.path}.tool_call_id`, 'must be the id of a call before it');
  const text = textOf({ role: 'tool', parts: result.content, path: message.path }, dropped);
  const output = parseObject(text) ?? { result: text };
  return {
    call: encodeCall(call),
    outputs: [result.isError === true ? { error: text } : output],
  };
}

/** Parameters are told one by one, with types as Python has them. */
function encodeTools(tools: ChatTool[] | undefined, dropped: string[]): JsonObject[] | undefined {
  const encoded = (tools ?? []).flatMap((tool): JsonObject[] => {
    if (tool.type === 'provider') {
      dropped.push(tool.path);
      return [];
    }
    if (tool.strict === true) dropped.push(`${tool.path}.function.strict`);
    for (const key in tool.extensions) dropped.push(`${tool.path}.function.${key}`);
    const { name, description, parameters } = tool;
    const parameterDefinitions = parametersOf(parameters ?? {});
    return [{ name, description: description ?? '', parameterDefinitions }];
  });
  return encoded.length === 0 ? undefined : encoded;
}

const types = new Map(
  Object.entries({
    string: 'str',
    number: 'float',
    integer: 'int',
    boolean: 'bool',
    array: 'list',
    object: 'dict',
  }),
);

function parametersOf(schema: JsonObject): JsonObject {
  const required = arrayOf(schema.required) ?? [];
  const definitions: JsonObject = {};
  for (const [name, value] of Object.entries(objectOf(schema.properties) ?? {})) {
    const property = objectOf(value) ?? {};
    definitions[name] = {
      type: types.get(stringOf(property.type) ?? '') ?? 'str',
      description: describe(property),
      isRequired: required.includes(name),
    };
  }
  return definitions;
}

/** What a schema says beyond a type has no place of its own: the model reads it in the description. */
function describe(property: JsonObject): string {
  const { type: _, description, ...rest } = property;
  const text = stringOf(description) ?? '';
  if (Object.keys(rest).length === 0) return text;
  return `${text} ${JSON.stringify(rest)}`.trim();
}

function responseFormat(format: ResponseFormat | undefined): JsonObject | undefined {
  if (format === undefined) return undefined;
  if (format.type === 'text') return { type: 'TEXT' };
  if (format.type === 'json') return { type: 'JSON_OBJECT' };
  return { type: 'JSON_OBJECT', schema: format.schema };
}
