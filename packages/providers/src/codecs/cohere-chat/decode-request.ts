import type {
  ChatMessage,
  ChatRequest,
  ChatTool,
  JsonObject,
  JsonValue,
  Reasoning,
  ResponseFormat,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import {
  arrayOf,
  booleanOf,
  compact,
  numberField,
  numberOf,
  objectOf,
  stringOf,
} from '../../json/json-access.ts';
import { decodeAssistant, decodeContent, decodeToolMessage } from './decode-messages.ts';
import { formatName } from './wire.ts';

/** Fields that the chat model has a name for; all others travel as extensions. */
const knownMembers = new Set(
  `model messages stream tools tool_choice strict_tools max_tokens temperature p k seed
  frequency_penalty presence_penalty logprobs stop_sequences response_format thinking`.split(/\s+/),
);

/** Wire → model. */
export function decodeRequest(body: JsonObject): { request: ChatRequest; dropped: string[] } {
  const dropped: string[] = [];
  const model = stringOf(body.model);
  if (model === undefined) throw invalidField('model', 'must be a string');
  const messages = arrayOf(body.messages);
  if (messages === undefined) throw invalidField('messages', 'must be a list');
  const fields: JsonObject = {};
  for (const key in body) {
    const value = body[key];
    if (!knownMembers.has(key) && value !== null && value !== undefined) fields[key] = value;
  }
  const strict = booleanOf(body.strict_tools);
  const rest = {
    includeUsage: true,
    tools: arrayOf(body.tools)?.map((tool, index) => decodeTool(tool, `tools[${index}]`, strict)),
    toolChoice: decodeToolChoice(body.tool_choice),
    outputTokensMax: numberField(body, 'max_tokens'),
    temperature: numberField(body, 'temperature'),
    topP: numberField(body, 'p'),
    topK: numberField(body, 'k'),
    frequencyPenalty: numberField(body, 'frequency_penalty'),
    presencePenalty: numberField(body, 'presence_penalty'),
    logprobs: booleanOf(body.logprobs),
    seed: numberField(body, 'seed'),
    stop: arrayOf(body.stop_sequences)?.filter((entry) => typeof entry === 'string'),
    responseFormat: decodeResponseFormat(objectOf(body.response_format)),
    reasoning: decodeReasoning(objectOf(body.thinking)),
  };
  const request: ChatRequest = {
    model,
    messages: messages.map((message, index) => decodeMessage(message, index, dropped)),
    stream: body.stream === true,
    extensions: { format: formatName, fields },
    ...compact(rest),
  };
  return { request, dropped };
}

function decodeMessage(value: JsonValue, index: number, dropped: string[]): ChatMessage {
  const path = `messages[${index}]`;
  const message = objectOf(value);
  if (message === undefined) throw invalidField(path, 'must be an object');
  switch (message.role) {
    case 'system':
    case 'user':
      return { role: message.role, parts: decodeContent(message.content, path), path };
    case 'assistant':
      return { role: 'assistant', parts: decodeAssistant(message, path), path };
    case 'tool':
      return { role: 'tool', parts: [decodeToolMessage(message, path, dropped)], path };
    default:
      throw invalidField(`${path}.role`, 'must be system, user, assistant or tool');
  }
}

function decodeTool(value: JsonValue, path: string, strict: boolean | undefined): ChatTool {
  const tool = objectOf(value);
  if (tool === undefined) throw invalidField(path, 'must be an object');
  if (tool.type !== undefined && tool.type !== 'function')
    return { type: 'provider', format: formatName, value: tool, path };
  const fn = objectOf(tool.function);
  const name = stringOf(fn?.name);
  if (fn === undefined || name === undefined)
    throw invalidField(`${path}.function.name`, 'must be a string');
  const rest = compact({
    description: stringOf(fn.description),
    parameters: objectOf(fn.parameters),
    strict,
  });
  return { type: 'function', name, path, ...rest };
}

function decodeToolChoice(value: JsonValue | undefined): ChatRequest['toolChoice'] {
  if (value === 'REQUIRED') return { type: 'required' };
  return value === 'NONE' ? { type: 'none' } : undefined;
}

function decodeResponseFormat(format: JsonObject | undefined): ResponseFormat | undefined {
  if (format?.type === 'text') return { type: 'text' };
  if (format?.type !== 'json_object') return undefined;
  const schema = objectOf(format.json_schema) ?? objectOf(format.schema);
  return schema === undefined ? { type: 'json' } : { type: 'json-schema', schema };
}

function decodeReasoning(thinking: JsonObject | undefined): Reasoning | undefined {
  if (thinking === undefined) return undefined;
  const { type } = thinking;
  return compact<Reasoning>({
    mode: type === 'enabled' || type === 'disabled' ? type : undefined,
    budgetTokens: numberOf(thinking.token_budget),
  });
}
