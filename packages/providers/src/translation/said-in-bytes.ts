import type { JsonObject, JsonValue } from '@sluice/contracts';
import { parseSseEvents } from '../framing/sse.ts';
import { parseObject } from '../json/json-access.ts';

/**
 * How much a stream says, in bytes of UTF-8, told from its length: the events of
 * one stream have the same around their text, and the first ones that say
 * something show how much that is.
 */
export class SaidInBytes {
  readonly #saying: string | undefined;
  #hasBegun = false;
  /** Of an event beside its text, the least that was seen: the first may say more than others, who speaks or which tool is called. */
  #frame = Number.POSITIVE_INFINITY;
  #samplesLeft = samplesMax;
  #looksLeft = looksMax;
  #blankLine: Buffer = lineFeeds;
  #said = 0;

  /** @param saying stands in the name of every event that says something; undefined = all may */
  constructor(saying?: string) {
    this.#saying = saying;
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get chars(): number {
    return this.#said;
  }

  /** @param event the first with content, whole; @param body what it holds */
  begin(event: Buffer, body: JsonObject): void {
    this.#hasBegun = true;
    this.#blankLine = blankLines.find((line) => endsWith(event, line)) ?? lineFeeds;
    this.#hear(event, body);
  }

  /** Whole events from there on, unread. */
  add(events: Buffer): void {
    const line = this.#blankLine;
    for (let start = 0; start < events.length; ) {
      const at = events.indexOf(line, start);
      const end = at === -1 ? events.length : at + line.length;
      this.#hear(events.subarray(start, end), undefined);
      start = end;
    }
  }

  #hear(event: Buffer, known: JsonObject | undefined): void {
    if (this.#saying !== undefined && !event.subarray(0, nameBytes).includes(this.#saying)) return;
    const text = this.#sample(event, known);
    // One at least for each event: a vendor sends none that says nothing.
    this.#said += text > 0 ? text : Math.max(1, event.length - this.#frame);
  }

  /** What it says, where that is looked at; 0 = nobody knows. */
  #sample(event: Buffer, known: JsonObject | undefined): number {
    if (this.#samplesLeft === 0 || this.#looksLeft === 0) return 0;
    this.#looksLeft--;
    const body = known ?? bodyOf(event);
    const text = body === undefined ? 0 : textIn(body, 0, Buffer.byteLength);
    if (text === 0) return 0;
    this.#samplesLeft--;
    this.#frame = Math.min(this.#frame, event.length - text);
    return text;
  }
}

const samplesMax = 3;
const looksMax = 8;
/** In which events are named. */
const nameBytes = 128;

function bodyOf(event: Buffer): JsonObject | undefined {
  const [parsed] = parseSseEvents(event);
  return parsed === undefined ? undefined : parseObject(parsed.data);
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
  // Of models that Bedrock asks in their own words.
  'completion',
  'generation',
  'outputText',
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
  let sum = 0;
  for (const item of value) sum += measured(item, name, depth + 1, measure);
  return sum;
}

/** The characters that a whole reply says. */
export function charsSaidIn(reply: JsonObject): number {
  return textIn(reply, 0, (text) => text.length);
}
