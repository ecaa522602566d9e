import {
  type McpMessage,
  messageBounds,
  readMessage,
  type SseBlock,
  writeSseEvent,
} from '@sluice/mcp';

/** The message of an event; undefined = it only gives an id, or is a comment. @throws McpFault when it is no message */
export function messageOf({ data }: SseBlock): McpMessage | undefined {
  if (data === undefined || data.trim() === '') return undefined;
  return readMessage(Buffer.from(data), messageBounds.upstream);
}

/** The same event with another message. */
export function withMessage({ id, name }: SseBlock, message: Buffer): Buffer {
  return writeSseEvent(message, id, name === '' ? undefined : name);
}
