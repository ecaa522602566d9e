import type { JsonObject, JsonValue } from '@sluice/contracts';
import { isObject, type McpResponse, MessageEdit, messageBounds, readMessage } from '@sluice/mcp';

/** Room for what is said of a cut. */
const markerRoom = 160;

/**
 * The answer of a tool within so many bytes: texts are cut from the end, and a marker
 * says so. Structured content is not cut, since it would not be what was declared: where it
 * is too large itself, the call has failed.
 */
export function boundedResult(reply: McpResponse, bytesMax: number): McpResponse {
  const { bytes, result } = reply;
  const { content, structuredContent } = result;
  if (bytes.length <= bytesMax || !Array.isArray(content)) return reply;
  const structuredBytes = structuredContent === undefined ? 0 : jsonBytes(structuredContent);
  const isTooLarge = structuredBytes > bytesMax - 2 * markerRoom;
  const contentBytes = jsonBytes(content);
  const others = Math.max(0, bytes.length - contentBytes - (isTooLarge ? structuredBytes : 0));
  const kept = cutBlocks(content, bytesMax - others - markerRoom);
  const text = `[Cut by the gateway: the result has ${bytes.length} bytes, and ${bytesMax} may be given.]`;
  const edit = new MessageEdit(reply).setResult('content', [...kept, { type: 'text', text }]);
  if (isTooLarge) edit.setResult('structuredContent', undefined).setResult('isError', true);
  return readMessage(edit.bytes(), messageBounds.upstream) as McpResponse;
}

function cutBlocks(content: readonly JsonValue[], room: number): JsonValue[] {
  const kept: JsonValue[] = [];
  let left = room;
  for (const block of content) {
    const size = jsonBytes(block) + 1;
    if (size <= left) {
      kept.push(block);
      left -= size;
      continue;
    }
    const cut = isObject(block) ? cutText(block, left) : undefined;
    if (cut !== undefined) kept.push(cut);
    break;
  }
  return kept;
}

function cutText(block: JsonObject, room: number): JsonObject | undefined {
  const { text } = block;
  if (block.type !== 'text' || typeof text !== 'string') return undefined;
  const around = jsonBytes({ ...block, text: '' }) + 1;
  let length = Math.min(text.length, room - around);
  while (length > 0) {
    // No half of a character.
    const cut = { ...block, text: text.slice(0, length).replace(/[\ud800-\udbff]$/, '') };
    const over = jsonBytes(cut) + 1 - room;
    if (over <= 0) return cut;
    length -= Math.max(1, Math.ceil(over / 6));
  }
  return undefined;
}

function jsonBytes(value: JsonValue): number {
  return Buffer.byteLength(JSON.stringify(value));
}
