import type { VoiceKind, VoiceName } from './heard-event.ts';

/** A piece of a voice that waits to be decided. */
export interface HeldPiece {
  readonly voice: HeldVoice;
  /** Not decided yet. */
  rest: string;
  /** What is given of it so far. */
  given: string;
  /** All of its voice, told again: it is given as that was. */
  readonly isRepeat: boolean;
  /** When it came, ms. */
  readonly cameAt: number;
}

/** One text of an answer on its way: what of it is decided, and what is held. */
export class HeldVoice implements VoiceName {
  readonly key: string;
  readonly kind: VoiceKind;
  readonly choice: number;
  readonly isFixed?: true;
  /** No more comes of it. */
  isClosed = false;
  /** What was given is not what was told. */
  hasChanged = false;
  /** The held text begins inside a string of JSON. */
  inString = false;
  /** The end of what was given: what follows may belong to it. */
  lately = '';
  /** All that was told, and given for it: kept where it is told again, or asked for at the end. */
  told = '';
  given = '';
  readonly #keeps: boolean;
  #pieces: HeldPiece[] = [];
  #length = 0;

  constructor({ key, kind, choice, isFixed }: VoiceName, keeps: boolean) {
    if (isFixed !== undefined) this.isFixed = isFixed;
    this.key = key;
    this.kind = kind;
    this.choice = choice;
    this.#keeps = keeps;
  }

  /** Characters that are not decided. */
  get length(): number {
    return this.#length;
  }

  get text(): string {
    return this.#pieces.length === 1
      ? (this.#pieces[0]?.rest ?? '')
      : this.#pieces.map(({ rest }) => rest).join('');
  }

  /** Characters that came up to this time. */
  lengthUpTo(time: number): number {
    let length = 0;
    for (const { rest, cameAt } of this.#pieces) {
      if (cameAt > time) break;
      length += rest.length;
    }
    return length;
  }

  add(text: string, cameAt: number, isRepeat = false): HeldPiece {
    const piece = { voice: this, rest: text, given: '', isRepeat, cameAt };
    if (text !== '') this.#pieces.push(piece);
    this.#length += text.length;
    if (this.#keeps) this.told += text;
    return piece;
  }

  /** The first characters are these; words that differ stand where the first of them was told. */
  decide(length: number, instead: string): void {
    const raw = this.text.slice(0, length);
    if (this.#keeps) this.given += instead;
    this.lately = (this.lately + instead).slice(-latelyMax);
    const change = instead === raw ? undefined : changeOf(raw, instead);
    if (change !== undefined) this.hasChanged = true;
    let from = 0;
    while (from < length) {
      const [piece] = this.#pieces;
      if (piece === undefined) break;
      const to = Math.min(length, from + piece.rest.length);
      piece.given +=
        change === undefined
          ? piece.rest.slice(0, to - from)
          : share(raw, instead, change, from, to);
      piece.rest = piece.rest.slice(to - from);
      if (piece.rest === '') this.#pieces.shift();
      from = to;
    }
    this.#length -= from;
  }
}

/** More than any check looks back. */
const latelyMax = 512;

interface Change {
  /** Where the texts begin to differ. */
  readonly from: number;
  /** What both end with. */
  readonly same: number;
}

function changeOf(raw: string, instead: string): Change {
  const shorter = Math.min(raw.length, instead.length);
  let from = 0;
  while (from < shorter && raw[from] === instead[from]) from += 1;
  let same = 0;
  while (same < shorter - from && raw[raw.length - 1 - same] === instead[instead.length - 1 - same])
    same += 1;
  return { from: Math.min(from, raw.length - 1), same };
}

/** What of the other text belongs to the piece between these positions of the told one. */
function share(raw: string, instead: string, change: Change, from: number, to: number): string {
  const tail = raw.length - change.same;
  const shift = instead.length - raw.length;
  const before = instead.slice(from, Math.max(from, Math.min(to, change.from)));
  const holdsChange = from <= change.from && change.from < to;
  const changed = holdsChange ? instead.slice(change.from, tail + shift) : '';
  const after = to > tail ? instead.slice(Math.max(from, tail) + shift, to + shift) : '';
  return before + changed + after;
}
