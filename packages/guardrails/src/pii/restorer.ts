import { identifierForm, type RedactionMap } from './identifiers.ts';

/**
 * Puts back what identifiers stand for, in a text that comes in pieces: what
 * could be the beginning of one is held until it is known.
 */
export class Restorer {
  readonly #originals: RedactionMap;
  readonly #lengthMax: number;
  #held = '';

  constructor(originals: RedactionMap) {
    this.#originals = originals;
    this.#lengthMax = Math.max(0, ...[...originals.keys()].map(({ length }) => length));
  }

  /** The longest text that is ever held back, in UTF-16 code units. */
  get heldMax(): number {
    return Math.max(0, this.#lengthMax - 1);
  }

  /** Of what was pushed, and is not given yet. */
  get heldLength(): number {
    return this.#held.length;
  }

  /** As much of the text so far as is certain. */
  push(piece: string): string {
    const text = this.#held + piece;
    const certain = this.#certainLength(text);
    this.#held = text.slice(certain);
    return this.#restored(text.slice(0, certain));
  }

  /** What is left when no more comes. */
  end(): string {
    const rest = this.#restored(this.#held);
    this.#held = '';
    return rest;
  }

  #restored(text: string): string {
    if (!text.includes('{{')) return text;
    return text.replace(
      identifierForm,
      (identifier) => this.#originals.get(identifier) ?? identifier,
    );
  }

  #certainLength(text: string): number {
    const from = Math.max(0, text.length - this.heldMax);
    for (let at = text.indexOf('{', from); at >= 0; at = text.indexOf('{', at + 1))
      if (this.#mayBegin(text.slice(at))) return at;
    return text.length;
  }

  #mayBegin(tail: string): boolean {
    if (!beginning.test(tail)) return false;
    for (const identifier of this.#originals.keys()) if (identifier.startsWith(tail)) return true;
    return false;
  }
}

const beginning = /^\{(?:\{(?:[A-Z][A-Z0-9_]*\}?)?)?$/;
