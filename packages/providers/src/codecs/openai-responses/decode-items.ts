import type {
  ChatMessage,
  ChatPart,
  JsonObject,
  JsonValue,
  ToolResultPart,
} from '@sluice/contracts';
import { invalidField } from '../../json/invalid-field.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import { decodeContent } from './decode-content.ts';
import { notKept } from './not-kept.ts';
import { decodePicture } from './pictures.ts';
import { isThoughtId } from './response-object.ts';
import { openFromCaller, partSignatureOf } from './sealed-thinking.ts';
import { decodeCall, decodeOutput } from './tool-items.ts';
import { bringsTools } from './tools-in-request.ts';

/** `input`: a text, or a list of items. What one turn of the model consists of becomes one message. */
export function decodeInput(input: JsonValue | undefined, dropped: string[]): ChatMessage[] {
  if (typeof input === 'string')
    return [{ role: 'user', parts: [{ type: 'text', text: input }], path: 'input' }];
  const items = arrayOf(input);
  if (items === undefined) throw invalidField('input', 'must be a string or a list of items');
  const turns = new Turns(items);
  for (const [index, value] of items.entries()) {
    const path = `input[${index}]`;
    const item = objectOf(value);
    if (item === undefined) throw invalidField(path, 'must be an object');
    decodeItem(item, path, turns, dropped);
  }
  return turns.messages;
}

function decodeItem(item: JsonObject, path: string, turns: Turns, dropped: string[]): void {
  switch (item.type ?? 'message') {
    case 'message':
      decodeMessage(item, path, turns, dropped);
      break;
    case 'reasoning': {
      const signature = partSignatureOf(item);
      if (signature !== undefined) {
        turns.sign(signature);
        break;
      }
      const { part, isForeign } = openFromCaller(item);
      if (isForeign) dropped.push(`${path}.encrypted_content`);
      if (part.type === 'redacted-thinking' || part.text !== '' || part.signature !== undefined)
        turns.add([part], path);
      break;
    }
    // Without a result it was the provider's own to answer, as xAI's search.
    case 'custom_tool_call':
      if (turns.isAnswered(item)) decodeFurther(item, path, turns, dropped);
      else dropped.push(path);
      break;
    case 'function_call_output':
    case 'custom_tool_call_output':
      turns.push({ role: 'tool', parts: [callOutput(item, path, dropped)], path });
      break;
    case 'item_reference':
      // A thought that is stored elsewhere is missed, and no more: what it led to stands beside it.
      if (isThoughtId(stringOf(item.id) ?? '')) {
        dropped.push(path);
        break;
      }
      throw notKept(
        path,
        'refers to an item that only another provider may have: send the item in full, as clients do with `store: false`, or have the service keep responses (`responses_store` of a config)',
      );
    default:
      decodeFurther(item, path, turns, dropped);
  }
}

function decodeFurther(item: JsonObject, path: string, turns: Turns, dropped: string[]): void {
  // Among the tools of the request: see `tools-in-request.ts`.
  if (bringsTools(item)) return;
  const part = decodeCall(item, path) ?? decodePicture(item);
  const output = part === undefined ? decodeOutput(item) : undefined;
  if (part !== undefined) turns.add([part], path, stringOf(item.id));
  else if (output !== undefined) {
    const id = turns.callOf(stringOf(item.call_id) ?? stringOf(item.id));
    if (id === undefined) throw invalidField(`${path}.call_id`, 'must be a string');
    const result = toolResult(id, output.content);
    const flagged = output.isError === true ? { ...result, isError: true } : result;
    turns.push({ role: 'tool', parts: [flagged], path });
    // What a provider's own tools left behind means nothing to another provider.
  } else dropped.push(path);
}

function decodeMessage(item: JsonObject, path: string, turns: Turns, dropped: string[]): void {
  const parts = decodeContent(item.content, `${path}.content`, dropped);
  switch (item.role) {
    case 'assistant':
      turns.add(parts, path);
      break;
    case 'user':
    case 'system':
    case 'developer':
      turns.push({ role: item.role, parts, path });
      break;
    // Some write the results of tools as they do elsewhere.
    case 'tool': {
      const toolCallId = stringOf(item.call_id) ?? stringOf(item.tool_call_id);
      if (toolCallId === undefined) throw invalidField(`${path}.call_id`, 'must be a string');
      turns.push({ role: 'tool', parts: [toolResult(toolCallId, parts)], path });
      break;
    }
    default:
      throw invalidField(`${path}.role`, 'must be user, assistant, system or developer');
  }
}

function callOutput(item: JsonObject, path: string, dropped: string[]): ChatPart {
  const id = stringOf(item.call_id);
  if (id === undefined) throw invalidField(`${path}.call_id`, 'must be a string');
  return toolResult(id, decodeContent(item.output, `${path}.output`, dropped));
}

function toolResult(toolCallId: string, parts: ChatPart[]): ToolResultPart {
  const content = parts.filter(
    (part) =>
      part.type === 'text' ||
      part.type === 'image' ||
      part.type === 'file' ||
      part.type === 'foreign',
  );
  return { type: 'tool-result', toolCallId, content };
}

/**
 * Messages as they grow. Thoughts, text and calls of one turn are items here
 * and parts elsewhere, where a call's result must follow the message that has
 * the call; so a turn goes on until its calls are over, or new words begin.
 */
class Turns {
  messages: ChatMessage[] = [];
  #open: ChatMessage | undefined;
  /** Call ids by the ids of their items, which the results of an older tool name instead. */
  #calls = new Map<string, string>();
  readonly #items: JsonValue[];
  #answered: Set<JsonValue | undefined> | undefined;

  constructor(items: JsonValue[]) {
    this.#items = items;
  }

  isAnswered(call: JsonObject): boolean {
    this.#answered ??= new Set(this.#items.map(answeredCall));
    return this.#answered.has(call.call_id);
  }

  push(message: ChatMessage): void {
    this.#open = undefined;
    this.messages.push(message);
  }

  callOf(id: string | undefined): string | undefined {
    return id === undefined ? undefined : (this.#calls.get(id) ?? id);
  }

  add(parts: ChatPart[], path: string, itemId?: string): void {
    const [first] = parts;
    const isCall = first?.type === 'tool-call';
    if (isCall && itemId !== undefined) this.#calls.set(itemId, first.id);
    if (this.#open === undefined || (!isCall && hasEnded(this.#open))) {
      this.#open = { role: 'assistant', parts: [], path };
      this.messages.push(this.#open);
    }
    this.#open.parts.push(...parts);
  }

  /** What proves the part told last. */
  sign(signature: string): void {
    const last = this.#open?.parts.at(-1);
    if (last?.type === 'text' || last?.type === 'tool-call' || last?.type === 'image')
      last.signature = signature;
  }
}

/** Some results of custom tools come as those of functions. */
function answeredCall(value: JsonValue): JsonValue | undefined {
  const { type, call_id } = objectOf(value) ?? {};
  const isResult = type === 'custom_tool_call_output' || type === 'function_call_output';
  return isResult ? call_id : undefined;
}

function hasEnded({ parts }: ChatMessage): boolean {
  const has = (type: ChatPart['type']): boolean => parts.some((part) => part.type === type);
  return (has('text') || has('refusal')) && !has('tool-call');
}
