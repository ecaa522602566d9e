export interface SeamOptions {
  /** What the caller has got. */
  told: string;
  /** The end of it, which the model was asked in words to begin with; undefined = its answer was begun for it. */
  asked: string | undefined;
  /** How many characters of its end the continuing model was not shown. */
  unseen: number;
}

/**
 * Where a continuation meets what was told. Its beginning is held for as long
 * as it may be a repetition of the end of what was told, and left out if it is
 * one. A model that was asked to repeat its last words and does not has left
 * open whether a blank, or half a word, belongs between both: the seam is torn.
 */
export class Seam {
  /** Nobody knows where both meet: nothing of the continuation can be told. */
  isTorn = false;
  readonly #told: string;
  readonly #asked: string | undefined;
  readonly #unseen: number;
  /** Places in what was told from which on it equals what is held. */
  #starts: number[] | undefined;
  #held = '';
  /** Length of the longest repetition that is certain. */
  #repeated = 0;
  #isOver = false;

  constructor({ told, asked, unseen }: SeamOptions) {
    this.#told = told;
    this.#asked = asked;
    this.#unseen = unseen;
  }

  /** What of the continuation so far is new to the caller. */
  push(text: string): string {
    if (this.#isOver) return this.isTorn ? '' : text;
    this.#held += text;
    if (this.#held === '') return '';
    if (this.#asked !== undefined && this.#held.startsWith(this.#asked)) {
      // As it was asked to: what follows is new, whatever else it may look like.
      this.#repeated = this.#asked.length;
      return this.end();
    }
    this.#compare();
    return this.#starts?.length === 0 ? this.end() : '';
  }

  /** Nothing more can come that was told: what is held is new but for what is repeated. */
  end(): string {
    if (this.#isOver) return '';
    this.#isOver = true;
    const fresh = this.#held.slice(this.#repeated);
    this.#held = '';
    this.isTorn = this.#asked !== undefined && this.#repeated === 0 && fresh !== '';
    return this.isTorn ? '' : fresh;
  }

  #compare(): void {
    const told = this.#told;
    const held = this.#held;
    this.#starts ??= placesOf(held.charAt(0), told);
    this.#starts = this.#starts.filter((at) => {
      const length = told.length - at;
      if (held.length < length) return told.startsWith(held, at);
      if (held.startsWith(told.slice(at)) && this.#isRepetition(at))
        this.#repeated = Math.max(this.#repeated, length);
      return false;
    });
  }

  /** Whether a repetition from here on is one, and not what the answer says once more. */
  #isRepetition(at: number): boolean {
    const told = this.#told;
    const length = told.length - at;
    if (length <= this.#unseen) return true;
    // Where a blank has been told, the same word may well be said twice.
    const isWord = this.#asked !== undefined && beginsWord(told, at) && /\S$/.test(told);
    return length >= (isWord ? wordMin : certainMin) && !isPeriodic(told, at);
  }
}

function placesOf(character: string, told: string): number[] {
  const places: number[] = [];
  const from = Math.max(0, told.length - overlapMax);
  for (let at = told.indexOf(character, from); at !== -1; at = told.indexOf(character, at + 1))
    places.push(at);
  return places;
}

/** More than this is not compared. */
const overlapMax = 16 * 1024;
/** A word that the answer ends with. */
const wordMin = 3;
/** So much is no chance. */
const certainMin = 24;

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
