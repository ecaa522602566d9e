import {
  type CharSet,
  complement,
  digits,
  lineEnds,
  normaliseRanges,
  spaces,
  wordCharacters,
} from './char-set.ts';

/**
 * Reads JavaScript's regular expressions (without the flags u, v and y), save
 * what cannot be run in linear time: look-around and back-references.
 */
export type RegexNode =
  | { readonly kind: 'set'; readonly set: CharSet }
  | { readonly kind: 'sequence'; readonly parts: readonly RegexNode[] }
  /** Earlier parts are preferred. */
  | { readonly kind: 'choice'; readonly parts: readonly RegexNode[] }
  | {
      readonly kind: 'repeat';
      readonly part: RegexNode;
      readonly min: number;
      /** Infinity = as often as it goes. */
      readonly max: number;
      readonly isGreedy: boolean;
    }
  /** Capturing; the whole match is group 0 and has no node. */
  | { readonly kind: 'group'; readonly index: number; readonly part: RegexNode }
  | { readonly kind: 'assert'; readonly what: Assertion };

export type Assertion = 'start' | 'end' | 'line-start' | 'line-end' | 'boundary' | 'no-boundary';

export interface RegexFlags {
  readonly ignoresCase: boolean;
  readonly isMultiline: boolean;
  readonly dotMatchesAll: boolean;
}

/** Says what is wrong, in words that follow "must be a regular expression …". */
export class RegexFault extends Error {}

export interface ParsedRegex {
  readonly root: RegexNode;
  readonly groupCount: number;
}

const depthMax = 50;
const groupsMax = 50;

/** @throws RegexFault */
export function parseRegex(pattern: string, flags: RegexFlags): ParsedRegex {
  const parser = new Parser(pattern, flags);
  const root = parser.choice(0);
  if (!parser.isAtEnd) throw new RegexFault(`has an unmatched ")" at ${parser.position}`);
  if (parser.groupCount > groupsMax)
    throw new RegexFault(`has more than ${groupsMax} capturing groups`);
  return { root, groupCount: parser.groupCount };
}

class Parser {
  position = 0;
  groupCount = 0;
  readonly #text: string;
  readonly #flags: RegexFlags;

  constructor(text: string, flags: RegexFlags) {
    this.#text = text;
    this.#flags = flags;
  }

  get isAtEnd(): boolean {
    return this.position >= this.#text.length;
  }

  choice(depth: number): RegexNode {
    if (depth > depthMax) throw new RegexFault(`nests groups deeper than ${depthMax} levels`);
    const parts = [this.#sequence(depth)];
    while (this.#take('|')) parts.push(this.#sequence(depth));
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'choice', parts };
  }

  #sequence(depth: number): RegexNode {
    const parts: RegexNode[] = [];
    while (!this.isAtEnd && !this.#isNext('|') && !this.#isNext(')')) parts.push(this.#term(depth));
    return parts.length === 1 && parts[0] !== undefined ? parts[0] : { kind: 'sequence', parts };
  }

  #term(depth: number): RegexNode {
    const assertion = this.#assertion();
    return assertion ?? this.#quantified(this.#atom(depth));
  }

  #assertion(): RegexNode | undefined {
    const lines = this.#flags.isMultiline;
    if (this.#take('^')) return { kind: 'assert', what: lines ? 'line-start' : 'start' };
    if (this.#take('$')) return { kind: 'assert', what: lines ? 'line-end' : 'end' };
    if (this.#take('\\b')) return { kind: 'assert', what: 'boundary' };
    if (this.#take('\\B')) return { kind: 'assert', what: 'no-boundary' };
    return undefined;
  }

  #quantified(part: RegexNode): RegexNode {
    const range = this.#quantifier();
    if (range === undefined) return part;
    const isGreedy = !this.#take('?');
    return { kind: 'repeat', part, min: range[0], max: range[1], isGreedy };
  }

  #quantifier(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    const braces = this.#takeMatch(/\{(\d+)(,(\d*))?\}/y);
    if (braces === undefined) return undefined;
    const min = Number(braces[1]);
    if (braces[2] === undefined) return [min, min];
    return [min, braces[3] === '' ? Number.POSITIVE_INFINITY : Number(braces[3])];
  }

  #atom(depth: number): RegexNode {
    if (this.#take('(')) return this.#group(depth);
    if (this.#take('[')) return this.#class();
    if (this.#take('.')) return this.#set(this.#flags.dotMatchesAll ? [] : lineEnds, true);
    if (this.#take('\\')) {
      const escaped = this.#escape(false);
      return this.#set(typeof escaped === 'number' ? [escaped, escaped] : escaped, false);
    }
    const unit = this.#text.charCodeAt(this.position++);
    return this.#set([unit, unit], false);
  }

  #group(depth: number): RegexNode {
    if (this.#isNext('?=') || this.#isNext('?!') || this.#isNext('?<=') || this.#isNext('?<!'))
      throw new RegexFault(
        `uses look-around at ${this.position - 1}, which cannot be run in bounded time`,
      );
    let index = 0;
    if (this.#takeMatch(/\?<[^>]+>/y) !== undefined) index = ++this.groupCount;
    else if (this.#isNext('?') && !this.#take('?:'))
      throw new RegexFault(`changes flags at ${this.position - 1}, which is not supported`);
    else if (this.#text[this.position - 1] === '(') index = ++this.groupCount;
    const part = this.choice(depth + 1);
    if (!this.#take(')')) throw new RegexFault('has a group that is not closed');
    return index === 0 ? part : { kind: 'group', index, part };
  }

  #class(): RegexNode {
    const isNegated = this.#take('^');
    const ranges: number[] = [];
    while (!this.#take(']')) {
      if (this.isAtEnd) throw new RegexFault('has a class that is not closed');
      const first = this.#classAtom();
      if (!this.#isNext('-') || this.#isNext('-]')) {
        ranges.push(...(typeof first === 'number' ? [first, first] : first));
        continue;
      }
      this.position++;
      const last = this.#classAtom();
      if (typeof first === 'number' && typeof last === 'number') {
        if (last < first) throw new RegexFault('has a range of characters that is out of order');
        ranges.push(first, last);
      } else {
        // With a class such as \d on either side the hyphen is an ordinary character.
        for (const side of [first, last])
          ranges.push(...(typeof side === 'number' ? [side, side] : side));
        ranges.push(0x2d, 0x2d);
      }
    }
    return this.#set(ranges, isNegated);
  }

  #classAtom(): number | readonly number[] {
    if (this.#take('\\')) return this.#escape(true);
    return this.#text.charCodeAt(this.position++);
  }

  /** What follows a backslash: one code unit, or ranges. */
  #escape(isInClass: boolean): number | readonly number[] {
    if (this.isAtEnd) throw new RegexFault('ends with a backslash');
    const letter = this.#text[this.position++] ?? '';
    const known = classEscapes[letter] ?? controlEscapes[letter];
    if (known !== undefined) return known;
    if (letter === 'b' && isInClass) return 0x08;
    if (/[0-9]/.test(letter)) return this.#digitEscape(letter);
    if (letter === 'k' && this.#isNext('<'))
      throw new RegexFault('uses a back-reference, which cannot be run in bounded time');
    if (letter === 'c') {
      const control = this.#takeMatch(/[A-Za-z]/y)?.[0];
      if (control !== undefined) return control.charCodeAt(0) % 32;
      // Without a letter the backslash stands for itself.
      this.position--;
      return 0x5c;
    }
    if (letter === 'x' || letter === 'u') {
      const code = this.#takeMatch(letter === 'x' ? /[0-9a-fA-F]{2}/y : /[0-9a-fA-F]{4}/y);
      if (code !== undefined) return Number.parseInt(code[0], 16);
    }
    return letter.charCodeAt(0);
  }

  #digitEscape(digit: string): number {
    if (digit === '0' && this.#takeMatch(/[0-9]/y) === undefined) return 0;
    throw new RegexFault('uses a back-reference, which cannot be run in bounded time');
  }

  #set(ranges: readonly number[], isNegated: boolean): RegexNode {
    const { ignoresCase } = this.#flags;
    return { kind: 'set', set: { ranges: normaliseRanges(ranges), isNegated, ignoresCase } };
  }

  #isNext(text: string): boolean {
    return this.#text.startsWith(text, this.position);
  }

  #take(text: string): boolean {
    if (!this.#isNext(text)) return false;
    this.position += text.length;
    return true;
  }

  #takeMatch(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.position;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.position += found[0].length;
    return found;
  }
}

const classEscapes: Readonly<Record<string, readonly number[]>> = {
  d: digits,
  D: complement(digits),
  w: wordCharacters,
  W: complement(wordCharacters),
  s: spaces,
  S: complement(spaces),
};

const controlEscapes: Readonly<Record<string, number>> = {
  t: 0x09,
  n: 0x0a,
  v: 0x0b,
  f: 0x0c,
  r: 0x0d,
};
