import { plainText } from './plain-text.ts';

/** A phrase that was found, and where: counted in words. */
export interface FoundPhrase<Idea> {
  readonly idea: Idea;
  readonly at: number;
  /** Found only once digits and marks were read as letters. */
  readonly isRespelled: boolean;
}

interface Entry<Idea> {
  /** The words of the phrase but the first; a star stands for any one. */
  readonly rest: readonly string[];
  /** Whether its last word goes on. */
  readonly isOpen: boolean;
  readonly idea: Idea;
}

/** Finds whole words and phrases in any script, in one pass over the text. */
export class PhraseIndex<Idea> {
  readonly #byWord = new Map<string, Entry<Idea>[]>();
  /** Single words that go on, by their beginning. */
  readonly #byStem = new Map<string, Entry<Idea>[]>();
  readonly #stemLengths: readonly number[];
  readonly #stemMax: number;
  /** Words by their length and first letter, for those with a letter covered. */
  readonly #byShape = new Map<string, string[]>();

  /** Phrases with their ideas. A star behind the last word stands for any end of it. */
  constructor(phrases: Iterable<readonly [phrase: string, idea: Idea]>) {
    for (const [phrase, idea] of phrases) {
      const isOpen = phrase.trim().endsWith('*');
      const [first = '', ...rest] = plainText(phrase.trim().replace(/\*$/, '')).split(/\s+/);
      const entry = { rest, isOpen, idea };
      add(isOpen && rest.length === 0 ? this.#byStem : this.#byWord, first, entry);
      if (!isOpen && rest.length === 0) {
        const shape = `${first[0]}${first.length}`;
        this.#byShape.set(shape, [...(this.#byShape.get(shape) ?? []), first]);
      }
    }
    this.#stemLengths = [...new Set([...this.#byStem.keys()].map((stem) => stem.length))].sort(
      (a, b) => a - b,
    );
    this.#stemMax = Math.max(1, ...this.#stemLengths);
  }

  /** In a text that `readText` has made plain. */
  find(text: string): FoundPhrase<Idea>[] {
    const found: FoundPhrase<Idea>[] = [];
    const tokens = this.#tokensOf(text);
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at] as string;
      if (this.#lookUp(token, at, tokens, false, found)) continue;
      for (const spelling of this.#spellings(token))
        if (this.#lookUp(spelling, at, tokens, true, found)) break;
    }
    return found;
  }

  #lookUp(
    word: string,
    at: number,
    tokens: readonly string[],
    isRespelled: boolean,
    found: FoundPhrase<Idea>[],
  ): boolean {
    const before = found.length;
    for (const entry of this.#byWord.get(word) ?? [])
      if (goesOn(entry, at, tokens)) found.push({ idea: entry.idea, at, isRespelled });
    for (const length of this.#stemLengths) {
      if (length > word.length) break;
      for (const { idea } of this.#byStem.get(word.slice(0, length)) ?? [])
        found.push({ idea, at, isRespelled });
    }
    return found.length > before;
  }

  /** As it may have been meant: digits and marks as letters, letters said longer, letters covered. */
  #spellings(token: string): readonly string[] {
    const isMarked = marked.test(token) && /\p{L}/u.test(token);
    const isLong = /(.)\1\1/u.test(token);
    if (!isMarked && !isLong) return [];
    const spellings: string[] = [];
    if (isLong)
      spellings.push(token.replace(/(.)\1{2,}/gu, '$1'), token.replace(/(.)\1{2,}/gu, '$1$1'));
    if (isMarked) {
      const word = token.replace(/[034578@$.]/g, (unit) => letterOf[unit] ?? unit);
      spellings.push(word.replace(/[1!]/g, 'i'), word.replace(/[1!]/g, 'l'));
      if (token.includes('*')) spellings.push(...this.#uncovered(token));
    }
    return spellings;
  }

  #uncovered(token: string): string[] {
    const candidates = this.#byShape.get(`${token[0]}${token.length}`) ?? [];
    return candidates.filter((word) =>
      [...word].every((letter, at) => token[at] === letter || token[at] === '*'),
    );
  }

  /**
   * Words; of scripts without blanks, what begins at each character. Marks that
   * pass for letters stay within a word.
   */
  #tokensOf(text: string): string[] {
    const tokens: string[] = [];
    for (const [run] of text.matchAll(word)) {
      if (!unspaced.test(run)) tokens.push(run);
      else for (let at = 0; at < run.length; at++) tokens.push(run.slice(at, at + this.#stemMax));
    }
    return tokens;
  }
}

function add<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}

function goesOn({ rest, isOpen }: Entry<unknown>, at: number, tokens: readonly string[]): boolean {
  for (let step = 0; step < rest.length; step++) {
    const wanted = rest[step] as string;
    const token = tokens[at + 1 + step];
    if (token === undefined) return false;
    const mayGoOn = isOpen && step === rest.length - 1;
    if (wanted !== '*' && token !== wanted && !(mayGoOn && token.startsWith(wanted))) return false;
  }
  return true;
}

const word =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]{1,4000}|[@$]?[\p{L}\p{M}\p{N}]{1,60}(?:[-'’.@$!_*]{1,3}[\p{L}\p{M}\p{N}]{1,60}){0,8}/gu;
const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/u;
const marked = /[0-9@$!*]/;

const letterOf: Readonly<Record<string, string>> = {
  0: 'o',
  3: 'e',
  4: 'a',
  5: 's',
  7: 't',
  8: 'b',
  '@': 'a',
  $: 's',
};
