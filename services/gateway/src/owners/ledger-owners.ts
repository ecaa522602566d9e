import { RecentMap } from '../chain/recent-map.ts';
import type { OwnerNote } from '../exchange/named-objects.ts';
import type { WhoNames } from './owner-notes.ts';

export interface ObjectKey {
  readonly organisationId: string;
  /** SHA-256 of the provider's id, base64url. */
  readonly objectKey: string;
}

export interface LedgerOwnersOptions {
  /** Asks the data service; what it does not know is not in the answer. */
  readonly ask: (
    objects: readonly ObjectKey[],
  ) => Promise<readonly (ObjectKey & { note: OwnerNote })[]>;
  readonly onOutcome: (outcome: OwnerLookup, count: number) => void;
  readonly now?: () => number;
}

export const ownerLookups = ['found', 'unknown', 'refused', 'failed'] as const;
export type OwnerLookup = (typeof ownerLookups)[number];

const askedAtOnce = 500;
const asksMax = 2;
const waitingMax = 5_000;
const waitedMs = 2_000;
/** Ids a second of one organisation that callers named and that turned out to be nobody's; those that are found do not count. */
const missesPerSecondMax = 300;
/** Ids of one organisation that nobody has answered yet: who guesses keeps no others waiting. */
const unansweredMax = 1_000;
const organisationsMax = 10_000;
const unknownMax = 50_000;
/** What was made a moment ago is on its way to the ledger. */
const unknownMs = 5_000;
/** After an ask that failed nobody waits for another one for so long. */
const pauseMs = 1_000;

interface Waiting extends ObjectKey {
  readonly who: WhoNames;
  readonly untilMs: number;
  readonly resolve: (notes: readonly OwnerNote[]) => void;
  readonly reject: (error: Error) => void;
}

export class OwnersUnavailable extends Error {}

/**
 * Owners as the ledger has them, for what no gateway remembers: asked once for an id at a time, many ids together, with a deadline,
 * a cap for those that nobody knows, and not at all for a moment when the data service is away.
 */
export class LedgerOwners {
  readonly #options: LedgerOwnersOptions;
  readonly #now: () => number;
  readonly #underWay = new Map<string, Promise<readonly OwnerNote[]>>();
  readonly #unknown = new RecentMap<number>(unknownMax);
  readonly #misses = new Map<string, number>();
  readonly #unanswered = new Map<string, number>();
  #missesOf = 0;
  #waiting: Waiting[] = [];
  #asks = 0;
  #isSoon = false;
  #awayUntilMs = 0;

  constructor(options: LedgerOwnersOptions) {
    this.#options = options;
    this.#now = options.now ?? (() => performance.now());
  }

  /** @throws OwnersUnavailable where that cannot be known now */
  find(object: ObjectKey, who: WhoNames = 'named'): Promise<readonly OwnerNote[]> {
    const key = `${object.organisationId} ${object.objectKey}`;
    const nowMs = this.#now();
    if ((this.#unknown.use(key) ?? 0) > nowMs) return Promise.resolve([]);
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    if (nowMs < this.#awayUntilMs) return this.#refuse('failed');
    if (this.#waiting.length >= waitingMax || !this.#mayMiss(object.organisationId, who, nowMs))
      return this.#refuse('refused');
    const found = new Promise<readonly OwnerNote[]>((resolve, reject) => {
      this.#waiting.push({ ...object, who, untilMs: nowMs + waitedMs, resolve, reject });
    }).finally(() => {
      this.#underWay.delete(key);
      this.#countUnanswered(object.organisationId, -1);
    });
    this.#countUnanswered(object.organisationId, 1);
    this.#underWay.set(key, found);
    this.#askSoon();
    return found;
  }

  #refuse(outcome: OwnerLookup): Promise<never> {
    this.#options.onOutcome(outcome, 1);
    return Promise.reject(new OwnersUnavailable());
  }

  #mayMiss(organisationId: string, who: WhoNames, nowMs: number): boolean {
    return (
      (who === 'listed' || (this.#missesIn(nowMs).get(organisationId) ?? 0) < missesPerSecondMax) &&
      (this.#unanswered.get(organisationId) ?? 0) < unansweredMax
    );
  }

  #missesIn(nowMs: number): Map<string, number> {
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.#missesOf || this.#misses.size > organisationsMax) this.#misses.clear();
    this.#missesOf = second;
    return this.#misses;
  }

  #countUnanswered(organisationId: string, more: number): void {
    const count = (this.#unanswered.get(organisationId) ?? 0) + more;
    if (count === 0) this.#unanswered.delete(organisationId);
    else this.#unanswered.set(organisationId, count);
  }

  #askSoon(): void {
    if (this.#isSoon || this.#asks >= asksMax || this.#waiting.length === 0) return;
    this.#isSoon = true;
    // What this turn of the event loop names goes together.
    setImmediate(() => {
      this.#isSoon = false;
      void this.#ask();
    });
  }

  /** Never rejects. */
  async #ask(): Promise<void> {
    const nowMs = this.#now();
    const asked = this.#waiting.splice(0, askedAtOnce).filter((one) => {
      if (one.untilMs > nowMs) return true;
      one.reject(new OwnersUnavailable());
      return false;
    });
    const { ask, onOutcome } = this.#options;
    this.#asks += 1;
    try {
      const answers = asked.length === 0 ? [] : await ask(asked);
      const notes = new Map<string, OwnerNote[]>();
      for (const { organisationId, objectKey, note } of answers) {
        const key = `${organisationId} ${objectKey}`;
        const of = notes.get(key) ?? [];
        // The first who had it at an origin has it.
        if (!of.some(({ origin }) => origin === note.origin)) of.push(note);
        notes.set(key, of);
      }
      for (const { organisationId, objectKey, who, resolve } of asked) {
        const key = `${organisationId} ${objectKey}`;
        const found = notes.get(key) ?? [];
        if (found.length === 0) {
          this.#unknown.set(key, this.#now() + unknownMs);
          const misses = this.#missesIn(this.#now());
          if (who === 'named') misses.set(organisationId, (misses.get(organisationId) ?? 0) + 1);
        }
        resolve(found);
      }
      onOutcome('found', notes.size);
      onOutcome('unknown', asked.length - notes.size);
    } catch {
      this.#awayUntilMs = this.#now() + pauseMs;
      // Whoever waits for the next one has a deadline of their own.
      for (const { reject } of asked) reject(new OwnersUnavailable());
      onOutcome('failed', asked.length);
    } finally {
      this.#asks -= 1;
      this.#askSoon();
    }
  }
}
