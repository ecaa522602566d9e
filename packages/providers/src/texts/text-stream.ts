import type { CallerFormat } from '@sluice/contracts';
import { endOfFirstEvent, parseSseEvents, SseFramer } from '../framing/sse.ts';
import { parseObject } from '../json/json-access.ts';
import type { AnswerFormat, EventTexts } from './text-format.ts';
import { answerFormat } from './text-formats.ts';

/** One event of a stream: its bytes, and what it says. */
export interface Segment extends EventTexts {
  /** With the blank line that ends it. All segments one after the other are the stream. */
  readonly bytes: Buffer;
  /** Empty when the event has no name. */
  readonly name: string;
}

/** Undefined where a format's replies are no texts. */
export function openTextStream(format: CallerFormat): TextStream | undefined {
  const texts = answerFormat(format);
  return texts === undefined ? undefined : new TextStream(texts);
}

/**
 * Reads the texts of a stream in the caller's format, whose bytes may be cut
 * anywhere. Never throws: what is not the format says nothing.
 */
export class TextStream {
  readonly #format: AnswerFormat;
  readonly #framer = new SseFramer();

  constructor(format: AnswerFormat) {
    this.#format = format;
  }

  /** The events that are complete now. */
  push(chunk: Buffer): Segment[] {
    const events = this.#framer.push(chunk);
    return events === undefined ? [] : this.#read(events);
  }

  /** The stream is over: what it left unfinished, and what must precede a further event. */
  end(): { segments: Segment[]; separator: string } {
    const rest = this.#framer.end();
    if (rest === undefined) return { segments: [], separator: '' };
    return { segments: this.#read(rest), separator: separatorAfter(rest) };
  }

  /** An event was too large to be read, and is in no segment: whoever passes on segments alone must not go on. */
  get hasLost(): boolean {
    return this.#framer.oversized > 0;
  }

  /** The event with other texts, one for each of its own; null keeps one. */
  rewrite(segment: Segment, parts: readonly (string | null)[]): Buffer {
    if (segment.texts === undefined) return segment.bytes;
    return encodeEvent(segment.name, segment.texts.replace(parts));
  }

  #read(bytes: Buffer): Segment[] {
    const segments: Segment[] = [];
    let start = 0;
    while (start < bytes.length) {
      const end = endOfFirstEvent(bytes, start);
      const event = bytes.subarray(start, end);
      segments.push(this.#segment(event));
      start = end;
    }
    return segments;
  }

  #segment(bytes: Buffer): Segment {
    const [event] = parseSseEvents(bytes);
    if (event === undefined) return { bytes, name: '' };
    const { name, data } = event;
    const body = parseObject(data);
    if (body !== undefined) return { bytes, name, ...this.#format.ofEvent(body) };
    return data.trim() === '[DONE]' ? { bytes, name, isEnd: true } : { bytes, name };
  }
}

/** An event that other events of the format may follow, or precede. */
export function encodeFurtherEvent(format: CallerFormat, name: string, data: object): Buffer {
  return encodeEvent(answerFormat(format)?.namesEvents === true ? name : '', data);
}

function encodeEvent(name: string, data: object): Buffer {
  const head = name === '' ? '' : `event: ${name}\n`;
  return Buffer.from(`${head}data: ${JSON.stringify(data)}\n\n`);
}

function separatorAfter(rest: Buffer): string {
  if (/^[\r\n]*$/.test(rest.toString('latin1', 0, 4))) return '';
  const last = rest.at(-1);
  return last === lineFeed || last === carriageReturn ? '\n' : '\n\n';
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
