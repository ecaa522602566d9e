import {
  billingLine,
  type ChatMessage,
  type ChatPart,
  type ChatRequest,
  type ChatTool,
  type JsonObject,
  type JsonValue,
  type ToolChoice,
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
import { openProof } from '../proofs.ts';
import { readReasoning } from '../read-reasoning.ts';
import { lastCompaction, lastUserMessage, toolsInForce } from './conversation-changes.ts';
import { cacheControlOf, decodeBlocks, imagesToRefuse } from './decode-blocks.ts';
import { forgetThread } from './forget-thread.ts';
import { formatName } from './wire.ts';

const knownMembers = new Set(
  `model messages system stream tools tool_choice max_tokens temperature top_p top_k stop_sequences
  thinking output_config metadata service_tier cache_control thread`.split(/\s+/),
);

/** Wire → model. */
export function decodeRequest(body: JsonObject): { request: ChatRequest; dropped: string[] } {
  const dropped: string[] = [];
  forgetThread(objectOf(body.thread), dropped);
  const model = stringOf(body.model);
  if (model === undefined) throw invalidField('model', 'must be a string');
  const messages = arrayOf(body.messages);
  if (messages === undefined) throw invalidField('messages', 'must be a list');
  const outputTokensMax = numberField(body, 'max_tokens');
  if (outputTokensMax === undefined) throw invalidField('max_tokens', 'must be a number');
  const outputConfig = { ...objectOf(body.output_config) };
  const format = objectOf(outputConfig.format);
  const reasoning = readReasoning(objectOf(body.thinking), stringOf(outputConfig.effort));
  delete outputConfig.format;
  delete outputConfig.effort;
  const fields: JsonObject = {};
  for (const key in body) {
    const value = body[key];
    if (!knownMembers.has(key) && value !== null && value !== undefined) fields[key] = value;
  }
  if (Object.keys(outputConfig).length > 0) fields.output_config = outputConfig;
  for (const key in objectOf(body.metadata)) if (key !== 'user_id') dropped.push(`metadata.${key}`);

  const system = withoutBillingLine(decodeBlocks(body.system, 'system'), dropped);
  const decoded: ChatMessage[] =
    system.length === 0 ? [] : [{ role: 'system', parts: system, path: 'system' }];
  decoded.push(...decodeConversation(messages, dropped));
  const choice = objectOf(body.tool_choice);
  const rest = {
    includeUsage: true,
    tools: toolsInForce(body, dropped)?.map(({ tool, path }) => decodeTool(tool, path)),
    toolChoice: decodeToolChoice(choice),
    parallelToolCalls: choice?.disable_parallel_tool_use === true ? false : undefined,
    outputTokensMax,
    temperature: numberField(body, 'temperature'),
    topP: numberField(body, 'top_p'),
    topK: numberField(body, 'top_k'),
    stop: arrayOf(body.stop_sequences)?.filter((entry) => typeof entry === 'string'),
    user: stringOf(objectOf(body.metadata)?.user_id),
    serviceTier: stringOf(body.service_tier),
    responseFormat:
      format?.type === 'json_schema'
        ? { type: 'json-schema' as const, schema: objectOf(format.schema) ?? {} }
        : undefined,
    reasoning,
    ...cacheControlOf(body),
  };
  const request: ChatRequest = {
    model,
    messages: decoded,
    stream: body.stream === true,
    extensions: { format: formatName, fields },
    ...compact(rest),
  };
  return { request, dropped };
}

/**
 * The line means nothing to another vendor, and is another with each request: no
 * cache of theirs would ever know the beginning of the prompt.
 */
function withoutBillingLine(parts: ChatPart[], dropped: string[]): ChatPart[] {
  return parts.flatMap((part) => {
    if (part.type !== 'text' || !billingLine.test(part.text)) return part;
    dropped.push('system.x-anthropic-billing-header');
    const text = part.text.replace(billingLine, '');
    return text === '' ? [] : { ...part, text };
  });
}

/** What the vendor would show its model: from the last compaction on, without what was said for an earlier turn alone. */
function decodeConversation(messages: readonly JsonValue[], dropped: string[]): ChatMessage[] {
  const compacted = lastCompaction(messages);
  const lastUser = lastUserMessage(messages);
  const decoded: ChatMessage[] = [];
  if (compacted !== undefined) {
    const path = `messages[${compacted.message}].content[${compacted.block}]`;
    decoded.push({ role: 'user', parts: [{ type: 'text', text: compacted.summary }], path });
  }
  for (const [index, value] of messages.entries()) {
    if (compacted !== undefined && index < compacted.message) continue;
    const message = objectOf(value);
    if (message?.clear_at === 'next_user_message' && index < lastUser) continue;
    if (message?.output_config != null) dropped.push(`messages[${index}].output_config`);
    dropped.push(...new Set(imagesToRefuse(message?.content, `messages[${index}]`)));
    const from = index === compacted?.message ? compacted.block + 1 : 0;
    for (const entry of decodeMessage(value, index, from))
      if (entry.parts.length > 0 || from === 0) decoded.push(entry);
  }
  return decoded;
}

/** A user turn with tool results is two of our messages: the results, and the rest. */
function decodeMessage(value: JsonValue, index: number, from: number): ChatMessage[] {
  const path = `messages[${index}]`;
  const message = objectOf(value);
  if (message === undefined) throw invalidField(path, 'must be an object');
  const { role } = message;
  if (role !== 'user' && role !== 'assistant' && role !== 'system')
    throw invalidField(`${path}.role`, 'must be user or assistant');
  const parts = decodeBlocks(message.content, path, from);
  // Tools may be all that it brings.
  if (role === 'system' && parts.length === 0) return [];
  if (role === 'assistant') return [{ role, parts: signParts(parts), path }];
  if (role !== 'user') return [{ role, parts, path }];
  const results: ChatPart[] = [];
  const rest: ChatPart[] = [];
  for (const part of parts) (part.type === 'tool-result' ? results : rest).push(part);
  const messages: ChatMessage[] = [];
  if (results.length > 0) messages.push({ role: 'tool', parts: results, path });
  if (rest.length > 0 || results.length === 0) messages.push({ role: 'user', parts: rest, path });
  return messages;
}

/** A thought's signature may prove the call or text after it: see `encodeContent` of replies. */
function signParts(parts: ChatPart[]): ChatPart[] {
  const signed: ChatPart[] = [];
  let call: string | undefined;
  let text: string | undefined;
  for (const part of parts) {
    if (part.type === 'thinking' && provesNext(part.signature)) {
      call = openProof('geminiCall', part.signature);
      text = openProof('geminiText', part.signature);
      if (part.text !== '') signed.push({ type: 'thinking', text: part.text });
    } else if (part.type === 'thinking' && openProof('geminiTold', part.signature) !== undefined) {
      signTold(signed, openProof('geminiTold', part.signature));
    } else if (part.type === 'tool-call' && call !== undefined) {
      signed.push({ ...part, signature: call });
      call = undefined;
    } else if (part.type === 'text' && text !== undefined) {
      signed.push({ ...part, signature: text });
      text = undefined;
    } else signed.push(part);
  }
  return signed;
}

/** The proof of a text that was streamed comes behind it. */
function signTold(parts: ChatPart[], signature: string | undefined): void {
  const last = parts.findLastIndex(({ type }) => type === 'text');
  const text = parts[last];
  if (text?.type === 'text') parts[last] = { ...text, signature };
}

function provesNext(marked: string | undefined): boolean {
  return (openProof('geminiCall', marked) ?? openProof('geminiText', marked)) !== undefined;
}

const toolFields = new Set([
  'type',
  'name',
  'description',
  'input_schema',
  'strict',
  'cache_control',
]);

function decodeTool(value: JsonValue, path: string): ChatTool {
  const tool = objectOf(value);
  if (tool === undefined) throw invalidField(path, 'must be an object');
  const name = stringOf(tool.name);
  if (tool.type !== undefined && tool.type !== 'custom')
    return { type: 'provider', format: formatName, value: tool, path };
  if (name === undefined) throw invalidField(`${path}.name`, 'must be a string');
  const extensions: JsonObject = {};
  for (const key in tool) {
    const field = tool[key];
    if (!toolFields.has(key) && field !== undefined) extensions[key] = field;
  }
  return {
    type: 'function',
    name,
    path,
    ...compact({
      description: stringOf(tool.description),
      parameters: objectOf(tool.input_schema),
      strict: booleanOf(tool.strict),
      extensions: Object.keys(extensions).length === 0 ? undefined : extensions,
    }),
    ...cacheControlOf(tool),
  };
}

function decodeToolChoice(choice: JsonObject | undefined): ToolChoice | undefined {
  switch (choice?.type) {
    case 'none':
    case 'auto':
      return { type: choice.type };
    case 'any':
      return { type: 'required' };
    case 'tool':
      return { type: 'tool', name: stringOf(choice.name) ?? '' };
    default:
      return undefined;
  }
}
