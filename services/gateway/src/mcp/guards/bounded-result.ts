import type { JsonObject, JsonValue } from '@sluice/contracts';
import {
  errorReply,
  isObject,
  type McpErrorReply,
  type McpResponse,
  MessageEdit,
  messageBounds,
  readMessage,
  resultReply,
} from '@sluice/mcp';
import type { ServerReply } from '../server-reply.ts';

/** Room for what is said of a cut. */
const markerRoom = 160;

/** Of what an error says: with its marker it is within the least bound. */
const errorCharsMax = 100;

/**
 * The answer of a tool within so many bytes: texts are cut from the end, and a marker
 * says so. Nothing else is cut, since it would not be what was declared: where that
 * is too large itself, the call has failed.
 */
export function boundedResult(reply: ServerReply, bytesMax: number): ServerReply {
  const { bytes } = reply;
  // What is asked of the caller is no result yet.
  if (bytes.length <= bytesMax || isQuestion(reply)) return reply;
  const marker = `[Cut by the gateway: the result has ${bytes.length} bytes, and ${bytesMax} may be given.]`;
  if (reply.kind === 'error') return read(shortError(reply, marker));
  const cut = cutContent(reply, bytesMax, marker);
  return cut.bytes.length <= bytesMax ? cut : read(failedResult(reply, marker, bytesMax));
}

function isQuestion(reply: ServerReply): boolean {
  return reply.kind !== 'error' && reply.result.resultType === 'input_required';
}

function read(bytes: Buffer): ServerReply {
  return readMessage(bytes, messageBounds.upstream) as ServerReply;
}

function shortError(reply: McpErrorReply, marker: string): Buffer {
  const { idText = 'null', error } = reply;
  const message = `${error.message.slice(0, errorCharsMax)} ${marker}`;
  return errorReply(idText, { code: error.code, message });
}

function failedResult({ idText, result }: McpResponse, marker: string, bytesMax: number): Buffer {
  const { resultType, result: ofTask, ...others } = result;
  const failed = { content: [{ type: 'text', text: marker }], isError: true };
  const typed = resultType === undefined ? {} : { resultType };
  // Of a task that tells its result the rest is the task.
  const task = resultReply(idText, { ...typed, ...others, result: failed });
  return isObject(ofTask) && task.length <= bytesMax
    ? task
    : resultReply(idText, { ...typed, ...failed });
}

function cutContent(reply: McpResponse, bytesMax: number, marker: string): McpResponse {
  const { bytes, result } = reply;
  const { content, structuredContent } = result;
  if (!Array.isArray(content)) return reply;
  const structuredBytes = structuredContent === undefined ? 0 : jsonBytes(structuredContent);
  const isTooLarge = structuredBytes > bytesMax - 2 * markerRoom;
  const contentBytes = jsonBytes(content);
  const others = Math.max(0, bytes.length - contentBytes - (isTooLarge ? structuredBytes : 0));
  const kept = cutBlocks(content, bytesMax - others - markerRoom);
  const edit = new MessageEdit(reply).setResult('content', [
    ...kept,
    { type: 'text', text: marker },
  ]);
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
