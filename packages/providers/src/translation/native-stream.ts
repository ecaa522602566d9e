import type { ReplyFacts, StreamFault, StreamReader } from '../contract.ts';
import { separateEvents } from '../framing/joined-events.ts';
import {
  endOfFirstEvent,
  endOfLastEvent,
  looksLikeSse,
  parseSseEvents,
  SseFramer,
} from '../framing/sse.ts';
import { findDone, findMarker } from '../framing/stream-markers.ts';
import {
  empty,
  invalidStream,
  invalidStreamType,
  type JsonBody,
  StreamState,
  type StreamTap,
} from '../framing/stream-tap.ts';
import { parseObject } from '../json/json-access.ts';
import { SaidInBytes } from './said-in-bytes.ts';

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
