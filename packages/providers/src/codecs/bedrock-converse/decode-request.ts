import type {
  ChatMessage,
  ChatPart,
  ChatRequest,
  ChatTool,
  JsonObject,
  JsonValue,
  Reasoning,
  ResponseFormat,
  ToolChoice,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import {
  arrayOf,
  booleanOf,
  compact,
  numberOf,
  objectOf,
  parseObject,
  stringOf,
} from '../../json/json-access.ts';
import { readReasoning } from '../read-reasoning.ts';
import { decodeBlocks } from './decode-blocks.ts';
import { takeModelFields } from './decode-model-fields.ts';
import { decodeCachePoint, formatName } from './wire.ts';

const knownMembers = new Set(
  `messages system inferenceConfig toolConfig outputConfig serviceTier requestMetadata
  additionalModelRequestFields`.split(/\s+/),
);

/** Wire → model. What the address says – the model, and whether to stream – is not here. */
export function decodeRequest(body: JsonObject): { request: ChatRequest; dropped: string[] } {
  const messages = arrayOf(body.messages);
  if (messages === undefined) throw invalidField('messages', 'must be a list');
  const inference = objectOf(body.inferenceConfig) ?? {};
  const additional = { ...objectOf(body.additionalModelRequestFields) };
  const metadata = { ...objectOf(body.requestMetadata) };
  const toolConfig = objectOf(body.toolConfig);
  const { effort, user, ...sampling } = takeModelFields(additional);
  const system = decodeBlocks(body.system, 'system');
  const decoded: ChatMessage[] =
    system.length === 0 ? [] : [{ role: 'system', parts: system, path: 'system' }];
  for (const [index, value] of messages.entries()) decoded.push(...decodeMessage(value, index));
  const rest = compact({
    tools: decodeTools(arrayOf(toolConfig?.tools), arrayOf(take(additional, 'tools'))),
    toolChoice: decodeToolChoice(objectOf(toolConfig?.toolChoice)),
    outputTokensMax: numberOf(inference.maxTokens),
    temperature: numberOf(inference.temperature),
    topP: numberOf(inference.topP),
    stop: arrayOf(inference.stopSequences)?.filter((entry) => typeof entry === 'string'),
    user: user ?? stringOf(take(metadata, 'user_id')),
    serviceTier: stringOf(objectOf(body.serviceTier)?.type),
    responseFormat: decodeOutput(objectOf(body.outputConfig)),
    reasoning: decodeReasoning(additional, effort),
    ...sampling,
  });
  const fields: JsonObject = {};
  for (const key in body) if (!knownMembers.has(key)) fields[key] = body[key] as JsonValue;
  if (Object.keys(metadata).length > 0) fields.metadata = metadata;
  if (Object.keys(additional).length > 0) fields.additionalModelRequestFields = additional;
  const extensions = { format: formatName, fields };
  const request: ChatRequest = { model: '', messages: decoded, stream: false, extensions, ...rest };
  return { request, dropped: [] };
}

function take(fields: JsonObject, key: string): JsonValue | undefined {
  const value = fields[key];
  delete fields[key];
  return value;
}

/** A user turn with tool results is two of our messages: the results, and the rest. */
function decodeMessage(value: JsonValue, index: number): ChatMessage[] {
  const path = `messages[${index}]`;
  const message = objectOf(value);
  const role = message?.role;
  if (role !== 'user' && role !== 'assistant')
    throw invalidField(`${path}.role`, 'must be user or assistant');
  const parts = decodeBlocks(message?.content, `${path}.content`);
  if (role === 'assistant') return [{ role, parts, path }];
  const results: ChatPart[] = [];
  const rest: ChatPart[] = [];
  for (const part of parts) (part.type === 'tool-result' ? results : rest).push(part);
  const messages: ChatMessage[] = [];
  if (results.length > 0) messages.push({ role: 'tool', parts: results, path });
  if (rest.length > 0 || results.length === 0) messages.push({ role, parts: rest, path });
  return messages;
}

function decodeTools(
  tools: JsonValue[] | undefined,
  modelTools: JsonValue[] | undefined,
): ChatTool[] | undefined {
  if (tools === undefined && modelTools === undefined) return undefined;
  const decoded: ChatTool[] = [];
  for (const [index, value] of (tools ?? []).entries()) {
    const path = `toolConfig.tools[${index}]`;
    const tool = objectOf(value);
    if (tool === undefined) throw invalidField(path, 'must be an object');
    const cacheControl = decodeCachePoint(tool);
    const last = decoded.at(-1);
    if (cacheControl !== undefined && last !== undefined) Object.assign(last, { cacheControl });
    else decoded.push(decodeTool(tool, path));
  }
  for (const [index, value] of (modelTools ?? []).entries()) {
    const path = `additionalModelRequestFields.tools[${index}]`;
    decoded.push({
      type: 'provider',
      format: 'anthropic-messages',
      value: objectOf(value) ?? {},
      path,
    });
  }
  return decoded;
}

function decodeTool(tool: JsonObject, path: string): ChatTool {
  const spec = objectOf(tool.toolSpec);
  if (spec === undefined) return { type: 'provider', format: formatName, value: tool, path };
  const name = stringOf(spec.name);
  if (name === undefined) throw invalidField(`${path}.toolSpec.name`, 'must be a string');
  const rest = compact({
    description: stringOf(spec.description),
    parameters: objectOf(objectOf(spec.inputSchema)?.json),
    strict: booleanOf(spec.strict),
  });
  return { type: 'function', name, path, ...rest };
}

function decodeToolChoice(choice: JsonObject | undefined): ToolChoice | undefined {
  if (choice === undefined) return undefined;
  if (choice.auto !== undefined) return { type: 'auto' };
  if (choice.any !== undefined) return { type: 'required' };
  const name = stringOf(objectOf(choice.tool)?.name);
  return name === undefined ? undefined : { type: 'tool', name };
}

function decodeOutput(config: JsonObject | undefined): ResponseFormat | undefined {
  const format = objectOf(config?.textFormat);
  const definition = objectOf(objectOf(format?.structure)?.jsonSchema);
  if (definition === undefined) return undefined;
  return {
    type: 'json-schema',
    schema: parseObject(stringOf(definition.schema) ?? '') ?? {},
    ...compact({ name: stringOf(definition.name), description: stringOf(definition.description) }),
  };
}

function decodeReasoning(
  additional: JsonObject,
  effort: string | undefined,
): Reasoning | undefined {
  const decoded = readReasoning(objectOf(take(additional, 'thinking')), effort);
  return decoded === undefined || Object.keys(decoded).length === 0 ? undefined : decoded;
}
