/** A text that stands where somebody asked. */
export interface PassingText {
  /** Of the path, in the list that was given. */
  readonly path: number;
  /** Undefined where it is longer than what is kept of one. */
  readonly text: string | undefined;
}

interface Node {
  readonly members: Map<string, Node>;
  items: Node | undefined;
  /** Which path ends here; -1 = none. */
  path: number;
  /** The same where `true` is looked for. */
  truth: number;
}

const newNode = (): Node => ({ members: new Map(), items: undefined, path: -1, truth: -1 });

/** The first of `true`. */
const beginsTrue = 0x74;

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

/** 1 for what may stand between texts: structure, spaces, numbers and words (`null`, also Python's `NaN`). */
const isBetween = new Uint8Array(256);
for (const byte of Buffer.from(' \t\n\r{}[]:,+-.0123456789')) isBetween[byte] = 1;
for (let byte = 0x41; byte <= 0x5a; byte++) isBetween[byte] = isBetween[byte + 32] = 1;
/** 1 for the bytes that mean something between texts. */
const isStructure = new Uint8Array(256);
for (const byte of [quote, comma, colon, openList, closeList, openObject, closeObject])
  isStructure[byte] = 1;

/** A text is searched byte by byte so far, and by `indexOf` beyond, where that is worth a call. */
const nearBytes = 48;

/** Deeper than anybody nests what he means to be read. */
const levelsMax = 1000;

/** What the object or list that is being read is looked at for. */
interface Level {
  readonly node: Node;
  readonly isObject: boolean;
}

/**
 * Finds the texts at certain paths of a JSON document while its bytes pass, in
 * pieces of any size: all of them, also of members that stand twice. Holds the
 * text that is being read, and no more. Some nanoseconds a byte, less within long texts.
 */
export class PassingTexts {
  readonly #root = newNode();
  readonly #textBytesMax: number;
  readonly #nameBytesMax: number;
  /** Of what is looked at; what lies below is only counted. */
  readonly #levels: Level[] = [];
  #ignoredDepth = 0;
  /** Of the value that comes next. */
  #next: Node | undefined;
  #expectsName = false;
  #isText = false;
  #isEscaped = false;
  /** How many bytes of the text that is being read are wanted; 0 = none. */
  #wanted = 0;
  /** What earlier chunks had of it, and how many bytes it has. */
  #pieces: Buffer[] = [];
  #bytes = 0;
  #found: PassingText | undefined;
  #isOver = false;
  #isBroken = false;

  /**
   * @param paths members by their names, `*` for each item of a list or member of an object; in a list where a text is asked for each text is one.
   * `**` as the only step: every text of the document, but for names
   * @param textBytesMax of a text that is told, escapes counted as they stand
   * @param truths paths where `true` is told, as the text "true"; they are counted on from the others
   */
  constructor(
    paths: readonly (readonly string[])[],
    textBytesMax: number,
    truths: readonly (readonly string[])[] = [],
  ) {
    let longest = 0;
    for (const [index, path] of [...paths, ...truths].entries()) {
      let node = this.#root;
      for (const step of path) {
        if (step === '*') node = node.items ??= newNode();
        else if (step === '**') node.items = node;
        else {
          longest = Math.max(longest, step.length);
          const next = node.members.get(step) ?? newNode();
          node.members.set(step, next);
          node = next;
        }
      }
      if (index < paths.length) node.path = index;
      else node.truth = index;
    }
    this.#textBytesMax = textBytesMax;
    // Six bytes an escaped character; no name at all is never asked for.
    this.#nameBytesMax = Math.max(6 * longest, 1);
    this.#next = this.#root;
  }

  /** Some of its bytes cannot be JSON's: what another reader makes of it is not known. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** The next byte is the first of another document. @returns whether the last one was an object or a list, and whole */
  next(): boolean {
    const isWhole = this.#isOver && !this.#isBroken;
    this.#levels.length = 0;
    this.#ignoredDepth = 0;
    this.#next = this.#root;
    this.#expectsName = false;
    this.#isText = false;
    this.#isEscaped = false;
    this.#wanted = 0;
    this.#pieces = [];
    this.#bytes = 0;
    this.#isOver = false;
    this.#isBroken = false;
    return isWhole;
  }

  add(chunk: Buffer): readonly PassingText[] {
    const found: PassingText[] = [];
    const { length } = chunk;
    let at = 0;
    while (at < length) {
      if (this.#isText) {
        at = this.#readText(chunk, at);
        if (this.#found !== undefined) found.push(this.#found);
        this.#found = undefined;
        continue;
      }
      if (this.#ignoredDepth > 0) {
        at = this.#passIgnored(chunk, at);
        continue;
      }
      const byte = chunk[at] as number;
      if (byte === quote) this.#beginText();
      else if (isBetween[byte] === 0) this.#isBroken = true;
      else if (isStructure[byte] === 1) this.#step(byte);
      else if (this.#isOver && byte > 0x20) this.#isBroken = true;
      else if (byte === beginsTrue && this.#next !== undefined && this.#next.truth >= 0) {
        found.push({ path: this.#next.truth, text: 'true' });
        this.#next = undefined;
      }
      at++;
    }
    return found;
  }

  /** Most of a body lies in members that nobody asked for. Of locals the loop is several times as fast as of fields. */
  #passIgnored(chunk: Buffer, from: number): number {
    const { length } = chunk;
    let depth = this.#ignoredDepth;
    let at = from;
    while (at < length && depth > 0) {
      const byte = chunk[at] as number;
      at++;
      if (byte === quote) {
        const end = textEndIn(chunk, at);
        if (end < 0) {
          this.#isText = true;
          this.#wanted = 0;
          this.#isEscaped = endsInEscape(chunk, at);
          at = length;
        } else at = end + 1;
      } else if (byte === openObject || byte === openList) depth++;
      else if (byte === closeObject || byte === closeList) depth--;
      else if (isBetween[byte] === 0) this.#isBroken = true;
    }
    this.#ignoredDepth = depth;
    return at;
  }

  #step(byte: number): void {
    if (this.#isOver) {
      this.#isBroken = true;
      return;
    }
    if (byte === openObject || byte === openList) {
      this.#open(byte === openObject);
      return;
    }
    if (byte === closeObject || byte === closeList) {
      if (this.#ignoredDepth > 0) this.#ignoredDepth--;
      else this.#levels.pop();
      this.#expectsName = false;
      this.#next = undefined;
      this.#isOver = this.#levels.length === 0 && this.#ignoredDepth === 0;
      return;
    }
    const level = this.#levels.at(-1);
    if (byte !== comma || this.#ignoredDepth > 0 || level === undefined) return;
    this.#expectsName = level.isObject;
    this.#next = level.isObject ? undefined : itemOf(level.node);
  }

  #open(isObject: boolean): void {
    const isTooDeep = this.#levels.length === levelsMax;
    if (isTooDeep) this.#isBroken = true;
    const node = isTooDeep || this.#ignoredDepth > 0 ? undefined : this.#next;
    if (node === undefined) {
      this.#ignoredDepth++;
      return;
    }
    this.#levels.push({ node, isObject });
    this.#expectsName = isObject;
    this.#next = isObject ? undefined : itemOf(node);
  }

  #beginText(): void {
    this.#isText = true;
    if (this.#isOver) this.#isBroken = true;
    if (this.#expectsName) this.#wanted = this.#nameBytesMax;
    else this.#wanted = this.#next !== undefined && this.#next.path >= 0 ? this.#textBytesMax : 0;
  }

  /** The position behind what the chunk has of the text. */
  #readText(chunk: Buffer, from: number): number {
    const start = this.#isEscaped ? from + 1 : from;
    this.#isEscaped = false;
    const end = textEndIn(chunk, start);
    if (end < 0) this.#isEscaped = endsInEscape(chunk, start);
    const to = end < 0 ? chunk.length : end;
    if (this.#wanted > 0) {
      this.#bytes += to - from;
      // A copy, where it goes on: the chunk is passed on.
      if (end < 0 && this.#bytes <= this.#wanted)
        this.#pieces.push(Buffer.from(chunk.subarray(from, to)));
      else if (end >= 0) this.#endText(chunk, from, to);
    }
    if (end < 0) return to;
    this.#isText = false;
    return end + 1;
  }

  /** Of a name, what its value is looked at for. */
  #endText(chunk: Buffer, from: number, to: number): void {
    const isWhole = this.#bytes <= this.#wanted;
    let text: string | undefined;
    if (isWhole)
      text = unescaped(
        this.#pieces.length === 0
          ? chunk.toString('utf8', from, to)
          : Buffer.concat([...this.#pieces, chunk.subarray(from, to)]).toString('utf8'),
      );
    if (isWhole && text === undefined) this.#isBroken = true;
    this.#pieces = [];
    this.#bytes = 0;
    if (!this.#expectsName) {
      this.#found = { path: this.#next?.path ?? -1, text };
      return;
    }
    this.#expectsName = false;
    const node = this.#levels.at(-1)?.node;
    this.#next = (text === undefined ? undefined : node?.members.get(text)) ?? node?.items;
  }
}

/** A list where one text is asked for. */
function itemOf(node: Node): Node | undefined {
  return node.items ?? (node.path < 0 ? undefined : { ...newNode(), path: node.path });
}

/** Where the closing quote of a text stands that goes on at `from`; -1 = in a later chunk. */
function textEndIn(chunk: Buffer, from: number): number {
  const near = Math.min(from + nearBytes, chunk.length);
  let at = from;
  while (at < near) {
    const byte = chunk[at];
    if (byte === quote) return at;
    at += byte === backslash ? 2 : 1;
  }
  for (;;) {
    const found = chunk.indexOf(quote, at);
    if (found < 0) return -1;
    let before = found;
    while (before > at && chunk[before - 1] === backslash) before--;
    if ((found - before) % 2 === 0) return found;
    at = found + 1;
  }
}

/** Whether the chunk's last byte escapes the one behind it, in a text that goes on at `from`. */
function endsInEscape(chunk: Buffer, from: number): boolean {
  let before = chunk.length;
  while (before > from && chunk[before - 1] === backslash) before--;
  return (chunk.length - before) % 2 === 1;
}

/** What is between its quotes; undefined = no reader of JSON takes it. */
function unescaped(text: string): string | undefined {
  if (!text.includes('\\')) return text;
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    return undefined;
  }
}
