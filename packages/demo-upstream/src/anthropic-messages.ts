// Wire format: https://docs.anthropic.com/en/api/messages

import { type AnswerText, answerTo, answerWith, tokensIn } from './answer-text.ts';
import { askedTools } from './asked-tools.ts';
import {
  type DemoAnswer,
  type DemoBody,
  type DemoContext,
  isObject,
  type JsonObject,
  type Vendor,
  VendorFault,
} from './protocol.ts';
import { sampleFor } from './schema-sample.ts';

const errorTypes: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** Errors as https://docs.anthropic.com/en/api/errors has them. */
export const anthropicVendor: Vendor = {
  parseBody(text, request) {
    if (request?.headers['anthropic-version'] === undefined)
      throw new VendorFault(400, 'anthropic-version: header is required');
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      throw new VendorFault(400, 'The request body is not valid JSON');
    }
    if (!isObject(body)) throw new VendorFault(400, 'Input should be a valid dictionary');
    if (body.model === undefined) throw new VendorFault(400, 'model: Field required');
    if (typeof body.model !== 'string')
      throw new VendorFault(400, 'model: Input should be a valid string');
    return body as typeof body & { model: string };
  },
  scriptedFault(status) {
    if (status === 429)
      return new VendorFault(429, 'This request would exceed the rate limit.', {
        headers: { 'retry-after': '1' },
      });
    if (status === 529) return new VendorFault(529, 'Overloaded');
    if (status >= 500) return new VendorFault(status, 'Internal server error');
    return new VendorFault(status, `The demo model was asked to answer with ${status}.`);
  },
  errorBody(fault) {
    const type =
      errorTypes[fault.status] ?? (fault.status >= 500 ? 'api_error' : 'invalid_request_error');
    return { type: 'error', error: { type, message: fault.message }, request_id: 'req_demo' };
  },
};

type Block =
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'text'; answer: AnswerText }
  | { type: 'tool_use'; id: string; name: string; input: unknown };

const thinkingText = 'The user wants an answer. I will repeat what was said.';
const thinkingSignature = Buffer.from('sluice demo signature').toString('base64');

export function countTokens(body: DemoBody): DemoAnswer {
  return { kind: 'json', body: { input_tokens: countInput(body, checkMessages(body.messages)) } };
}

export function createMessage(body: DemoBody, context: DemoContext): DemoAnswer {
  if (body.max_tokens === undefined) throw new VendorFault(400, 'max_tokens: Field required');
  if (typeof body.max_tokens !== 'number' || body.max_tokens < 1)
    throw new VendorFault(400, 'max_tokens: Input should be greater than or equal to 1');
  const messages = checkMessages(body.messages);
  const thinking = thinkingBudget(body.thinking, body.max_tokens);
  const blocks = answerMessage(body, messages, context, body.max_tokens);
  if (thinking)
    blocks.unshift({ type: 'thinking', thinking: thinkingText, signature: thinkingSignature });

  const inputTokens = countInput(body, messages);
  const answer: MessageAnswer = {
    id: `msg_demo${(context.bytes + inputTokens * 65_536).toString(36)}`,
    model: body.model,
    blocks,
    stopReason: stopReason(blocks),
    usage: {
      input_tokens: inputTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: blocks.reduce((sum, block) => sum + tokensOf(block), 0),
    },
  };
  return body.stream === true
    ? { kind: 'sse', events: streamMessage(answer), eventDelayMs: context.script.eventDelayMs }
    : { kind: 'json', body: wholeMessage(answer) };
}

interface MessageAnswer {
  id: string;
  model: string;
  blocks: Block[];
  stopReason: string;
  usage: {
    input_tokens: number;
    cache_creation_input_tokens: number;
    cache_read_input_tokens: number;
    output_tokens: number;
  };
}

function checkMessages(messages: unknown): JsonObject[] {
  if (messages === undefined) throw new VendorFault(400, 'messages: Field required');
  if (!Array.isArray(messages))
    throw new VendorFault(400, 'messages: Input should be a valid list');
  if (messages.length === 0)
    throw new VendorFault(400, 'messages: at least one message is required');
  for (const [index, message] of messages.entries()) {
    if (!isObject(message))
      throw new VendorFault(400, `messages.${index}: Input should be a valid dictionary`);
    if (message.role !== 'user' && message.role !== 'assistant')
      throw new VendorFault(
        400,
        `messages: Unexpected role "${String(message.role)}". Allowed roles are "user" or "assistant"`,
      );
    if (message.content === undefined)
      throw new VendorFault(400, `messages.${index}.content: Field required`);
  }
  return messages as JsonObject[];
}

/** Whether to think. @throws VendorFault when the budget breaks the vendor's rules. */
function thinkingBudget(thinking: unknown, maxTokens: number): boolean {
  if (!isObject(thinking) || thinking.type === 'disabled') return false;
  if (thinking.type !== 'enabled') return true;
  if (typeof thinking.budget_tokens !== 'number')
    throw new VendorFault(400, 'thinking.enabled.budget_tokens: Field required');
  if (thinking.budget_tokens < 1024)
    throw new VendorFault(
      400,
      'thinking.enabled.budget_tokens: Input should be greater than or equal to 1024',
    );
  if (thinking.budget_tokens >= maxTokens)
    throw new VendorFault(400, '`max_tokens` must be greater than `thinking.budget_tokens`.');
  return true;
}

function answerMessage(
  body: DemoBody,
  messages: JsonObject[],
  context: DemoContext,
  maxTokens: number,
): Block[] {
  const last = messages.at(-1) as JsonObject;
  const parts = Array.isArray(last.content) ? (last.content as unknown[]).filter(isObject) : [];
  const text =
    typeof last.content === 'string'
      ? last.content
      : parts.map((part) => String(part.text ?? '')).join('');
  const results = parts.filter((part) => part.type === 'tool_result');
  if (results.length > 0 && last.role === 'user') {
    const contents = results.map((part) => resultText(part.content)).join(', ');
    return [{ type: 'text', answer: answerWith(`The tool said: ${contents}`, maxTokens) }];
  }
  const tools = last.role === 'user' ? chosenTools(body, text) : [];
  if (tools.length === 0)
    return [{ type: 'text', answer: answerTo(text, context.script, maxTokens) }];
  return tools.map((tool, index) => ({
    type: 'tool_use',
    id: `toolu_demo${index}`,
    name: String(tool.name),
    input: sampleFor(tool.input_schema, text === '' ? 'example' : text),
  }));
}

function resultText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (isObject(part) && typeof part.text === 'string' ? part.text : ''))
    .join('');
}

/** @throws VendorFault */
function chosenTools(body: DemoBody, text: string): JsonObject[] {
  if (body.tools === undefined) return [];
  if (!Array.isArray(body.tools)) throw new VendorFault(400, 'tools: Input should be a valid list');
  const tools = body.tools.map((tool: unknown, index) => {
    if (!isObject(tool) || typeof tool.name !== 'string')
      throw new VendorFault(400, `tools.${index}.name: Field required`);
    return tool;
  });
  const choice = isObject(body.tool_choice) ? body.tool_choice : {};
  if (choice.type === 'none') return [];
  if (choice.type === 'tool') {
    const named = tools.filter((tool) => tool.name === choice.name);
    if (named.length === 0)
      throw new VendorFault(400, `Tool '${String(choice.name)}' not found in provided tools`);
    return named;
  }
  const mayBeSeveral = choice.disable_parallel_tool_use !== true;
  return askedTools(tools, (tool) => String(tool.name), text, mayBeSeveral);
}

function countInput(body: DemoBody, messages: JsonObject[]): number {
  let characters = 0;
  for (const message of messages)
    characters +=
      8 +
      (typeof message.content === 'string'
        ? message.content.length
        : JSON.stringify(message.content).length);
  if (body.system !== undefined)
    characters +=
      typeof body.system === 'string' ? body.system.length : JSON.stringify(body.system).length;
  if (body.tools !== undefined) characters += JSON.stringify(body.tools).length;
  return Math.ceil(characters / 4);
}

function tokensOf(block: Block): number {
  if (block.type === 'text') return block.answer.tokens;
  if (block.type === 'thinking') return tokensIn(block.thinking);
  return tokensIn(block.name) + tokensIn(JSON.stringify(block.input));
}

function stopReason(blocks: readonly Block[]): string {
  if (blocks.some((block) => block.type === 'tool_use')) return 'tool_use';
  return blocks.some((block) => block.type === 'text' && block.answer.isCut)
    ? 'max_tokens'
    : 'end_turn';
}

function wholeMessage({ id, model, blocks, stopReason: reason, usage }: MessageAnswer): JsonObject {
  const content = blocks.map((block) =>
    block.type === 'text' ? { type: 'text', text: block.answer.pieces.join('') } : block,
  );
  return {
    id,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: reason,
    stop_sequence: null,
    usage,
  };
}

function* streamMessage(answer: MessageAnswer): Generator<string> {
  const usage = { ...answer.usage, output_tokens: 1 };
  const opened = { ...wholeMessage({ ...answer, blocks: [] }), stop_reason: null, usage };
  yield event('message_start', { message: opened });
  for (const [index, block] of answer.blocks.entries()) {
    yield event('content_block_start', { index, content_block: emptyBlock(block) });
    if (index === 0) yield event('ping', {});
    for (const delta of deltasOf(block))
      yield `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":${delta}}\n\n`;
    yield event('content_block_stop', { index });
  }
  const delta = { stop_reason: answer.stopReason, stop_sequence: null };
  yield event('message_delta', { delta, usage: { output_tokens: answer.usage.output_tokens } });
  yield event('message_stop', {});
}

function event(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function emptyBlock(block: Block): JsonObject {
  if (block.type === 'text') return { type: 'text', text: '' };
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  return { type: 'tool_use', id: block.id, name: block.name, input: {} };
}

function* deltasOf(block: Block): Generator<string> {
  if (block.type === 'text') {
    for (const piece of block.answer.pieces)
      yield `{"type":"text_delta","text":${JSON.stringify(piece)}}`;
  } else if (block.type === 'thinking') {
    for (const thinking of block.thinking.match(/\s*\S+/g) ?? [])
      yield JSON.stringify({ type: 'thinking_delta', thinking });
    yield JSON.stringify({ type: 'signature_delta', signature: block.signature });
  } else {
    yield '{"type":"input_json_delta","partial_json":""}';
    for (const piece of JSON.stringify(block.input).match(/[\s\S]{1,12}/g) ?? [])
      yield JSON.stringify({ type: 'input_json_delta', partial_json: piece });
  }
}
