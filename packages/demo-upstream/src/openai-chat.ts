// Wire format: https://platform.openai.com/docs/api-reference/chat

import { type AnswerText, answerTo, answerWith, tokensIn } from './answer-text.ts';
import { askedTools } from './asked-tools.ts';
import { createdAt, invalidType, missing, optionalNumber } from './openai-vendor.ts';
import {
  type DemoAnswer,
  type DemoBody,
  type DemoContext,
  isObject,
  type JsonObject,
  VendorFault,
} from './protocol.ts';
import { sampleFor } from './schema-sample.ts';

const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool', 'function']);

interface ToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

type ChatResult =
  | { kind: 'text'; answer: AnswerText }
  | { kind: 'tools'; calls: ToolCall[]; tokens: number };

export function createChatCompletion(body: DemoBody, context: DemoContext): DemoAnswer {
  const messages = checkMessages(body.messages);
  const choices = optionalNumber(body.n, 'n', 1, 128) ?? 1;
  const tokensMax =
    optionalNumber(body.max_completion_tokens, 'max_completion_tokens', 1) ??
    optionalNumber(body.max_tokens, 'max_tokens', 1);
  optionalNumber(body.temperature, 'temperature', 0, 2);
  if (body.stream_options !== undefined && body.stream !== true)
    throw new VendorFault(
      400,
      "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
      { param: 'stream_options' },
    );

  const result = answerChat(body, messages, context, tokensMax);
  const promptTokens = countPrompt(messages);
  const completionTokens =
    choices * (result.kind === 'text' ? result.answer.tokens : result.tokens);
  const usage = {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: 0,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
  const id = `chatcmpl-demo${(context.bytes + promptTokens * 65_536).toString(36)}`;
  if (body.stream === true) {
    const includeUsage =
      isObject(body.stream_options) && body.stream_options.include_usage === true;
    return {
      kind: 'sse',
      events: streamChat({
        id,
        model: body.model,
        choices,
        result,
        usage: includeUsage ? usage : undefined,
      }),
      eventDelayMs: context.script.eventDelayMs,
    };
  }
  const message = wholeMessage(result);
  const finish = finishReason(result);
  return {
    kind: 'json',
    body: {
      id,
      object: 'chat.completion',
      created: createdAt,
      model: body.model,
      choices: Array.from({ length: choices }, (_, index) => ({
        index,
        message,
        logprobs: null,
        finish_reason: finish,
      })),
      usage,
      service_tier: 'default',
      system_fingerprint: 'fp_demo',
    },
  };
}

function checkMessages(messages: unknown): JsonObject[] {
  if (messages === undefined) throw missing('messages');
  if (!Array.isArray(messages)) throw invalidType('messages', 'an array of objects', messages);
  if (messages.length === 0)
    throw new VendorFault(
      400,
      "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
      {
        param: 'messages',
        code: 'empty_array',
      },
    );
  for (const [index, message] of messages.entries()) {
    if (!isObject(message)) throw invalidType(`messages[${index}]`, 'an object', message);
    if (!roles.has(String(message.role)))
      throw new VendorFault(
        400,
        `Invalid value: '${String(message.role)}'. Supported values are: ${[...roles].map((role) => `'${role}'`).join(', ')}.`,
        {
          param: `messages[${index}].role`,
          code: 'invalid_value',
        },
      );
    if (message.role === 'tool' && typeof message.tool_call_id !== 'string')
      throw missing(`messages[${index}].tool_call_id`);
  }
  return messages as JsonObject[];
}

function answerChat(
  body: DemoBody,
  messages: JsonObject[],
  context: DemoContext,
  tokensMax: number | undefined,
): ChatResult {
  const last = messages.at(-1) as JsonObject;
  const text = textOf(last.content);
  const tools = chosenTools(body);
  if (tools.length > 0 && last.role === 'user') {
    const calls = tools.map((tool, index): ToolCall => {
      const parameters = sampleFor(
        tool.parameters ?? { type: 'object', properties: {} },
        text === '' ? 'example' : text,
      );
      return {
        id: `call_demo${index}`,
        type: 'function',
        function: { name: String(tool.name), arguments: JSON.stringify(parameters) },
      };
    });
    return {
      kind: 'tools',
      calls,
      tokens: calls.reduce(
        (sum, call) => sum + tokensIn(call.function.name + call.function.arguments),
        0,
      ),
    };
  }
  if (last.role === 'tool')
    return { kind: 'text', answer: answerWith(`The tool said: ${text}`, tokensMax) };
  const json = jsonAnswer(body.response_format, text);
  return {
    kind: 'text',
    answer:
      json === undefined ? answerTo(text, context.script, tokensMax) : answerWith(json, tokensMax),
  };
}

/** @throws VendorFault */
function chosenTools(body: DemoBody): JsonObject[] {
  if (body.tools === undefined || body.tool_choice === 'none') return [];
  if (!Array.isArray(body.tools)) throw invalidType('tools', 'an array of objects', body.tools);
  const functions = body.tools.map((tool: unknown, index) => {
    if (!isObject(tool) || !isObject(tool.function) || typeof tool.function.name !== 'string')
      throw missing(`tools[${index}].function.name`);
    return tool.function;
  });
  const wanted =
    isObject(body.tool_choice) && isObject(body.tool_choice.function)
      ? body.tool_choice.function.name
      : undefined;
  if (wanted !== undefined) {
    const named = functions.filter((tool) => tool.name === wanted);
    if (named.length === 0)
      throw new VendorFault(
        400,
        `Tool choice '${String(wanted)}' not found in 'tools' parameter.`,
        { param: 'tool_choice' },
      );
    return named;
  }
  const last = Array.isArray(body.messages) ? (body.messages.at(-1) as unknown) : undefined;
  const prompt = isObject(last) ? textOf(last.content) : '';
  const mayBeSeveral = body.parallel_tool_calls !== false;
  return askedTools(functions, (tool) => String(tool.name), prompt, mayBeSeveral);
}

function jsonAnswer(format: unknown, hint: string): string | undefined {
  if (!isObject(format)) return undefined;
  if (format.type === 'json_schema' && isObject(format.json_schema))
    return JSON.stringify(sampleFor(format.json_schema.schema, hint === '' ? 'example' : hint));
  return format.type === 'json_object' ? JSON.stringify({ answer: hint }) : undefined;
}

/** Text of a string or of the text parts of an array. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content
    .map((part: unknown) => (isObject(part) && typeof part.text === 'string' ? part.text : ''))
    .join('');
}

function countPrompt(messages: JsonObject[]): number {
  let characters = 0;
  for (const message of messages) {
    characters += textOf(message.content).length + 8;
    if (message.tool_calls !== undefined) characters += JSON.stringify(message.tool_calls).length;
  }
  return Math.ceil(characters / 4);
}

function wholeMessage(result: ChatResult): JsonObject {
  return result.kind === 'text'
    ? { role: 'assistant', content: result.answer.pieces.join(''), refusal: null, annotations: [] }
    : {
        role: 'assistant',
        content: null,
        tool_calls: result.calls,
        refusal: null,
        annotations: [],
      };
}

function finishReason(result: ChatResult): string {
  if (result.kind === 'tools') return 'tool_calls';
  return result.answer.isCut ? 'length' : 'stop';
}

function* streamChat(stream: {
  id: string;
  model: string;
  choices: number;
  result: ChatResult;
  usage: JsonObject | undefined;
}): Generator<string> {
  const usageField = stream.usage === undefined ? '' : ',"usage":null';
  const head = `data: {"id":${JSON.stringify(stream.id)},"object":"chat.completion.chunk","created":${createdAt},"model":${JSON.stringify(stream.model)},"service_tier":"default","system_fingerprint":"fp_demo","choices":[`;
  const event = (index: number, delta: string, finish: string | null) =>
    `${head}{"index":${index},"delta":${delta},"logprobs":null,"finish_reason":${finish === null ? 'null' : `"${finish}"`}}]${usageField}}\n\n`;
  for (let index = 0; index < stream.choices; index += 1) {
    if (stream.result.kind === 'text') {
      yield event(index, '{"role":"assistant","content":"","refusal":null}', null);
      for (const piece of stream.result.answer.pieces)
        yield event(index, `{"content":${JSON.stringify(piece)}}`, null);
    } else {
      yield event(index, '{"role":"assistant","content":null,"refusal":null}', null);
      for (const delta of toolDeltas(stream.result.calls)) yield event(index, delta, null);
    }
    yield event(index, '{}', finishReason(stream.result));
  }
  if (stream.usage !== undefined) yield `${head}],"usage":${JSON.stringify(stream.usage)}}\n\n`;
  yield 'data: [DONE]\n\n';
}

/** The name first, then the arguments in pieces, as the vendor streams them. */
function* toolDeltas(calls: readonly ToolCall[]): Generator<string> {
  for (const [index, call] of calls.entries()) {
    const opened = {
      index,
      id: call.id,
      type: call.type,
      function: { name: call.function.name, arguments: '' },
    };
    yield JSON.stringify({ tool_calls: [opened] });
    for (const piece of call.function.arguments.match(/[\s\S]{1,12}/g) ?? [])
      yield JSON.stringify({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
}
