import type {
  ChatMessage,
  ChatPart,
  ChatRequest,
  JsonObject,
  JsonValue,
  ResponseFormat,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import {
  arrayOf,
  booleanOf,
  compact,
  numberField,
  objectOf,
  stringOf,
} from '../../json/json-access.ts';
import { readReasoning } from '../read-reasoning.ts';
import { decodeCustomCall } from './custom-calls.ts';
import {
  cacheControlOf,
  decodeContent,
  decodeContentBlocks,
  googleSignatureOf,
  signatureOf,
} from './decode-parts.ts';
import { decodeTools } from './decode-tools.ts';
import { LegacyCalls } from './legacy-functions.ts';
import { formatName } from './wire.ts';

/** Fields that the chat model has a name for; all others travel as extensions. */
const knownMembers = new Set(
  `model messages stream stream_options tools tool_choice parallel_tool_calls functions
  function_call max_tokens max_completion_tokens temperature top_p top_k frequency_penalty presence_penalty logit_bias
  logprobs top_logprobs n seed stop user service_tier response_format reasoning_effort thinking
  cache_control`.split(/\s+/),
);

const messageFields = new Set(
  `role content name refusal tool_calls tool_call_id content_blocks reasoning_content reasoning
  cache_control annotations audio function_call extra_content`.split(/\s+/),
);

/** Wire → model. Dropped are fields deeper down that the model has no place for. */
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
  const legacy = new LegacyCalls();
  const request: ChatRequest = {
    model,
    messages: messages.map((message, index) => decodeMessage(message, index, legacy, dropped)),
    stream: body.stream === true,
    extensions: { format: formatName, fields },
  };
  for (const key in objectOf(body.stream_options))
    if (key !== 'include_usage') dropped.push(`stream_options.${key}`);
  const rest = {
    includeUsage: booleanOf(objectOf(body.stream_options)?.include_usage),
    ...decodeTools(body, dropped),
    outputTokensMax: numberField(body, 'max_tokens') ?? numberField(body, 'max_completion_tokens'),
    temperature: numberField(body, 'temperature'),
    topP: numberField(body, 'top_p'),
    topK: numberField(body, 'top_k'),
    frequencyPenalty: numberField(body, 'frequency_penalty'),
    presencePenalty: numberField(body, 'presence_penalty'),
    logitBias: objectOf(body.logit_bias),
    logprobs: booleanOf(body.logprobs),
    topLogprobs: numberField(body, 'top_logprobs'),
    choices: numberField(body, 'n'),
    seed: numberField(body, 'seed'),
    stop: decodeStop(body.stop),
    user: stringOf(body.user),
    serviceTier: stringOf(body.service_tier),
    responseFormat: decodeResponseFormat(objectOf(body.response_format)),
    reasoning: readReasoning(objectOf(body.thinking), stringOf(body.reasoning_effort)),
    ...cacheControlOf(body),
  };
  return { request: Object.assign(request, compact(rest)), dropped };
}

function decodeMessage(
  value: JsonValue,
  index: number,
  legacy: LegacyCalls,
  dropped: string[],
): ChatMessage {
  const path = `messages[${index}]`;
  const message = objectOf(value);
  if (message === undefined) throw invalidField(path, 'must be an object');
  for (const key in message) {
    const unknown = !messageFields.has(key) || key === 'audio';
    if (unknown && message[key] !== null) dropped.push(`${path}.${key}`);
  }
  const name = stringOf(message.name);
  const base = { path, ...(name === undefined ? {} : { name }) };
  switch (message.role) {
    case 'system':
    case 'developer':
    case 'user':
      return {
        role: message.role,
        parts: markLast(decodeContent(message.content, path), message),
        ...base,
      };
    case 'assistant':
      return { role: 'assistant', parts: assistantParts(message, path, legacy), ...base };
    case 'tool': {
      const id = stringOf(message.tool_call_id);
      if (id === undefined) throw invalidField(`${path}.tool_call_id`, 'must be a string');
      return { role: 'tool', parts: [toolResult(id, message, path)], ...base };
    }
    case 'function': {
      const id = legacy.answered(name, path);
      return { role: 'tool', parts: [toolResult(id, message, path)], path };
    }
    default:
      throw invalidField(
        `${path}.role`,
        'must be system, developer, user, assistant, tool or function',
      );
  }
}

/** A cache marker on the whole message belongs to its last part. */
function markLast(parts: ChatPart[], message: JsonObject): ChatPart[] {
  const last = parts.at(-1);
  if (last !== undefined) Object.assign(last, cacheControlOf(message));
  return parts;
}

/**
 * The signature of an answer belongs to its text, of which there may be none.
 * OpenAI's Agents write the fields of an answer into its text part, and those
 * of a call onto its message as well, where it says nothing of the text.
 */
function signTexts(parts: ChatPart[], message: JsonObject): ChatPart[] {
  for (const [index, value] of (arrayOf(message.content) ?? []).entries()) {
    const part = parts[index];
    if (part?.type === 'text') Object.assign(part, googleSignatureOf(objectOf(value) ?? {}));
  }
  const { signature } = googleSignatureOf(message);
  if (signature === undefined || isOfCall(signature, message)) return parts;
  const last = parts.at(-1);
  if (last?.type === 'text') last.signature = signature;
  else parts.push({ type: 'text', text: '', signature });
  return parts;
}

function isOfCall(signature: string, message: JsonObject): boolean {
  return (arrayOf(message.tool_calls) ?? []).some(
    (call) => googleSignatureOf(objectOf(call) ?? {}).signature === signature,
  );
}

function assistantParts(message: JsonObject, path: string, legacy: LegacyCalls): ChatPart[] {
  const blocks = arrayOf(message.content_blocks);
  const parts: ChatPart[] = [];
  if (blocks !== undefined) parts.push(...decodeContentBlocks(blocks, `${path}.content_blocks`));
  else {
    const thinking = stringOf(message.reasoning_content) ?? stringOf(message.reasoning);
    if (thinking !== undefined && thinking !== '') parts.push({ type: 'thinking', text: thinking });
    parts.push(...signTexts(markLast(decodeContent(message.content, path), message), message));
  }
  const refusal = stringOf(message.refusal);
  if (refusal !== undefined) parts.push({ type: 'refusal', text: refusal });
  for (const [index, value] of (arrayOf(message.tool_calls) ?? []).entries()) {
    const call = objectOf(value) ?? {};
    const at = `${path}.tool_calls[${index}]`;
    const custom = decodeCustomCall(call, at);
    if (custom !== undefined) {
      parts.push({ ...custom, ...cacheControlOf(call), ...googleSignatureOf(call) });
      continue;
    }
    const fn = objectOf(call.function);
    const name = stringOf(fn?.name);
    if (fn === undefined || name === undefined)
      throw invalidField(`${at}.function.name`, 'must be a string');
    parts.push({
      type: 'tool-call',
      id: stringOf(call.id) ?? '',
      name,
      arguments: stringOf(fn.arguments) ?? '',
      ...cacheControlOf(call),
      ...signatureOf(fn),
      ...googleSignatureOf(call),
    });
  }
  const called = objectOf(message.function_call);
  if (called !== undefined) parts.push(legacy.called(called, `${path}.function_call`));
  return parts;
}

function toolResult(toolCallId: string, message: JsonObject, path: string): ChatPart {
  const content = decodeContent(message.content, path).filter(
    (part) =>
      part.type === 'text' ||
      part.type === 'image' ||
      part.type === 'file' ||
      part.type === 'foreign',
  );
  return { type: 'tool-result', toolCallId, content, ...cacheControlOf(message) };
}

function decodeStop(value: JsonValue | undefined): string[] | undefined {
  if (typeof value === 'string') return [value];
  return arrayOf(value)?.filter((entry) => typeof entry === 'string');
}

function decodeResponseFormat(format: JsonObject | undefined): ResponseFormat | undefined {
  if (format?.type === 'text') return { type: 'text' };
  if (format?.type === 'json_object') {
    // Fireworks and Together take the schema so, and clients made for them send it: https://docs.fireworks.ai/structured-responses
    const bare = objectOf(format.schema);
    return bare === undefined ? { type: 'json' } : { type: 'json-schema', schema: bare };
  }
  if (format?.type !== 'json_schema') return undefined;
  const schema = objectOf(format.json_schema) ?? {};
  return {
    type: 'json-schema',
    schema: objectOf(schema.schema) ?? {},
    ...compact({
      name: stringOf(schema.name),
      description: stringOf(schema.description),
      strict: booleanOf(schema.strict),
    }),
  };
}
