/** Which identifier stands for what. Never logged. */
export type RedactionMap = ReadonlyMap<string, string>;

/**
 * The identifiers of one request, or of its answer: the same thing has the same
 * one in every text and for every check, and no two things share one.
 */
export class Identifiers {
  readonly #byThing = new Map<string, string>();
  readonly #originals = new Map<string, string>();
  readonly #given = new Set<string>();
  readonly #counts = new Map<string, number>();
  readonly #taken = new Set<string>();
  readonly #others: Identifiers | undefined;

  /** @param others of which none is given again: what stands for something else already */
  constructor(others?: Identifiers) {
    this.#others = others;
  }

  /** By identifier, what stood in its place first: of those that are to be put back. */
  get restorable(): RedactionMap {
    return this.#originals;
  }

  /** Identifiers that stand in this text stand for nothing new. */
  avoid(text: string): void {
    if (text.includes('{{'))
      for (const [identifier] of text.matchAll(identifierForm)) this.#taken.add(identifier);
  }

  /** For a thing of this kind, which was written as `original`. */
  of(type: string, value: string, original: string, isRestorable: boolean): string {
    const key = `${type} ${value}`;
    const identifier = this.#byThing.get(key) ?? this.#next(type);
    this.#byThing.set(key, identifier);
    this.#given.add(identifier);
    if (isRestorable && !this.#originals.has(identifier)) this.#originals.set(identifier, original);
    return identifier;
  }

  #next(type: string): string {
    for (;;) {
      const count = (this.#counts.get(type) ?? 0) + 1;
      this.#counts.set(type, count);
      const identifier = `{{${type}_${count}}}`;
      if (!this.#taken.has(identifier) && this.#others?.isGiven(identifier) !== true)
        return identifier;
    }
  }

  isGiven(identifier: string): boolean {
    return this.#given.has(identifier);
  }
}

export const identifierForm = /\{\{[A-Z][A-Z0-9_]{0,63}_\d{1,9}\}\}/g;
