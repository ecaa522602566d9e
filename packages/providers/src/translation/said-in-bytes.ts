import type { JsonObject, JsonValue } from '@sluice/contracts';

/**
 * How much a stream says, told from its bytes: the events of one stream have the
 * same around their text, and the first one with content shows how much that is.
 */
export class SaidInBytes {
  /** Of an event beside its text; undefined = nothing was said. */
  #frame: number | undefined;
  #blankLine: Buffer = lineFeeds;
  #events = 0;
  #bytes = 0;

  get hasBegun(): boolean {
    return this.#frame !== undefined;
  }

  /** @param event the first with content, whole; @param body what it holds */
  begin(event: Buffer, body: JsonObject): void {
    this.#frame = Math.max(0, event.length - textIn(body, 0, Buffer.byteLength));
    this.#blankLine = blankLines.find((line) => endsWith(event, line)) ?? lineFeeds;
    this.#bytes = event.length;
    this.#events = 1;
  }

  /** Whole events from there on, unread. */
  add(events: Buffer): void {
    const line = this.#blankLine;
    this.#bytes += events.length;
    for (let at = events.indexOf(line); at !== -1; at = events.indexOf(line, at + line.length))
      this.#events++;
  }

  /** One at least for each event: a vendor sends none that says nothing. */
  get chars(): number {
    if (this.#frame === undefined) return 0;
    return Math.max(this.#events, this.#bytes - this.#events * this.#frame);
  }
}

const lineFeeds = Buffer.from('\n\n');
const blankLines = [Buffer.from('\r\n\r\n'), lineFeeds, Buffer.from('\r\r')];

function endsWith(bytes: Buffer, end: Buffer): boolean {
  return bytes.subarray(-end.length).equals(end);
}

const textNames: ReadonlySet<string> = new Set([
  'content',
  'text',
  'thinking',
  'reasoning',
  'reasoning_content',
  'partial_json',
  'arguments',
  'refusal',
  'delta',
]);

type Measure = (text: string) => number;

/** All members that hold what is said. */
function textIn(value: JsonObject, depth: number, measure: Measure): number {
  let sum = 0;
  for (const name in value) sum += measured(value[name], name, depth, measure);
  return sum;
}

function measured(
  value: JsonValue | undefined,
  name: string,
  depth: number,
  measure: Measure,
): number {
  if (typeof value === 'string') return textNames.has(name) ? measure(value) : 0;
  if (depth > 8 || typeof value !== 'object' || value === null) return 0;
  if (!Array.isArray(value)) return textIn(value, depth + 1, measure);
  return value.reduce<number>((sum, item) => sum + measured(item, name, depth + 1, measure), 0);
}

/** The characters that a whole reply says. */
export function charsSaidIn(reply: JsonObject): number {
  return textIn(reply, 0, (text) => text.length);
}
