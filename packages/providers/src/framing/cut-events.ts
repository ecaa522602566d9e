import { endOfFirstEvent, parseSseEvents, SseFramer } from './sse.ts';

/** One event of a stream: its bytes, and what stands in it. */
export interface CutEvent {
  /** With the blank line that ends it. All events one after the other are the stream. */
  readonly bytes: Buffer;
  /** Empty when the event has no name. */
  readonly name: string;
  /** Undefined where there are only comments. */
  readonly data: string | undefined;
}

/** Cuts a stream, whose bytes come cut anywhere, into its events. Never throws. */
export class EventCutter {
  readonly #framer: SseFramer;

  constructor(eventBytesMax?: number) {
    this.#framer = new SseFramer({ eventBytesMax });
  }

  /** The events that are complete now. */
  push(chunk: Buffer): CutEvent[] {
    const events = this.#framer.push(chunk);
    return events === undefined ? [] : cutEvents(events);
  }

  /** The stream is over: what it left unfinished, and what must precede a further event. */
  end(): { events: CutEvent[]; separator: string } {
    const rest = this.#framer.end();
    if (rest === undefined) return { events: [], separator: '' };
    return { events: cutEvents(rest), separator: separatorAfter(rest) };
  }

  /** An event was too large to be read, and is not among those given: whoever passes on these alone must not go on. */
  get hasLost(): boolean {
    return this.#framer.oversized > 0;
  }
}

function cutEvents(bytes: Buffer): CutEvent[] {
  const events: CutEvent[] = [];
  const hasReturns = bytes.includes(carriageReturn);
  for (let start = 0; start < bytes.length; ) {
    // Blank lines before an event are no events, of which a stream could have a million.
    const first = behindLineEnds(bytes, start);
    const blank = hasReturns ? -1 : bytes.indexOf('\n\n', first);
    const end = blank === -1 ? endOfFirstEvent(bytes, first) : blank + 2;
    events.push(cutEvent(bytes.subarray(start, end)));
    start = end;
  }
  return events;
}

function behindLineEnds(bytes: Buffer, start: number): number {
  let at = start;
  while (bytes[at] === lineFeed || bytes[at] === carriageReturn) at++;
  return at;
}

/** What stands in the bytes of one event. */
export function cutEvent(bytes: Buffer): CutEvent {
  const [read] = parseSseEvents(bytes);
  return { bytes, name: read?.name ?? '', data: read?.data };
}

export function encodeEvent(name: string, data: object): Buffer {
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
