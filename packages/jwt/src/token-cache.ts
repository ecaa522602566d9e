/** What was made of a token, until when. */
export interface CachedToken {
  readonly validUntilMs: number;
}

/**
 * Verdicts by the digest of their token, as many as fit; the longest unused go.
 * A token that many requests bring at once is worked on once.
 */
export class TokenCache<V extends CachedToken> {
  readonly #countMax: number;
  /** Maps keep insertion order, and a value that is used is inserted again. */
  readonly #held = new Map<string, V>();
  readonly #underWay = new Map<string, Promise<V>>();
  /** Grows when values are dropped: work that began before is not kept. */
  #drops = 0;

  constructor(countMax = 10_000) {
    this.#countMax = countMax;
  }

  get size(): number {
    return this.#held.size;
  }

  get(digest: string, nowMs: number): V | undefined {
    const value = this.#held.get(digest);
    if (value === undefined) return undefined;
    this.#held.delete(digest);
    if (value.validUntilMs <= nowMs) return undefined;
    this.#held.set(digest, value);
    return value;
  }

  /** The value that `make` makes; kept when it was not outdated meanwhile. Failures are not kept. */
  load(digest: string, make: () => Promise<V>): Promise<V> {
    const underWay = this.#underWay.get(digest);
    if (underWay !== undefined) return underWay;
    const dropsBefore = this.#drops;
    const load = make()
      .then((value) => {
        if (this.#drops === dropsBefore) this.#put(digest, value);
        return value;
      })
      .finally(() => {
        if (this.#underWay.get(digest) === load) this.#underWay.delete(digest);
      });
    this.#underWay.set(digest, load);
    return load;
  }

  /** Forgets values whose ground has changed. */
  dropWhere(isOutdated: (value: V) => boolean): void {
    this.#drops += 1;
    this.#underWay.clear();
    for (const [digest, value] of this.#held) if (isOutdated(value)) this.#held.delete(digest);
  }

  #put(digest: string, value: V): void {
    this.#held.set(digest, value);
    if (this.#held.size > this.#countMax)
      this.#held.delete(this.#held.keys().next().value as string);
  }
}
