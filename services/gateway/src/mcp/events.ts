import {
  McpFault,
  type McpMessage,
  messageBounds,
  readMessage,
  rpcCodes,
  type SseBlock,
  writeSseEvent,
} from '@sluice/mcp';

/** The message of an event; undefined = it only gives an id, or is a comment. @throws McpFault −32603 when it is no message */
export function messageOf({ data, dataBytes }: SseBlock): McpMessage | undefined {
  if (data === undefined || data.trim() === '') return undefined;
  try {
    return readMessage(dataBytes ?? Buffer.from(data), messageBounds.upstream, data);
  } catch (error) {
    if (!(error instanceof McpFault)) throw error;
    // It is the server's fault, not that of who reads it.
    throw new McpFault({
      status: 200,
      code: rpcCodes.internalError,
      message: `The MCP server sent an event that is no message: ${error.message}`,
    });
  }
}

/** The same event with another message. */
export function withMessage({ id, name }: SseBlock, message: Buffer): Buffer {
  return writeSseEvent(message, id, name === '' ? undefined : name);
}
