import type { ChatUsage, ReplyUnits } from '@sluice/contracts';
import { mergeUnits } from '../bills/add-bill.ts';
import type { ToolUnit } from '../bills/charged-tools.ts';
import { laterUsage } from '../bills/later-usage.ts';
import type { ReplyFacts, StreamFault, StreamReader } from '../contract.ts';
import { separateEvents } from '../framing/joined-events.ts';
import {
  endOfFirstEvent,
  endOfLastEvent,
  looksLikeSse,
  parseSseEvents,
  type SseEvent,
  SseFramer,
} from '../framing/sse.ts';
import { findDone, findMarker } from '../framing/stream-markers.ts';
import { parseObject } from '../json/json-access.ts';
import { SaidInBytes } from './said-in-bytes.ts';

/** What a stream has told so far; taps write it, the reader shows it. */
export class StreamState {
  phase: StreamReader['phase'] = 'preamble';
  facts: ReplyFacts = {};
  fault: StreamFault | undefined;
  /** Its usage was told when the answer began: what came out is not counted in it yet. */
  isHalfTold = false;
  /** Tools that parts of the answer show to be used. */
  #seen: ReplyUnits | undefined;

  fail(fault: StreamFault): void {
    this.phase = 'failed';
    this.fault = fault;
  }

  get isOver(): boolean {
    return this.phase === 'complete' || this.phase === 'failed';
  }

  /** @param usage of all so far */
  tellUsage(usage: ChatUsage): ChatUsage {
    const known = laterUsage(this.facts.usage, usage);
    this.facts.usage = known;
    return known;
  }

  see(unit: ToolUnit | undefined): void {
    if (unit !== undefined) this.#seen = { ...this.#seen, [unit]: (this.#seen?.[unit] ?? 0) + 1 };
  }

  /** @param saidBytes what was said, which counts where usage does not say all of it, as do the tools that were seen */
  factsWith(saidBytes: number): ReplyFacts {
    const { facts } = this;
    const isTold = facts.usage !== undefined && !this.isHalfTold && this.phase === 'complete';
    facts.saidBytes = isTold ? undefined : saidBytes;
    if (isTold || this.#seen === undefined) return facts;
    return { ...facts, units: mergeUnits(facts.units ?? {}, this.#seen) };
  }
}

/** A format's eyes on a native stream. */
export interface StreamTap {
  /** The format has no markers that tell where there is something to learn: every event is read. */
  readonly readsAll?: boolean;
  /** Events that are larger without their long texts pass by unread; `SSE_EVENT_BYTES_MAX` when absent. */
  readonly eventBytesMax?: number;
  /** Stands in the names of events that say something; all others tell it again, or nothing. Absent = all may. */
  readonly saying?: string;
  /** Every event of the preamble, then those with a marker. `body` is the event's JSON. */
  read(body: JsonBody, event: SseEvent, state: StreamState): void;
  /** Data that is no JSON object but belongs to the format, e.g. `[DONE]`. */
  readText(data: string, state: StreamState): boolean;
  /** The upstream ended without a terminal event. */
  atEnd(state: StreamState): void;
  errorEvent(fault: StreamFault & { code?: string }): Buffer;
}

type JsonBody = NonNullable<ReturnType<typeof parseObject>>;

/**
 * Passes bytes on untouched and watches them: the preamble is read event by
 * event, content only where a marker says that there is something to learn.
 */
export class NativeStreamReader implements StreamReader {
  #framer: SseFramer;
  #state = new StreamState();
  #tap: StreamTap;
  #started = false;
  readonly #said: SaidInBytes;

  constructor(tap: StreamTap) {
    this.#tap = tap;
    this.#said = new SaidInBytes(tap.saying);
    this.#framer = new SseFramer({ eventBytesMax: tap.eventBytesMax, shortens: true });
  }

  get phase(): StreamReader['phase'] {
    return this.#state.phase;
  }
  get facts(): ReplyFacts {
    return this.#state.factsWith(this.#said.bytes);
  }
  get fault(): StreamFault | undefined {
    return this.#state.fault;
  }
  /** The upstream's own error event is among the bytes; garbage is not an error event. */
  get faultForwarded(): boolean {
    return this.#state.fault !== undefined && this.#state.fault.type !== invalidStreamType;
  }

  push(chunk: Buffer): Buffer {
    if (this.#state.isOver) return chunk;
    const events = this.#framer.push(chunk);
    if (events !== undefined) {
      // What follows the first event with content in the same piece is counted where that is found.
      const isCounted = this.#said.hasBegun;
      const end = this.#watch(events);
      if (isCounted) this.#said.add(end < events.length ? events.subarray(0, end) : events);
    }
    // An event too large to read is content all the same.
    if (this.#framer.oversized > 0 && this.#state.phase === 'preamble')
      this.#state.phase = 'content';
    return chunk;
  }

  end(): Buffer {
    if (this.#state.isOver) return empty;
    const rest = this.#framer.end();
    if (rest !== undefined) this.#watch(rest);
    if (!this.#state.isOver) this.#tap.atEnd(this.#state);
    return empty;
  }

  errorEvent(fault: StreamFault & { code?: string }): Buffer {
    return this.#tap.errorEvent(fault);
  }

  /** Up to where it looked: what follows the end of the stream is not part of it. */
  #watch(events: Buffer): number {
    const { length } = events;
    if (!this.#started) {
      this.#started = true;
      if (!looksLikeSse(events)) {
        this.#state.fail(invalidStream('The provider did not answer with an event stream.'));
        return length;
      }
    }
    if (this.#state.phase === 'preamble') return this.#readBeginning(events);
    if (this.#tap.readsAll === true) {
      this.#readAll(events);
      return length;
    }
    let marker = findMarker(events, 0);
    while (marker !== -1) {
      const end = endOfFirstEvent(events, marker);
      this.#readAll(events.subarray(endOfLastEvent(events.subarray(0, marker)), end));
      if (this.#state.isOver) return end;
      marker = findMarker(events, end);
    }
    const done = findDone(events);
    if (done === -1) return length;
    this.#readAll(events.subarray(endOfLastEvent(events.subarray(0, done))));
    return this.#state.isOver ? endOfFirstEvent(events, done) : length;
  }

  /** One after the other, until one has content. */
  #readBeginning(events: Buffer): number {
    for (let start = 0; start < events.length; ) {
      const end = endOfFirstEvent(events, start);
      const event = events.subarray(start, end);
      const body = this.#readAll(event);
      start = end;
      if (this.#state.phase === 'preamble') continue;
      if (body !== undefined) this.#said.begin(event);
      if (this.#state.isOver) return end;
      const rest = events.subarray(end);
      const read = rest.length === 0 ? 0 : this.#watch(rest);
      this.#said.add(rest.subarray(0, read));
      return end + read;
    }
    return events.length;
  }

  /** What the last of them holds. */
  #readAll(events: Buffer): JsonBody | undefined {
    let body: JsonBody | undefined;
    for (const event of separateEvents(parseSseEvents(events))) {
      body = parseObject(event.data);
      if (body !== undefined) this.#tap.read(body, event, this.#state);
      else if (!this.#tap.readText(event.data, this.#state))
        this.#state.fail(invalidStream('The provider sent an event that is not its format.'));
      if (this.#state.isOver) break;
    }
    return body;
  }
}

export const invalidStreamType = 'invalid_stream';

/** The fault of a stream that is not the format it should be. */
export function invalidStream(message: string): StreamFault {
  return { type: invalidStreamType, message, status: 502 };
}

export const empty = Buffer.alloc(0);
