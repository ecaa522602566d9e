import { readJson } from '@sluice/json';
import {
  isObject,
  McpFault,
  type McpMessage,
  type McpRequest,
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

/** Whose answers a stream may tell: of one request, of any, or of none. */
export type Awaited = McpRequest | 'any' | 'none';

/** Of one stream: which of its events are messages, and which are passed over. */
export class EventReading {
  readonly #awaited: Awaited;
  /** What was wrong with the first event that was passed over. */
  fault: McpFault | undefined;

  constructor(awaited: Awaited) {
    this.#awaited = awaited;
  }

  /**
   * The message of an event; undefined = it says nothing, null = what it says is no message and is told to nobody: whoever waits,
   * waits for another one. @throws McpFault −32603 where that may have been the answer
   */
  read(event: SseBlock): McpMessage | undefined | null {
    try {
      return messageOf(event);
    } catch (error) {
      if (!(error instanceof McpFault) || mayBeAnswer(event.data ?? '', this.#awaited)) throw error;
      this.fault ??= error;
      return null;
    }
  }
}

/** Whether what is no message may have been meant as the answer: half of it, one without an id, a batch with it. */
function mayBeAnswer(data: string, awaited: Awaited): boolean {
  if (awaited === 'none' || !/^[\s\ufeff]*(?:\[\s*)?\{/.test(data)) return false;
  let value: unknown;
  try {
    value = readJson(Buffer.from(data), messageBounds.upstream);
  } catch {
    return true;
  }
  if (!isObject(value)) return true;
  const { id = null, method, result, error } = value;
  if (typeof method === 'string' && result === undefined && error === undefined) return false;
  return awaited === 'any' || id === null || String(id) === String(awaited.id);
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
