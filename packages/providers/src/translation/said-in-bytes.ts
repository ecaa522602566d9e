import type { JsonObject, JsonValue } from '@sluice/contracts';

/**
 * How much a stream says, in bytes of UTF-8, measured in the bytes of its events:
 * none is parsed for it. A member's name in quotes stands in no text, where quotes
 * are escaped.
 */
export class SaidInBytes {
  readonly #saying: Buffer | undefined;
  #hasBegun = false;
  #blankLine: Buffer = lineFeeds;
  /** Those that have said something in this stream, and are looked for before all others. */
  readonly #heard: Buffer[] = [];
  /** Where the last event had its delta. */
  #delta = -1;
  #said = 0;

  /** @param saying stands in the name of every event that says something; undefined = all may */
  constructor(saying?: string) {
    this.#saying = saying === undefined ? undefined : Buffer.from(saying);
  }

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get bytes(): number {
    return this.#said;
  }

  /** @param event the first with content, whole */
  begin(event: Buffer): void {
    this.#hasBegun = true;
    this.#blankLine = blankLines.find((line) => endsWith(event, line)) ?? lineFeeds;
    this.#hear(event);
  }

  /** Whole events from there on, unread. */
  add(events: Buffer): void {
    const line = this.#blankLine;
    for (let start = 0; start < events.length; ) {
      const at = events.indexOf(line, start);
      const end = at === -1 ? events.length : at + line.length;
      this.#hear(events.subarray(start, end));
      start = end;
    }
  }

  #hear(event: Buffer): void {
    if (this.#saying !== undefined) {
      const named = event.indexOf(this.#saying);
      if (named === -1 || named > nameBytes) return;
    }
    // One at least for each event: a vendor sends none that says nothing.
    this.#said += Math.max(1, this.#saidIn(event));
  }

  #saidIn(event: Buffer): number {
    // Beside what is new, some tell with each event all that was said so far (`message`).
    const delta = this.#deltaIn(event);
    if (delta !== -1) {
      const said = this.#saidFirst(event, delta + deltaName.length);
      if (said > 0) return said;
    }
    const from = Math.max(0, delta);
    let sum = 0;
    for (const name of this.#heard) sum += saidUnder(name, event, from);
    if (sum > 0) return sum;
    for (const name of quotedNames) {
      sum = saidUnder(name, event, from);
      if (sum === 0) continue;
      this.#heard.push(name);
      return sum;
    }
    return 0;
  }

  /** Most events of a stream have it in one place. */
  #deltaIn(event: Buffer): number {
    if (!isAt(event, deltaName, this.#delta)) this.#delta = event.indexOf(deltaName);
    return this.#delta;
  }

  /** The delta itself, or its first member, as most events have it; 0 = it has to be searched. */
  #saidFirst(event: Buffer, nameEnd: number): number {
    let at = afterBlanks(event, nameEnd);
    if (event[at] !== colon) return 0;
    at = afterBlanks(event, at + 1);
    if (event[at] !== brace) return textAt(event, nameEnd);
    at = afterBlanks(event, at + 1);
    for (const name of this.#heard)
      if (isAt(event, name, at)) return textAt(event, at + name.length);
    return 0;
  }
}

/** What all members of a name say in a text of JSON. */
function saidUnder(name: Buffer, json: Buffer, from: number): number {
  let sum = 0;
  for (let at = json.indexOf(name, from); at !== -1; at = json.indexOf(name, at + name.length))
    sum += textAt(json, at + name.length);
  return sum;
}

/** Bytes of the text that is the value of a member whose name ends here; 0 = it is none. */
function textAt(json: Buffer, nameEnd: number): number {
  let at = afterBlanks(json, nameEnd);
  if (json[at] !== colon) return 0;
  at = afterBlanks(json, at + 1);
  if (json[at] !== quote) return 0;
  let sum = 0;
  for (at++; at < json.length && json[at] !== quote; at++) {
    if (json[at] !== backslash) {
      sum++;
      continue;
    }
    at++;
    const isCode = json[at] === letterU;
    // A code beyond Latin-1 takes three bytes where it is written out; a half of a pair somewhat less.
    sum += isCode && !(json[at + 1] === zero && json[at + 2] === zero) ? 3 : 1;
    if (isCode) at += 4;
  }
  return sum;
}

function afterBlanks(json: Buffer, from: number): number {
  let at = from;
  while (json[at] === blank) at++;
  return at;
}

function isAt(bytes: Buffer, name: Buffer, at: number): boolean {
  if (at < 0) return false;
  for (let i = 0; i < name.length; i++) if (bytes[at + i] !== name[i]) return false;
  return true;
}

const [blank, quote, colon, brace, backslash, letterU, zero] = Buffer.from(' ":{\\u0');

/** In which events are named. */
const nameBytes = 128;

const lineFeeds = Buffer.from('\n\n');
const blankLines = [Buffer.from('\r\n\r\n'), lineFeeds, Buffer.from('\r\r')];

function endsWith(bytes: Buffer, end: Buffer): boolean {
  return bytes.subarray(-end.length).equals(end);
}

/** In the order in which events are searched for them: a thought that is told twice is found under the first. */
const textNames: ReadonlySet<string> = new Set([
  'content',
  'arguments',
  'reasoning_content',
  'reasoning',
  'text',
  'thinking',
  'partial_json',
  'refusal',
  'tool_plan',
  'delta',
  // Of tools that are no functions, and of Converse's.
  'input',
  // Of models that Bedrock asks in their own words.
  'completion',
  'generation',
  'outputText',
]);
const deltaName = Buffer.from('"delta"');
const quotedNames = [...textNames].map((name) => Buffer.from(`"${name}"`));

/** All members that hold what is said. */
function textIn(value: JsonObject, depth: number): number {
  let sum = 0;
  for (const name in value) sum += measured(value[name], name, depth);
  return sum;
}

function measured(value: JsonValue | undefined, name: string, depth: number): number {
  if (typeof value === 'string') return textNames.has(name) ? Buffer.byteLength(value) : 0;
  if (depth > 8 || typeof value !== 'object' || value === null) return 0;
  if (!Array.isArray(value)) return textIn(value, depth + 1);
  let sum = 0;
  for (const item of value) sum += measured(item, name, depth + 1);
  return sum;
}

/** The bytes of UTF-8 that a whole reply says. */
export function bytesSaidIn(reply: JsonObject): number {
  return textIn(reply, 0);
}
