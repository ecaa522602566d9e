import type { CallerFormat } from '@sluice/contracts';
import { type CutEvent, EventCutter, encodeEvent } from '../framing/cut-events.ts';
import { parseObject } from '../json/json-access.ts';
import type { AnswerFormat, EventTexts } from './text-format.ts';
import { answerFormat } from './text-formats.ts';

/** One event of a stream: its bytes, and what it says. */
export interface Segment extends EventTexts, Pick<CutEvent, 'bytes' | 'name'> {}

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
  readonly #cutter = new EventCutter();

  constructor(format: AnswerFormat) {
    this.#format = format;
  }

  /** The events that are complete now. */
  push(chunk: Buffer): Segment[] {
    return this.#cutter.push(chunk).map((event) => this.#segment(event));
  }

  /** The stream is over: what it left unfinished, and what must precede a further event. */
  end(): { segments: Segment[]; separator: string } {
    const { events, separator } = this.#cutter.end();
    return { segments: events.map((event) => this.#segment(event)), separator };
  }

  /** An event was too large to be read, and is in no segment: whoever passes on segments alone must not go on. */
  get hasLost(): boolean {
    return this.#cutter.hasLost;
  }

  /** The event with other texts, one for each of its own; null keeps one. */
  rewrite(segment: Segment, parts: readonly (string | null)[]): Buffer {
    if (segment.texts === undefined) return segment.bytes;
    return encodeEvent(segment.name, segment.texts.replace(parts));
  }

  #segment({ bytes, name, data }: CutEvent): Segment {
    if (data === undefined) return { bytes, name };
    const body = parseObject(data);
    if (body !== undefined) return { bytes, name, ...this.#format.ofEvent(body) };
    return data.trim() === '[DONE]' ? { bytes, name, isEnd: true } : { bytes, name };
  }
}

/** An event that other events of the format may follow, or precede. */
export function encodeFurtherEvent(format: CallerFormat, name: string, data: object): Buffer {
  return encodeEvent(answerFormat(format)?.namesEvents === true ? name : '', data);
}
