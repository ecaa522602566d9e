import type { JsonObject, JsonValue } from '@sluice/contracts';
import type { SseEvent } from '../framing/sse.ts';

/**
 * How much a stream says, told from its bytes: the events of one stream have the
 * same around their text, and the first one with content shows how much that is.
 */
export class SaidInBytes {
  /** Of an event beside its text; undefined = nothing was said. */
  #frame: number | undefined;
  #events = 0;
  #bytes = 0;

  get hasBegun(): boolean {
    return this.#frame !== undefined;
  }

  /** The first event with content, and those that were read with it. */
  addRead(event: JsonObject, { name, data }: SseEvent): void {
    const around = lineChars + (name === '' ? 0 : name.length + nameLineChars);
    this.#frame ??= Math.max(0, data.length - textIn(event, 0)) + around;
    this.#bytes += data.length + around;
    this.#events++;
  }

  /** Whole events from there on, unread. */
  add(events: Buffer): void {
    this.#bytes += events.length;
    for (let at = events.indexOf(blankLine); at !== -1; at = events.indexOf(blankLine, at + 2))
      this.#events++;
  }

  /** One at least for each event: a vendor sends none that says nothing. */
  get chars(): number {
    if (this.#frame === undefined) return 0;
    return Math.max(this.#events, this.#bytes - this.#events * this.#frame);
  }
}

const blankLine = Buffer.from('\n\n');
/** `data: ` and the blank line; `event: ` and the end of its line. */
const lineChars = 8;
const nameLineChars = 8;

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

/** The characters of all members that hold what is said. */
function textIn(value: JsonObject, depth: number): number {
  let chars = 0;
  for (const name in value) chars += charsOf(value[name], name, depth);
  return chars;
}

function charsOf(value: JsonValue | undefined, name: string, depth: number): number {
  if (typeof value === 'string') return textNames.has(name) ? value.length : 0;
  if (depth > 8 || typeof value !== 'object' || value === null) return 0;
  if (!Array.isArray(value)) return textIn(value, depth + 1);
  return value.reduce<number>((sum, item) => sum + charsOf(item, name, depth + 1), 0);
}

/** The characters that a whole reply says. */
export function charsSaidIn(reply: JsonObject): number {
  return textIn(reply, 0);
}
