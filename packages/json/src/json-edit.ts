import { itemSpans, type JsonSpan, memberSpans, skipSpace } from './spans.ts';

/** A name of a member, or the place of an item. */
export type JsonStep = string | number;

/** What becomes of one value: another text, nothing, or the same but for what is in it. */
interface Change {
  /** JSON text; null = left out. */
  text?: string | null;
  parts?: Map<JsonStep, Change>;
}

/**
 * Changes values in the bytes of a JSON document, and leaves every other byte alone: order, spacing, number
 * forms and spellings survive. Members that are not there are added behind the last, with the objects around them;
 * items of lists that are not there are not. All members of a doubled name are changed.
 */
export class JsonEdit {
  readonly #bytes: Buffer;
  readonly #root: Change = {};

  /** @param bytes an object or a list, which has been parsed */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** @param json JSON text; undefined = the member or item is left out. A later call wins over one for the same path or one around it. */
  set(path: readonly JsonStep[], json: string | undefined): this {
    let change = this.#root;
    for (const step of path) {
      // What was set as a whole is no longer what stands in the bytes: nothing can be changed in it.
      if (change.text !== undefined)
        throw new Error(`${path.join('.')} is in what was set already`);
      change.parts ??= new Map();
      let next = change.parts.get(step);
      if (next === undefined) {
        next = {};
        change.parts.set(step, next);
      }
      change = next;
    }
    change.text = json ?? null;
    change.parts = undefined;
    return this;
  }

  /** The document with all changes; the bytes themselves where there are none. */
  bytes(): Buffer {
    const { parts } = this.#root;
    if (parts === undefined) return this.#bytes;
    const output = new Output(this.#bytes);
    const start = skipSpace(this.#bytes, 0);
    output.copy(0, start);
    writeInside(output, { start, end: this.#bytes.length }, parts);
    return output.joined();
  }
}

function writeInside(output: Output, span: JsonSpan, parts: Map<JsonStep, Change>): void {
  if (output.source[span.start] === openList) writeList(output, span, parts);
  else writeObject(output, span, parts);
}

function writeObject(output: Output, span: JsonSpan, parts: Map<JsonStep, Change>): void {
  const { source } = output;
  const missing = new Set(parts.keys());
  let at = span.start + 1;
  let count = 0;
  output.copy(span.start, at);
  for (const member of memberSpans(source, span.start)) {
    const change = parts.get(member.key);
    missing.delete(member.key);
    if (change?.text !== null) {
      separate(output, at, member.keyStart, count++);
      output.copy(member.keyStart, member.start);
      writeValue(output, member, change);
    }
    at = member.end;
  }
  for (const step of missing) {
    const text = newText(parts.get(step) as Change);
    if (text === undefined) continue;
    output.text(`${count++ === 0 ? '' : ','}${JSON.stringify(String(step))}:${text}`);
  }
  output.copy(at, span.end);
}

function writeList(output: Output, span: JsonSpan, parts: Map<JsonStep, Change>): void {
  let at = span.start + 1;
  let count = 0;
  output.copy(span.start, at);
  for (const [index, item] of itemSpans(output.source, span.start).entries()) {
    const change = parts.get(index);
    if (change?.text !== null) {
      separate(output, at, item.start, count++);
      writeValue(output, item, change);
    }
    at = item.end;
  }
  output.copy(at, span.end);
}

function writeValue(output: Output, span: JsonSpan, change: Change | undefined): void {
  const first = output.source[span.start];
  const isHolder = first === openObject || first === openList;
  if (change?.parts !== undefined && isHolder) {
    writeInside(output, span, change.parts);
    return;
  }
  // What is no object cannot have members: it becomes one.
  const text = change === undefined ? undefined : newText(change);
  if (text === undefined) output.copy(span.start, span.end);
  else output.text(text);
}

/** Spaces and the comma between two values, without the comma where nothing precedes. */
function separate(output: Output, start: number, end: number, count: number): void {
  const found = count === 0 ? output.source.subarray(start, end).indexOf(comma) : -1;
  const behind = found === -1 ? start : start + found + 1;
  if (found !== -1) output.copy(start, start + found);
  output.copy(behind, end);
}

function newText({ text, parts }: Change): string | undefined {
  if (typeof text === 'string') return text;
  const members: string[] = [];
  for (const [step, change] of parts ?? []) {
    const inner = newText(change);
    if (inner !== undefined) members.push(`${JSON.stringify(String(step))}:${inner}`);
  }
  return members.length === 0 ? undefined : `{${members.join(',')}}`;
}

/** Ranges of the source and new texts, joined once. */
class Output {
  readonly source: Buffer;
  readonly #parts: Buffer[] = [];
  #start = 0;
  #end = 0;

  constructor(source: Buffer) {
    this.source = source;
  }

  copy(start: number, end: number): void {
    if (end <= start) return;
    if (start !== this.#end) {
      this.#flush();
      this.#start = start;
    }
    this.#end = end;
  }

  text(text: string): void {
    this.#flush();
    this.#start = this.#end;
    this.#parts.push(Buffer.from(text));
  }

  joined(): Buffer {
    if (this.#parts.length === 0 && this.#start === 0 && this.#end === this.source.length)
      return this.source;
    this.#flush();
    return Buffer.concat(this.#parts);
  }

  #flush(): void {
    if (this.#end > this.#start) this.#parts.push(this.source.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}

const comma = 0x2c;
const openList = 0x5b;
const openObject = 0x7b;
