import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { CachePrefix, MemberEdits } from '../../contract.ts';
import { arrayOf, objectOf, stringOf } from '../../json/json-access.ts';
import { stableTurns } from '../stable-turns.ts';

/**
 * Marks behind tools, system and the turns that stay: four at most, which is
 * what the vendor takes. Undefined where the caller has set marks, or there is
 * nothing to mark. Prefixes that are too short are not kept, and cost nothing.
 */
export function markPrefix(body: JsonObject, { ttl }: CachePrefix): MemberEdits | undefined {
  if (isMarked(body)) return undefined;
  const control: JsonObject = ttl === '1h' ? { type: 'ephemeral', ttl } : { type: 'ephemeral' };
  const edits: Record<string, JsonValue> = {};
  const tools = withLastMarked(body.tools, isOfferedTool, control);
  if (tools !== undefined) edits.tools = tools;
  const system = markContent(body.system, control);
  if (system !== undefined) edits.system = system;
  const messages = markTurns(body.messages, control);
  if (messages !== undefined) edits.messages = messages;
  return Object.keys(edits).length === 0 ? undefined : edits;
}

function markTurns(value: JsonValue | undefined, control: JsonObject): JsonValue[] | undefined {
  const messages = arrayOf(value);
  if (messages === undefined) return undefined;
  const ends = stableTurns(messages.map((message) => objectOf(message)?.role));
  if (ends.length === 0) return undefined;
  return messages.map((message, index) => {
    if (!ends.includes(index)) return message;
    const turn = objectOf(message);
    const content = markContent(turn?.content, control);
    return content === undefined ? message : { ...turn, content };
  });
}

function markContent(content: JsonValue | undefined, control: JsonObject): JsonValue[] | undefined {
  const text = stringOf(content);
  if (text === undefined) return withLastMarked(content, takesMark, control);
  return text.trim() === '' ? undefined : [{ type: 'text', text, cache_control: control }];
}

function withLastMarked(
  list: JsonValue | undefined,
  takes: (block: JsonObject) => boolean,
  control: JsonObject,
): JsonValue[] | undefined {
  const blocks = arrayOf(list);
  const at = blocks?.findLastIndex((value) => {
    const block = objectOf(value);
    return block !== undefined && takes(block);
  });
  if (blocks === undefined || at === undefined || at < 0) return undefined;
  return blocks.with(at, { ...objectOf(blocks[at]), cache_control: control });
}

const markable: ReadonlySet<unknown> = new Set([
  'image',
  'document',
  'tool_result',
  'search_result',
]);

function takesMark(block: JsonObject): boolean {
  if (block.type === 'text') return stringOf(block.text)?.trim() !== '';
  return markable.has(block.type);
}

/** Tools that the model has to look for are not at the beginning of any prompt. */
function isOfferedTool(tool: JsonObject): boolean {
  return tool.defer_loading !== true;
}

function isMarked(body: JsonObject): boolean {
  if (body.cache_control !== undefined && body.cache_control !== null) return true;
  return [body.tools, body.system, body.messages].some(holdsMark);
}

function holdsMark(list: JsonValue | undefined): boolean {
  return (arrayOf(list) ?? []).some((value) => {
    const block = objectOf(value);
    if (block === undefined) return false;
    if (block.cache_control !== undefined && block.cache_control !== null) return true;
    return holdsMark(block.content);
  });
}
