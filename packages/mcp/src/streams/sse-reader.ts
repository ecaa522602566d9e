import { EventCutter, fieldsOfEvent } from '@sluice/providers';
import { messageBounds } from '../envelope/read-message.ts';
import { McpFault, rpcCodes } from '../fault.ts';

/** One event of an upstream's stream. */
export interface SseBlock {
  /** As it came, with the blank line that ends it. All of a stream one after the other are the stream. */
  readonly bytes: Buffer;
  /** Empty where it has none; `endpoint` is told so by servers of 2024-11-05. */
  readonly name: string;
  /** Undefined where there are only comments, an id, or the time to wait. Empty in the event that only gives an id. */
  readonly data: string | undefined;
  /** Of the event, to be asked for what follows it. */
  readonly id: string | undefined;
  readonly retryMs: number | undefined;
}

/** Cuts an upstream's stream, whose bytes come cut anywhere, into events whose bytes are kept. */
export class SseReader {
  readonly #cutter: EventCutter;
  readonly #eventBytesMax: number;

  constructor(eventBytesMax: number = messageBounds.upstream.bytesMax) {
    this.#eventBytesMax = eventBytesMax;
    // What is around the data of an event of this size.
    this.#cutter = new EventCutter(eventBytesMax + 4096);
  }

  /** The events that are complete now. @throws McpFault where one is larger than may be: nothing can be read after it */
  push(chunk: Buffer): SseBlock[] {
    const events = this.#cutter.push(chunk).map(toBlock);
    if (this.#cutter.hasLost)
      throw new McpFault({
        status: 502,
        code: rpcCodes.internalError,
        message: `The server sent an event of more than ${this.#eventBytesMax} bytes.`,
      });
    return events;
  }

  /**
   * What the upstream left unfinished. By the standard it is no event: half a message is not a message, and whoever
   * resumes from the last whole one gets it again.
   */
  end(): Buffer | undefined {
    const rest = this.#cutter.end().events.map((event) => event.bytes);
    const bytes = Buffer.concat(rest);
    return bytes.every(isLineEnd) ? undefined : bytes;
  }
}

function toBlock({
  bytes,
  name,
  data,
}: {
  bytes: Buffer;
  name: string;
  data: string | undefined;
}): SseBlock {
  const { id, retry } = fieldsOfEvent(bytes);
  return {
    bytes,
    name,
    data,
    // An id with NUL is none, by the standard.
    id: id?.includes('\0') ? undefined : id,
    retryMs: retry !== undefined && /^\d{1,9}$/.test(retry) ? Number(retry) : undefined,
  };
}

function isLineEnd(byte: number): boolean {
  return byte === 0x0a || byte === 0x0d;
}

/** An event as we write it. @param data a message in one line, as `JSON.stringify` and most servers write it; several lines become several of data */
export function writeSseEvent(data: Buffer, id?: string, name = 'message'): Buffer {
  const head = `event: ${name}\n${id === undefined ? '' : `id: ${id}\n`}data: `;
  const isOneLine = !data.includes(0x0a) && !data.includes(0x0d);
  const body = isOneLine
    ? data
    : Buffer.from(data.toString('utf8').replace(/\r\n|\n|\r/g, '\ndata: '));
  return Buffer.concat([Buffer.from(head), body, Buffer.from('\n\n')]);
}
