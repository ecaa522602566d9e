// Wire format: https://platform.openai.com/docs/api-reference/responses

import { answerTo, answerWith, tokensIn } from './answer-text.ts';
import { askedTools } from './asked-tools.ts';
import { createdAt, invalidType, missing, optionalNumber } from './openai-vendor.ts';
import {
  type DemoBody,
  type DemoContext,
  isObject,
  type JsonObject,
  VendorFault,
} from './protocol.ts';
import type { DemoItem } from './responses-stream.ts';
import { sampleFor } from './schema-sample.ts';

const thought = 'The user wants an answer. I will repeat what was said.';
const encryptedThought = Buffer.from('sluice demo thought').toString('base64');

/** A response and the items of its output before they are written. */
export interface MadeResponse {
  readonly response: JsonObject;
  readonly items: DemoItem[];
}

/** What a model is told for a response. */
export interface Told {
  /** What was said in earlier turns. */
  readonly before: readonly JsonObject[];
  readonly input: readonly JsonObject[];
}

/** What tells a response from one that was asked for by the same request. */
export interface Identity {
  readonly id: string;
  readonly createdAtS: number;
  readonly completedAtS: number;
}

/**
 * @param identity of one that is kept; without it the answer to the same request is the same
 * @throws VendorFault
 */
export function makeResponse(
  body: DemoBody,
  told: Told,
  context: DemoContext,
  identity?: Identity,
): MadeResponse {
  if (body.prompt !== undefined && body.prompt !== null)
    throw new VendorFault(404, "Nothing is stored here that 'prompt' could refer to.", {
      param: 'prompt',
    });
  const tokensMax = optionalNumber(body.max_output_tokens, 'max_output_tokens', 1);
  optionalNumber(body.temperature, 'temperature', 0, 2);
  const said = [...told.before, ...told.input];
  const items = [...thoughts(body), ...answer(body, said, context, tokensMax)];
  return { response: describeResponse(body, told, items, context, identity), items };
}

/** Tokens of what the model is told. */
export function inputTokens(body: JsonObject, { before, input }: Told): number {
  const earlier = before.length === 0 ? 0 : JSON.stringify(before).length;
  const said = JSON.stringify(input).length + String(body.instructions ?? '').length;
  return Math.ceil((earlier + said) / 4);
}

/** A request's own input as items. @throws VendorFault */
export function readInput(input: unknown): JsonObject[] {
  if (input === undefined) throw missing('input');
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!Array.isArray(input)) throw invalidType('input', 'an array of input items', input);
  for (const [index, item] of input.entries()) {
    if (!isObject(item)) throw invalidType(`input[${index}]`, 'an object', item);
    const type = item.type ?? 'message';
    if (type === 'message' && item.content === undefined) throw missing(`input[${index}].content`);
    if (type === 'function_call_output' && typeof item.call_id !== 'string')
      throw missing(`input[${index}].call_id`);
  }
  return input as JsonObject[];
}

/** A model that is asked to reason does, and shows of it what was asked for. */
function thoughts(body: DemoBody): DemoItem[] {
  const reasoning = isObject(body.reasoning) ? body.reasoning : {};
  if (typeof reasoning.effort !== 'string' || reasoning.effort === 'none') return [];
  const wanted = Array.isArray(body.include) ? body.include : [];
  return [
    {
      kind: 'thought',
      summary: typeof reasoning.summary === 'string' ? thought : undefined,
      encrypted: wanted.includes('reasoning.encrypted_content') ? encryptedThought : undefined,
    },
  ];
}

function answer(
  body: DemoBody,
  said: readonly JsonObject[],
  context: DemoContext,
  tokensMax: number | undefined,
): DemoItem[] {
  const last = said.at(-1) ?? {};
  if (last.type === 'function_call_output') {
    const results = said.slice(said.findLastIndex(({ type }) => type !== last.type) + 1);
    const outputs = results.map((item) => textOf(item.output)).join(', ');
    return [{ kind: 'text', answer: answerWith(`The tool said: ${outputs}`, tokensMax) }];
  }
  const text = textOf(last.content);
  const tools = chosenTools(body, text);
  if (tools.length > 0 && last.role === 'user')
    return tools.map(({ name, namespace, parameters }) => ({
      kind: 'call',
      name: String(name),
      ...(typeof namespace === 'string' ? { namespace } : {}),
      arguments: JSON.stringify(
        sampleFor(parameters ?? { type: 'object', properties: {} }, text || 'example'),
      ),
    }));
  const json = jsonAnswer(body.text, text);
  const answered =
    json === undefined ? answerTo(text, context.script, tokensMax) : answerWith(json, tokensMax);
  return [{ kind: 'text', answer: answered }];
}

/** Those that a caller runs; the vendor's own, such as its search, are never called. @throws VendorFault */
function chosenTools(body: DemoBody, text: string): JsonObject[] {
  if (body.tools === undefined || body.tool_choice === 'none') return [];
  if (!Array.isArray(body.tools)) throw invalidType('tools', 'an array of objects', body.tools);
  const tools = body.tools.flatMap((tool: unknown, index) => callable(tool, `tools[${index}]`));
  if (isObject(body.tool_choice) && body.tool_choice.type === 'function') {
    const { name } = body.tool_choice;
    const named = tools.filter((tool) => tool.name === name);
    if (named.length > 0) return named;
    throw new VendorFault(400, `Tool choice '${String(name)}' not found in 'tools' parameter.`, {
      param: 'tool_choice',
    });
  }
  return askedTools(tools, fullName, text, body.parallel_tool_calls !== false);
}

const callableTypes = ['function', 'custom', 'namespace'];

/** A tool; of a namespace each of its tools, with the namespace's name. @throws VendorFault */
function callable(tool: unknown, place: string, namespace?: string): JsonObject[] {
  if (!isObject(tool)) throw missing(`${place}.name`);
  if (!callableTypes.includes(String(tool.type ?? 'function'))) return [];
  if (typeof tool.name !== 'string') throw missing(`${place}.name`);
  const { name, tools } = tool;
  if (tool.type !== 'namespace') return [namespace === undefined ? tool : { ...tool, namespace }];
  return (Array.isArray(tools) ? tools : []).flatMap((inner: unknown, index) =>
    callable(inner, `${place}.tools[${index}]`, name),
  );
}

function fullName({ namespace, name }: JsonObject): string {
  return namespace === undefined ? String(name) : `${String(namespace)}__${String(name)}`;
}

function jsonAnswer(text: unknown, hint: string): string | undefined {
  const format = isObject(text) && isObject(text.format) ? text.format : {};
  if (format.type === 'json_schema')
    return JSON.stringify(sampleFor(format.schema, hint || 'example'));
  return format.type === 'json_object' ? JSON.stringify({ answer: hint }) : undefined;
}

/** Pictures are told by their number, so that a test sees that they arrived. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? content.filter(isObject) : [];
  const images = parts.filter((part) => part.type === 'input_image').length;
  const text = parts.map((part) => (typeof part.text === 'string' ? part.text : '')).join('');
  return images === 0 ? text : `${text} [${images} image${images > 1 ? 's' : ''}]`;
}

function describeResponse(
  body: DemoBody,
  told: Told,
  items: DemoItem[],
  context: DemoContext,
  identity: Identity | undefined,
): JsonObject {
  const toldTokens = inputTokens(body, told);
  const outputTokens = items.reduce((sum, item) => sum + tokensOf(item), 0);
  const reasoningTokens = items[0]?.kind === 'thought' ? tokensOf(items[0]) : 0;
  const id = identity?.id ?? (context.bytes + toldTokens * 65_536).toString(36);
  const isCut = items.some((item) => item.kind === 'text' && item.answer.isCut);
  return {
    id: `resp_demo${id}`,
    object: 'response',
    created_at: identity?.createdAtS ?? createdAt,
    completed_at: isCut ? null : (identity?.completedAtS ?? createdAt),
    status: isCut ? 'incomplete' : 'completed',
    background: body.background === true,
    error: null,
    incomplete_details: isCut ? { reason: 'max_output_tokens' } : null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model: body.model,
    output: items.map((item, index) => wholeItem(item, id, index)),
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: { effort: null, summary: null, ...(body.reasoning as object) },
    service_tier: 'default',
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { format: { type: 'text' }, ...(body.text as object) },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_p: body.top_p ?? 1,
    truncation: 'disabled',
    usage: {
      input_tokens: toldTokens,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: outputTokens,
      output_tokens_details: { reasoning_tokens: reasoningTokens },
      total_tokens: toldTokens + outputTokens,
    },
    user: body.user ?? null,
  };
}

function tokensOf(item: DemoItem): number {
  if (item.kind === 'text') return item.answer.tokens;
  return item.kind === 'call' ? tokensIn(item.name + item.arguments) : tokensIn(thought);
}

function wholeItem(item: DemoItem, id: string, index: number): JsonObject {
  switch (item.kind) {
    case 'thought':
      return {
        id: `rs_demo${id}${index}`,
        type: 'reasoning',
        summary: item.summary === undefined ? [] : [{ type: 'summary_text', text: item.summary }],
        ...(item.encrypted === undefined ? {} : { encrypted_content: item.encrypted }),
      };
    case 'text': {
      const text = item.answer.pieces.join('');
      return {
        id: `msg_demo${id}${index}`,
        type: 'message',
        status: item.answer.isCut ? 'incomplete' : 'completed',
        role: 'assistant',
        content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
      };
    }
    case 'call':
      return {
        id: `fc_demo${id}${index}`,
        type: 'function_call',
        status: 'completed',
        call_id: `call_demo${index}`,
        name: item.name,
        ...(item.namespace === undefined ? {} : { namespace: item.namespace }),
        arguments: item.arguments,
      };
  }
}
