export interface SeamOptions {
  /** What the caller has got. */
  told: string;
  /** How many characters of its end the continuing model was not shown. */
  unseen: number;
  /** The model was asked in words, and may begin with what it was shown last. */
  mayRepeat: boolean;
}

/**
 * Where a continuation meets what was told. Its beginning is held for as long
 * as it may be a repetition of the end of what was told, and left out if it is
 * one. The longest repetition counts: a model that began anew repeats all.
 */
export class Seam {
  readonly #told: string;
  readonly #unseen: number;
  readonly #mayRepeat: boolean;
  /** Places in what was told from which on it equals what is held. */
  #starts: number[] | undefined;
  #held = '';
  /** Length of the longest repetition that is certain. */
  #repeated = 0;
  #isOver = false;

  constructor({ told, unseen, mayRepeat }: SeamOptions) {
    this.#told = told;
    this.#unseen = unseen;
    this.#mayRepeat = mayRepeat;
  }

  /** What of the continuation so far is new to the caller. */
  push(text: string): string {
    if (this.#isOver) return text;
    this.#held += text;
    this.#compare();
    return this.#starts?.length === 0 ? this.end() : '';
  }

  /** Nothing more can come that was told: what is held is new but for what is repeated. */
  end(): string {
    if (this.#isOver) return '';
    this.#isOver = true;
    const fresh = this.#held.slice(this.#repeated);
    this.#held = '';
    return fresh;
  }

  #compare(): void {
    const told = this.#told;
    const held = this.#held;
    if (held === '') return;
    if (this.#starts === undefined) {
      this.#starts = [];
      for (let at = Math.max(0, told.length - overlapMax); at < told.length; at++)
        if (this.#mayBegin(at)) this.#starts.push(at);
    }
    this.#starts = this.#starts.filter((at) => {
      const length = told.length - at;
      if (held.length < length) return told.startsWith(held, at);
      if (held.startsWith(told.slice(at))) this.#repeated = Math.max(this.#repeated, length);
      return false;
    });
  }

  /** Whether a repetition from here on would be one, and not what the answer says once more. */
  #mayBegin(at: number): boolean {
    const told = this.#told;
    const length = told.length - at;
    if (length <= this.#unseen) return true;
    if (this.#mayRepeat) {
      const isSure = length >= repeatedMin || at === 0;
      if (!isSure && !(length >= wordMin && beginsWord(told, at))) return false;
    } else if (length < (at === 0 ? repeatedMin : shownMin)) return false;
    return !isPeriodic(told, at);
  }
}

/** More than this is not compared. */
const overlapMax = 16 * 1024;
/** A word that the answer ends with. */
const wordMin = 3;
/** So much is no chance. */
const repeatedMin = 8;
/** Who goes on within its own answer has no reason to repeat anything. */
const shownMin = 24;

function beginsWord(text: string, at: number): boolean {
  return (at === 0 || /\s/.test(text[at - 1] ?? '')) && /[\p{L}\p{N}]/u.test(text.slice(at));
}

/** What was said twice in a row may well be said a third time: a rule of a table, a refrain. */
function isPeriodic(text: string, at: number): boolean {
  const length = text.length - at;
  const tail = text.slice(at);
  if (at >= length && text.startsWith(tail, at - length)) return true;
  const period = (tail + tail).indexOf(tail, 1);
  return period <= length / 2;
}
