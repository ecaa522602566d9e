import { randomBytes } from 'node:crypto';
import type { Counter, Limit, LimitType } from '@sluice/engine';
import type {
  CountsOfRecord,
  Estimate,
  Reservation,
  SettlingNote,
  Used,
} from '../exchange/reservation.ts';
import type { EndedHold, Hold, LimitStore, Taken, Want, Wants } from './limit-store.ts';
import type { OpenReservations } from './limit-watch.ts';
import { type SettlingEnd, settlingNote } from './settling-notes.ts';

const ownPrefix = randomBytes(6).toString('base64url');
let made = 0;

/** One of its own among all gateways. */
export function newReservationId(): string {
  return `${ownPrefix}${(++made).toString(36)}`;
}

/** @param raises what the request needs beside what it holds: where it is refused, the target is */
export function wantsOf(
  id: string,
  ofRequest: readonly Counter[],
  ofTarget: readonly Counter[],
  estimate: Estimate,
  raises: readonly Want[] = [],
): Wants {
  const want = (counter: Counter): Want => ({
    counter,
    amount: amountFor(counter.limit, estimate),
    isSoft: false,
  });
  return {
    id,
    counters: [...ofRequest.map(want), ...raises, ...ofTarget.map(want)],
    ofRequest: ofRequest.length,
  };
}

function amountFor({ type, rules }: Limit, estimate: Estimate): number {
  if (type !== 'requests' && rules.estimatesByObserved && estimate.observed !== undefined)
    return amountIn(type, { requests: 0, ...estimate.observed });
  return amountIn(type, estimate);
}

export function amountIn(type: LimitType, { requests, tokens, costNanoUsd }: Estimate): number {
  return type === 'requests' ? requests : type === 'tokens' ? tokens : costNanoUsd;
}

const nothingUsed: Used = Object.freeze({ tokens: 0, costNanoUsd: 0 });

/** What is held of one level: of the request itself, or of one target. */
class HeldPart {
  readonly holds: readonly Hold[];
  /** For calls beside and after the first; what all used stands at `holds`. */
  readonly more: Hold[] = [];
  /** Those of them that are for later targets, which may use more than the first. */
  readonly #raises: Hold[] = [];
  /** The request counts: something was sent, or answered. */
  counts = false;
  /** What calls used so far. */
  #tokens = 0;
  #costNanoUsd = 0;
  /** What those that are noted and not over use at least. */
  #leastTokens = 0;
  #leastCostNanoUsd = 0;
  #callsNoted = 0;
  #isOver = false;
  /** Told to records so far. */
  readonly #told = new Map<Hold, { reserved: number; settled: number }>();

  constructor(holds: readonly Hold[]) {
    this.holds = holds;
  }

  /** What a call of such an estimate needs beside what is held, after those that were made. */
  missingFor(estimate: Estimate): Want[] {
    const wants: Want[] = [];
    for (const hold of this.holds) {
      const { counter } = hold;
      if (counter.limit.type === 'requests') continue;
      let amount = this.#actual(hold) + amountFor(counter.limit, estimate) - hold.held - hold.short;
      for (const raise of this.#raises)
        if (raise.counter === counter) amount -= raise.held + raise.short;
      // The request was let in: only where all of it must fit is a target too much.
      if (amount > 0) wants.push({ counter, amount, isSoft: !counter.limit.rules.isStrict });
    }
    return wants;
  }

  raise(holds: readonly Hold[]): void {
    this.#raises.push(...holds);
    this.more.push(...holds);
  }

  post(store: LimitStore, scope: string, actual: Used): void {
    this.#tokens += actual.tokens;
    this.#costNanoUsd += actual.costNanoUsd;
    if (!this.#isOver || this.holds.length === 0) return;
    // Told after the end: counted where it was held.
    const added = { requests: 0, ...actual };
    const amounts = this.holds.map(({ counter }) => amountIn(counter.limit.type, added));
    store.add(scope, this.holds, amounts);
  }

  /** The record of some call of it is not written yet. */
  get hasNoted(): boolean {
    return this.#callsNoted > 0;
  }

  /** @param sign -1 = it is over */
  noteCall({ tokens, costNanoUsd }: Used, sign: 1 | -1): void {
    this.#callsNoted += sign;
    this.#leastTokens += sign * tokens;
    this.#leastCostNanoUsd += sign * costNanoUsd;
  }

  /** What ends it by what the ledger will say, should nothing more be noted. */
  noted(store: LimitStore): SettlingEnd[] {
    const least = { tokens: this.#leastTokens, costNanoUsd: this.#leastCostNanoUsd };
    const ends = [
      ...this.more.map((hold) => store.noteOf({ hold, actual: 0 })),
      ...this.holds.map((hold) => store.noteOf({ hold, actual: this.#actual(hold, least) })),
    ];
    return ends.filter((end) => end !== undefined);
  }

  end(): EndedHold[] {
    if (this.#isOver) return [];
    this.#isOver = true;
    const ends: EndedHold[] = this.more.map((hold) => ({ hold, actual: 0 }));
    for (const hold of this.holds) {
      const actual = this.#actual(hold);
      // Requests are counted when they are taken.
      if (hold.counter.limit.type !== 'requests' || actual !== hold.held)
        ends.push({ hold, actual });
    }
    return ends;
  }

  /** Adds what was not told yet; @param more used by a call that is not posted */
  tell(reserved: Record<string, number>, settled: Record<string, number>, more?: Used): void {
    for (const hold of [...this.holds, ...this.more]) {
      const told = this.#told.get(hold);
      const actual = this.more.includes(hold) ? 0 : this.#actual(hold, more);
      add(reserved, hold.name, hold.held - (told?.reserved ?? 0));
      add(settled, hold.name, actual - (told?.settled ?? 0));
      if (more === undefined) this.#told.set(hold, { reserved: hold.held, settled: actual });
    }
  }

  #actual({ counter, held }: Hold, more?: Used): number {
    switch (counter.limit.type) {
      case 'requests':
        return this.counts || more !== undefined ? held : 0;
      case 'tokens':
        return this.#tokens + (more?.tokens ?? 0);
      case 'cost':
        return this.#costNanoUsd + (more?.costNanoUsd ?? 0);
    }
  }
}

function add(counts: Record<string, number>, name: string, more: number): void {
  if (more > 0) counts[name] = (counts[name] ?? 0) + more;
}

/**
 * What one request holds of its limits, over all targets that it asks. It is
 * settled when the request is over and no call of it is under way any more.
 */
export class RequestHolds {
  readonly scope: string;
  readonly store: LimitStore;
  /** Of the request's own limits. */
  readonly part: HeldPart;
  #open = 0;
  #isClosed = false;
  /** Of the targets asked so far; the last one's may still be called. */
  readonly #targets: HeldPart[] = [];
  /** Under which it is noted; undefined = it is not. */
  #noteKey: string | undefined;

  readonly #openOnes: OpenReservations | undefined;

  constructor(
    store: LimitStore,
    scope: string,
    holds: readonly Hold[],
    openOnes?: OpenReservations,
  ) {
    this.#openOnes = openOnes;
    openOnes?.add(this);
    this.store = store;
    this.scope = scope;
    this.part = new HeldPart(holds);
  }

  /** The target asked last; what the one before held is settled with its last call. */
  visit(target: HeldPart): void {
    const before = this.#targets.at(-1);
    this.#targets.push(target);
    // What is told in one record with a later part is settled after that is written.
    if (before === undefined || before.hasNoted) return;
    const ends = before.end();
    if (ends.length > 0) this.store.end(this.scope, ends);
  }

  /** @param id one of its own among all reservations */
  note(id: string): SettlingNote | undefined {
    const ends = [this.part, ...this.#targets].flatMap((part) => part.noted(this.store));
    if (ends.length === 0) return undefined;
    this.#noteKey ??= id;
    return settlingNote(this.#noteKey, this.scope, ends);
  }

  get states(): readonly Hold[] {
    return this.part.holds;
  }

  begin(): void {
    this.#open++;
    this.part.counts = true;
  }

  /** What a call used that was made beside the request's own. */
  post(actual: Used): void {
    this.part.post(this.store, this.scope, actual);
  }

  noteAnswered(): void {
    this.part.counts = true;
  }

  finish(): void {
    this.#open--;
    this.#endIfOver();
  }

  /** Nothing more will be asked on its account. */
  close(): void {
    this.#isClosed = true;
    this.#endIfOver();
  }

  /** More may be asked after all: to be called while the last call is not over. */
  reopen(): void {
    this.#isClosed = false;
  }

  #endIfOver(): void {
    if (!this.#isClosed || this.#open > 0) return;
    this.#openOnes?.delete(this);
    const ends = [this.part, ...this.#targets].flatMap((part) => part.end());
    if (ends.length > 0 || this.#noteKey !== undefined)
      this.store.end(this.scope, ends, this.#noteKey);
  }
}

/** The view that one target has of what its request holds. */
export class HeldReservation implements Reservation {
  readonly id: string;
  readonly states: readonly Hold[];
  readonly refusedBy: Hold | undefined;
  readonly #holds: RequestHolds;
  readonly #target: HeldPart;
  readonly #estimate: Estimate;

  /** @param ofTarget so many of the states, the last, are the target's */
  constructor(
    id: string,
    holds: RequestHolds,
    { refusedAt, states }: Taken,
    ofTarget: number,
    estimate: Estimate,
  ) {
    this.id = id;
    this.#holds = holds;
    this.#estimate = estimate;
    this.refusedBy = states[refusedAt];
    const targets = ofTarget === 0 ? [] : states.slice(-ofTarget);
    this.states = [...holds.part.holds, ...targets];
    this.#target = new HeldPart(this.refusedBy === undefined ? targets : []);
    holds.visit(this.#target);
  }

  begin(): void {
    this.#holds.begin();
    this.#target.counts = true;
  }

  post(actual: Used): void {
    this.#holds.post(actual);
    this.#target.post(this.#holds.store, this.#holds.scope, actual);
  }

  finish(): void {
    this.#holds.finish();
  }

  async extend(): Promise<boolean> {
    const { store, scope, part } = this.#holds;
    const again = (each: HeldPart) =>
      each.holds.filter(({ counter }) => counter.limit.type !== 'requests');
    const [request, target] = [again(part), again(this.#target)];
    const wants = wantsOf(
      newReservationId(),
      [...request, ...target].map(({ counter }) => counter),
      [],
      this.#estimate,
    );
    if (wants.counters.length === 0) return true;
    const { refusedAt, states } = await store.take(scope, wants);
    if (refusedAt >= 0) return false;
    part.more.push(...states.slice(0, request.length));
    this.#target.more.push(...states.slice(request.length));
    return true;
  }

  takeCounts(): CountsOfRecord {
    return this.#counts();
  }

  countsWith(used: Used): CountsOfRecord {
    return this.#counts(used);
  }

  noteBegin(least: Used = nothingUsed): SettlingNote | undefined {
    this.#holds.part.noteCall(least, 1);
    this.#target.noteCall(least, 1);
    return this.#holds.note(this.id);
  }

  noteEnd(least: Used = nothingUsed): SettlingNote | undefined {
    this.#holds.part.noteCall(least, -1);
    this.#target.noteCall(least, -1);
    return this.#holds.note(this.id);
  }

  #counts(more?: Used): CountsOfRecord {
    const reserved: Record<string, number> = {};
    const settled: Record<string, number> = {};
    this.#holds.part.tell(reserved, settled, more);
    this.#target.tell(reserved, settled, more);
    return { reserved, settled };
  }
}
