import { type CutEvent, cutEvent, EventCutter, fieldsOfEvent, SseFramer } from '@sluice/providers';
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
  /** The same as it came, where it is one line. */
  readonly dataBytes: Buffer | undefined;
  /** Of the event, to be asked for what follows it. */
  readonly id: string | undefined;
  readonly retryMs: number | undefined;
}

/** Cuts an upstream's stream, whose bytes come cut anywhere, into events whose bytes are kept. */
export class SseReader {
  readonly #framer: SseFramer;
  readonly #eventBytesMax: number;

  constructor(eventBytesMax: number = messageBounds.upstream.bytesMax) {
    this.#eventBytesMax = eventBytesMax;
    // What is around the data of an event of this size.
    this.#framer = new SseFramer({ eventBytesMax: eventBytesMax + 4096 });
  }

  /** The events that are complete now. @throws McpFault where one is larger than may be: nothing can be read after it */
  push(chunk: Buffer): SseBlock[] {
    const whole = this.#framer.push(chunk);
    const events = whole === undefined ? [] : blocksOf(whole);
    if (this.#framer.oversized > 0)
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
    const bytes = this.#framer.end();
    return bytes?.every(isLineEnd) === false ? bytes : undefined;
  }
}

/** The events that whole bytes of a stream are. */
function blocksOf(bytes: Buffer): SseBlock[] {
  // Hardly anybody ends lines so.
  if (bytes.includes(carriageReturn)) return new EventCutter(bytes.length).push(bytes).map(toBlock);
  const blocks: SseBlock[] = [];
  let start = 0;
  while (start < bytes.length) {
    const block = plainBlock(bytes, start);
    blocks.push(block);
    start += block.bytes.length;
  }
  return blocks;
}

/** The first event from here on, whose lines end with line feeds. Blank lines in front are its own: they are no events. */
function plainBlock(bytes: Buffer, start: number): SseBlock {
  let name = '';
  let dataStart = -1;
  let dataEnd = -1;
  let isPlain = true;
  let at = start;
  while (bytes[at] === lineFeed) at++;
  while (at < bytes.length && bytes[at] !== lineFeed) {
    const found = bytes.indexOf(lineFeed, at);
    const end = found < 0 ? bytes.length : found;
    if (startsWith(bytes, dataField, at) && dataStart < 0) {
      dataStart = behindSpace(bytes, at + dataField.length);
      dataEnd = end;
    } else if (startsWith(bytes, eventField, at))
      name = bytes.toString('utf8', behindSpace(bytes, at + eventField.length), end);
    else if (bytes[at] !== colon) isPlain = false;
    at = end + 1;
  }
  const end = Math.min(at + 1, bytes.length);
  const block = bytes.subarray(start, end);
  if (!isPlain || dataStart < 0) return toBlock(cutEvent(block));
  const data = bytes.toString('utf8', dataStart, dataEnd);
  return {
    bytes: block,
    name,
    data,
    // What is no text is read as others read it: with other characters in its place.
    dataBytes: data.includes('\ufffd') ? undefined : bytes.subarray(dataStart, dataEnd),
    id: undefined,
    retryMs: undefined,
  };
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;
const dataField = Buffer.from('data:');
const eventField = Buffer.from('event:');

function startsWith(bytes: Buffer, field: Buffer, start: number): boolean {
  for (let at = 0; at < field.length; at++) if (bytes[start + at] !== field[at]) return false;
  return true;
}

function behindSpace(bytes: Buffer, at: number): number {
  return bytes[at] === 0x20 ? at + 1 : at;
}

function toBlock({ bytes, name, data }: CutEvent): SseBlock {
  const { id, retry } = fieldsOfEvent(bytes);
  return {
    bytes,
    name,
    data,
    dataBytes: undefined,
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
