import type { TokenName } from './token.ts';

/** What was made of a token, until when. */
export interface CachedToken {
  readonly validUntilMs: number;
}

/**
 * Verdicts by what their token says, as many as fit; the longest unused go. A
 * token has one place, however it is spelled: another signature over the same
 * claims is work anew, and replaces the one before if it holds. A token that
 * many requests bring at once is worked on once.
 */
export class TokenCache<V extends CachedToken> {
  readonly #countMax: number;
  /** By identity. Maps keep insertion order, and a value that is used is inserted again. */
  readonly #held = new Map<string, { proof: string; value: V }>();
  readonly #underWay = new Map<string, Promise<V>>();
  /** Grows when values are dropped: work that began before is not kept. */
  #drops = 0;

  constructor(countMax = 10_000) {
    this.#countMax = countMax;
  }

  get size(): number {
    return this.#held.size;
  }

  get({ identity, proof }: TokenName, nowMs: number): V | undefined {
    const held = this.#held.get(identity);
    if (held === undefined || held.proof !== proof) return undefined;
    this.#held.delete(identity);
    if (held.value.validUntilMs <= nowMs) return undefined;
    this.#held.set(identity, held);
    return held.value;
  }

  /** The value that `make` makes; kept when it was not outdated meanwhile. Failures are not kept. */
  load(name: TokenName, make: () => Promise<V>): Promise<V> {
    const spelling = `${name.identity}.${name.proof}`;
    const underWay = this.#underWay.get(spelling);
    if (underWay !== undefined) return underWay;
    const dropsBefore = this.#drops;
    const load = make()
      .then((value) => {
        if (this.#drops === dropsBefore) this.#put(name, value);
        return value;
      })
      .finally(() => {
        if (this.#underWay.get(spelling) === load) this.#underWay.delete(spelling);
      });
    this.#underWay.set(spelling, load);
    return load;
  }

  /** Forgets values whose ground has changed. */
  dropWhere(isOutdated: (value: V) => boolean): void {
    this.#drops += 1;
    this.#underWay.clear();
    for (const [identity, { value }] of this.#held)
      if (isOutdated(value)) this.#held.delete(identity);
  }

  #put({ identity, proof }: TokenName, value: V): void {
    this.#held.delete(identity);
    this.#held.set(identity, { proof, value });
    if (this.#held.size > this.#countMax)
      this.#held.delete(this.#held.keys().next().value as string);
  }
}
