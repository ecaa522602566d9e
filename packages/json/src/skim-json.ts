import { jsonBounds } from './bounds.ts';
import { readJsonObject } from './read-json.ts';

/** A member larger than this is told by its kind alone. */
const memberBytesMax = 64 * 1024;
/** All members that are kept whole. */
const keptBytesMax = 256 * 1024;
/** More items of one list are not told apart. */
const itemsMax = 10_000;

const quote = 0x22;
const comma = 0x2c;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/**
 * The small members of a JSON object that is too large to be parsed, read while
 * it passes: model and usage stand beside lists of a million numbers. Of a large
 * member only the kind is kept: an empty text, an object without members, a list
 * of as many zeros as it has items. Holds some hundred kilobytes at the most,
 * and takes about two nanoseconds a byte.
 */
export class SkimmedJson {
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  #isOver = false;
  /** Of the member that is being read: its first bytes, and how many it has. */
  #head: Buffer[] = [];
  #headBytes = 0;
  #memberBytes = 0;
  /** Commas of the list that the member is. */
  #commas = 0;
  #members: string[] = [];
  #keptBytes = 0;

  add(chunk: Buffer): void {
    let from = this.#depth === 0 ? chunk.length : 0;
    for (let at = 0; at < chunk.length && !this.#isOver; at++) {
      if (this.#isText) {
        at = this.#skipText(chunk, at);
        continue;
      }
      const byte = chunk[at];
      if (byte === quote) {
        this.#isText = true;
      } else if (byte === openObject || byte === openList) {
        this.#depth++;
        if (this.#depth > 1) continue;
        if (byte === openList) this.#isOver = true;
        from = at + 1;
      } else if (byte === closeObject || byte === closeList) {
        this.#depth--;
        if (this.#depth > 0) continue;
        this.#keep(chunk, from, at);
        this.#finish();
        this.#isOver = true;
      } else if (byte === comma) {
        if (this.#depth === 2) this.#commas++;
        if (this.#depth > 1) continue;
        this.#keep(chunk, from, at);
        this.#finish();
        from = at + 1;
      }
    }
    if (!this.#isOver) this.#keep(chunk, from, chunk.length);
  }

  /** What there is of it; undefined when it was no object, or had not ended. */
  object(): Record<string, unknown> | undefined {
    if (!this.#isOver || this.#depth !== 0) return undefined;
    return readJsonObject(Buffer.from(`{${this.#members.join(',')}}`), jsonBounds.small);
  }

  /** The position of the byte that ends the text, or the chunk's last. */
  #skipText(chunk: Buffer, from: number): number {
    for (let at = from; at < chunk.length; at++) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (chunk[at] === backslash) this.#isEscaped = true;
      else if (chunk[at] === quote) {
        this.#isText = false;
        return at;
      }
    }
    return chunk.length;
  }

  #keep(chunk: Buffer, from: number, to: number): void {
    if (from >= to) return;
    this.#memberBytes += to - from;
    const room = memberBytesMax - this.#headBytes;
    if (room <= 0) return;
    // A copy: the chunk is passed on, and what holds it would hold all of it.
    const piece = Buffer.from(chunk.subarray(from, Math.min(to, from + room)));
    this.#head.push(piece);
    this.#headBytes += piece.length;
  }

  #finish(): void {
    const head = Buffer.concat(this.#head).toString('utf8');
    const isWhole = this.#memberBytes <= this.#headBytes;
    const fits = isWhole && this.#keptBytes + this.#headBytes <= keptBytesMax;
    const member = fits ? head : kindOf(head, this.#commas);
    if (member !== undefined && member.trim() !== '' && this.#keptBytes < 2 * keptBytesMax) {
      this.#members.push(member);
      this.#keptBytes += member.length;
    }
    this.#head = [];
    this.#headBytes = 0;
    this.#memberBytes = 0;
    this.#commas = 0;
  }
}

const memberStart = /^\s*("(?:[^"\\]|\\.){0,200}")\s*:\s*(.)/s;

/** `"data": [0,0,0]` for what was too large; nothing for what is no member. */
function kindOf(head: string, commas: number): string | undefined {
  const [, name, first] = memberStart.exec(head) ?? [];
  if (name === undefined) return undefined;
  if (first === '"') return `${name}:""`;
  if (first === '{') return `${name}:{}`;
  if (first !== '[') return undefined;
  return `${name}:[0${',0'.repeat(Math.min(commas, itemsMax - 1))}]`;
}
