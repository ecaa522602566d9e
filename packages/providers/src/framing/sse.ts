/**
 * Server-sent events, the one place that knows their framing: line ends LF,
 * CR and CRLF, comments, multi-line data, bytes cut anywhere. It works in two
 * steps, so that a reader which only passes bytes on pays for the first alone:
 * `SseFramer` finds whole events in a byte stream, `parseSseEvents` reads them.
 * `SseEventReader` is both at once, for a reader that passes no bytes on.
 */

import { GrowingBytes, ShortTexts } from '@sluice/json';

/** An event larger than this is not assembled: it passes by unread. */
export const sseEventBytesMax = 1_048_576;

const nothing = Buffer.alloc(0);
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const colon = 0x3a;

export interface SseEvent {
  /** Empty when the event has no `event:` line. */
  name: string;
  data: string;
}

/** The end of the last blank line in `bytes`, or 0 when there is none. */
export function endOfLastEvent(bytes: Buffer): number {
  // Nearly always: an event a chunk.
  const { length } = bytes;
  if (length > 1 && bytes[length - 1] === lineFeed && bytes[length - 2] === lineFeed) return length;
  let end = bytes.lastIndexOf('\n\n') + 2;
  if (end === 1) end = 0;
  if (bytes.indexOf(carriageReturn) === -1) return end;
  const double = bytes.lastIndexOf('\r\r');
  if (double !== -1 && double + 2 > end) end = double + 2;
  const mixed = bytes.lastIndexOf('\n\r');
  if (mixed !== -1) {
    const after = bytes[mixed + 2] === lineFeed ? mixed + 3 : mixed + 2;
    if (after > end) end = after;
  }
  return end;
}

export interface SseFramerOptions {
  /** Of a larger event nothing is returned; 1 MiB when absent. */
  readonly eventBytesMax?: number | undefined;
  /**
   * For who passes no bytes on: the long texts of an event of more than 1 MiB are cut, so that what is told beside
   * pictures is read. Nothing is returned of what is larger than the cap without them.
   */
  readonly shortens?: boolean;
}

/** Cuts a byte stream at event boundaries. Holds at most one unfinished event, up to the cap. */
export class SseFramer {
  /** Events that came larger than the cap. */
  oversized = 0;
  #held = new GrowingBytes();
  /** The last bytes that came: a blank line may be cut. */
  #tail: Buffer = nothing;
  /** How much of the event that is held came. */
  #bytes = 0;
  #skipping = false;
  /** Of the event that is held, once it is large. */
  #short: ShortTexts | undefined;
  readonly #eventBytesMax: number;
  readonly #shortens: boolean;

  constructor({ eventBytesMax = sseEventBytesMax, shortens = false }: SseFramerOptions = {}) {
    this.#eventBytesMax = eventBytesMax;
    this.#shortens = shortens;
  }

  /** The complete events of what was pushed so far and not yet returned. */
  push(chunk: Buffer): Buffer | undefined {
    if (chunk.length === 0) return undefined;
    if (this.#held.length === 0) {
      const end = endOfLastEvent(chunk);
      if (end === chunk.length) return end === 0 ? undefined : chunk;
      this.#hold(end === 0 ? chunk : chunk.subarray(end));
      return end === 0 ? undefined : chunk.subarray(0, end);
    }
    if (!this.#completes(chunk)) {
      this.#hold(chunk);
      return undefined;
    }
    if (this.#short !== undefined) return this.#pushLarge(chunk);
    const skipped = this.#skipping;
    this.#held.add(chunk);
    const joined = this.#held.take();
    const end = endOfLastEvent(joined);
    this.#begin();
    if (end < joined.length) this.#hold(joined.subarray(end));
    if (!skipped) return joined.subarray(0, end);
    // What is left of an event let go is not an event: drop up to its end.
    const start = endOfFirstEvent(joined);
    return start < end ? joined.subarray(start, end) : undefined;
  }

  /** What the upstream left unfinished, once it has ended. */
  end(): Buffer | undefined {
    if (this.#held.length === 0 || this.#skipping) return undefined;
    this.#begin();
    return this.#held.take();
  }

  /** The next event. */
  #begin(): void {
    this.#tail = nothing;
    this.#bytes = 0;
    this.#skipping = false;
    this.#short = undefined;
  }

  #hold(bytes: Buffer): void {
    const before = this.#bytes;
    this.#bytes += bytes.length;
    this.#tail =
      bytes.length >= 3 ? bytes.subarray(-3) : Buffer.concat([this.#tail, bytes]).subarray(-3);
    this.#add(bytes);
    if (this.#bytes > this.#eventBytesMax && before <= this.#eventBytesMax) this.oversized++;
    if (this.#shortens && !this.#skipping && this.#held.length > sseEventBytesMax) this.#shorten();
    if (this.#held.length <= this.#eventBytesMax) return;
    this.#skipping = true;
    this.#short = undefined;
    // The tail is kept, since the blank line that ends the event may be cut.
    this.#held.clear();
    this.#held.add(Buffer.from(this.#tail));
  }

  /** What is held, and from then on what comes of the event. */
  #shorten(): void {
    if (this.#short !== undefined) return;
    this.#short = new ShortTexts();
    for (const piece of this.#held.takePieces()) this.#add(piece);
  }

  #add(bytes: Buffer): void {
    if (this.#short === undefined) this.#held.add(bytes);
    else this.#short.add(bytes, this.#held);
  }

  /** The rest of the event that is held shortened, and what stands behind it. */
  #pushLarge(chunk: Buffer): Buffer {
    const end = endOfFirstEvent(Buffer.concat([this.#tail, chunk])) - this.#tail.length;
    this.#add(chunk.subarray(0, end));
    const event = this.#held.take();
    this.#begin();
    const rest = this.push(chunk.subarray(end));
    return rest === undefined ? event : Buffer.concat([event, rest]);
  }

  /** Whether a blank line ends in `chunk`; it may begin in the bytes held. */
  #completes(chunk: Buffer): boolean {
    if (endOfLastEvent(chunk) > 0) return true;
    return endOfLastEvent(Buffer.concat([this.#tail, chunk.subarray(0, 3)])) > 0;
  }
}

/** The end of the first blank line after `from`, or the end of `bytes`. */
export function endOfFirstEvent(bytes: Buffer, from = 0): number {
  let atLineStart = false;
  let index = from;
  while (index < bytes.length) {
    const byte = bytes[index];
    if (byte !== lineFeed && byte !== carriageReturn) {
      atLineStart = false;
      index++;
      continue;
    }
    index += byte === carriageReturn && bytes[index + 1] === lineFeed ? 2 : 1;
    if (atLineStart) return index;
    atLineStart = true;
  }
  return bytes.length;
}

/** The last values of the fields that `parseSseEvents` does not read, in the bytes of one event; undefined where it has none. */
export function fieldsOfEvent(event: Buffer): {
  id: string | undefined;
  retry: string | undefined;
} {
  let id: string | undefined;
  let retry: string | undefined;
  let start = 0;
  // Each is looked for again only once it is passed.
  let lf = endOfLine(event, 0, lineFeed);
  let cr = endOfLine(event, 0, carriageReturn);
  while (start < event.length) {
    if (lf < start) lf = endOfLine(event, start, lineFeed);
    if (cr < start) cr = endOfLine(event, start, carriageReturn);
    const end = Math.min(lf, cr);
    // Data is long, and nothing of it is made text.
    if (startsWith(event, 'id', start)) id = lineValue(event, start, 2, end) ?? id;
    else if (startsWith(event, 'retry', start)) retry = lineValue(event, start, 5, end) ?? retry;
    start = end + 1;
  }
  return { id, retry };
}

/** Of a line that begins with a name of this length; undefined = its name is a longer one. */
function lineValue(
  event: Buffer,
  start: number,
  nameLength: number,
  end: number,
): string | undefined {
  const next = start + nameLength;
  if (event[next] === colon) return fieldValue(event.toString('utf8', start, end), nameLength + 1);
  return next === end ? '' : undefined;
}

function endOfLine(bytes: Buffer, start: number, byte: number): number {
  const end = bytes.indexOf(byte, start);
  return end === -1 ? bytes.length : end;
}

function startsWith(bytes: Buffer, text: string, start: number): boolean {
  for (let at = 0; at < text.length; at++)
    if (bytes[start + at] !== text.charCodeAt(at)) return false;
  return true;
}

/** Reads whole events. Comments are skipped, an event without data is not one. */
export function parseSseEvents(bytes: Buffer): SseEvent[] {
  const lines = new SseLines();
  const events = lines.read(withoutMark(bytes.toString('utf8')));
  return lines.end(events);
}

/**
 * Events out of a byte stream, for a reader that passes no bytes on: each piece is
 * read as it comes, line by line, so that even a stream without an event costs
 * no more at a time than its pieces, and nothing of it is held.
 */
export class SseEventReader {
  /** What came cannot be the beginning of an event stream. */
  isForeign = false;
  #lines = new SseLines();
  /** The line that is not whole yet. */
  #held = new GrowingBytes();
  #hasBegun = false;
  #endedWithCr = false;
  #eventBytesMax: number;

  constructor(eventBytesMax: number) {
    this.#eventBytesMax = eventBytesMax;
  }

  /** An event is larger than the cap: what is read after it makes no sense. */
  get isOversized(): boolean {
    return this.#held.length + this.#lines.heldLength > this.#eventBytesMax;
  }

  /** The events that end in this piece. */
  push(chunk: Buffer): SseEvent[] {
    // The other half of a line end that has been read.
    const start = this.#endedWithCr && chunk[0] === lineFeed ? 1 : 0;
    // Most pieces are whole lines: nothing of them is looked for, nor held.
    if (start === 0 && this.#held.length === 0 && chunk[chunk.length - 1] === lineFeed) {
      this.#endedWithCr = false;
      return this.#lines.read(this.#textOf(chunk));
    }
    const end = Math.max(chunk.lastIndexOf(lineFeed), chunk.lastIndexOf(carriageReturn)) + 1;
    if (chunk.length > 0) this.#endedWithCr = chunk[chunk.length - 1] === carriageReturn;
    if (end <= start) {
      this.#held.add(chunk.subarray(start));
      return [];
    }
    this.#held.add(chunk.subarray(start, end));
    const events = this.#lines.read(this.#textOf(this.#held.take()));
    if (end < chunk.length) this.#held.add(chunk.subarray(end));
    return events;
  }

  /** What the upstream left unfinished, once it has ended. */
  end(): SseEvent[] {
    return this.#lines.end(this.#lines.read(this.#textOf(this.#held.take())));
  }

  #textOf(bytes: Buffer): string {
    if (this.#hasBegun) return bytes.toString('utf8');
    if (!looksLikeSse(bytes)) this.isForeign = true;
    this.#hasBegun = bytes.length > 0;
    return withoutMark(bytes.toString('utf8'));
  }
}

/** The lines of a stream, of which any number may come at a time. */
class SseLines {
  #name = '';
  #data: string | undefined;

  /** Characters of the data lines of the event that has not ended yet: even an empty line of data is held. */
  heldLength = 0;

  /** The events that end in these whole lines. */
  read(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    let name = this.#name;
    let data = this.#data;
    let start = 0;
    // Each is looked for again only once it is passed: a stream of the other must not cost a square.
    let lf = endAt(text.indexOf('\n'), text);
    let cr = endAt(text.indexOf('\r'), text);
    while (start < text.length) {
      if (lf < start) lf = endAt(text.indexOf('\n', start), text);
      if (cr < start) cr = endAt(text.indexOf('\r', start), text);
      const end = Math.min(lf, cr);
      if (end === start) {
        if (data !== undefined) events.push({ name, data });
        name = '';
        data = undefined;
        this.heldLength = 0;
      } else if (text.startsWith('data:', start)) {
        this.heldLength += end - start + 1;
        const value = fieldValue(text, start + 5, end);
        data = data === undefined ? value : `${data}\n${value}`;
      } else if (text.startsWith('event:', start)) {
        name = fieldValue(text, start + 6, end);
      } else if (text.startsWith('error:', start)) {
        // GPUStack tells of a failure so; no event of the standard has such a line.
        name = 'error';
        data = fieldValue(text, start + 6, end);
      }
      start = cr < lf && cr + 1 === lf ? lf + 1 : end + 1;
    }
    this.#name = name;
    this.#data = data;
    return events;
  }

  /** These, and the one that no blank line has ended. */
  end(events: SseEvent[]): SseEvent[] {
    if (this.#data !== undefined) events.push({ name: this.#name, data: this.#data });
    return events;
  }
}

function withoutMark(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}

function endAt(index: number, text: string): number {
  return index === -1 ? text.length : index;
}

function fieldValue(text: string, start: number, end = text.length): string {
  return text.slice(text.charCodeAt(start) === 0x20 ? start + 1 : start, end);
}

/** Whether the first line can be the beginning of an event stream at all. */
export function looksLikeSse(bytes: Buffer): boolean {
  const text = bytes.toString('utf8', 0, 64).replace(/^[\uFEFF\r\n]+/, '');
  return text === '' || /^(:|data\b|event\b|id\b|retry\b)/.test(text);
}
