import {
  McpFault,
  type McpMessage,
  messageBounds,
  readMessage,
  rpcCodes,
  type SseBlock,
  writeSseEvent,
} from '@sluice/mcp';

/**
 * The message of an event; undefined = it only gives an id, is a comment, or has a name of its own (`ping`) and says
 * nothing that a client could take for a message. @throws McpFault −32603 when it is no message
 */
export function messageOf({ name, data, dataBytes }: SseBlock): McpMessage | undefined {
  if (data === undefined || data.trim() === '') return undefined;
  if (name !== '' && name !== 'message' && !resemblesMessage(data)) return undefined;
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

/** Whether a reader that is less strict than we are could find JSON-RPC there. */
function resemblesMessage(data: string): boolean {
  // Escapes may hide the word.
  return /jsonrpc|\\u00/i.test(data);
}

/** The same event without what it says: who resumes from it is not told the same again. */
export function withoutMessage({ id, retryMs }: SseBlock): Buffer {
  const lines = [
    ...(id === undefined ? [] : [`id: ${id}`]),
    ...(retryMs === undefined ? [] : [`retry: ${retryMs}`]),
  ];
  return Buffer.from(lines.length === 0 ? ': \n\n' : `${lines.join('\n')}\ndata: \n\n`);
}

/** The same event with another message. */
export function withMessage({ id, name }: SseBlock, message: Buffer): Buffer {
  return writeSseEvent(message, id, name === '' ? undefined : name);
}
