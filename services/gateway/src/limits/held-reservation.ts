import { randomBytes } from 'node:crypto';
import type { Counter, Limit, LimitType } from '@sluice/engine';
import type { Counts } from '@sluice/usage';
import type {
  CountsOfRecord,
  Estimate,
  Reservation,
  SettlingNote,
  Used,
} from '../exchange/reservation.ts';
import type { EndedHold, Hold, LimitStore, Taken, Want, Wants } from './limit-store.ts';
import type { OpenReservation, OpenReservations } from './limit-watch.ts';
import { type SettlingEnd, settlingNote } from './settling-notes.ts';

const ownPrefix = reservationPrefix(randomBytes(6));
let made = 0;

/**
 * What reservations of one life of a gateway begin with. Never with a hyphen: to
 * the scripts that free what the dead held, that is the mark of one that is freed.
 */
export function reservationPrefix(bytes: Buffer): string {
  return bytes.toString('base64url').replace(/^-/, '.');
}

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
  const counters: Want[] = [];
  for (const counter of ofRequest) counters.push(wantOf(counter, estimate));
  if (raises.length > 0) counters.push(...raises);
  for (const counter of ofTarget) counters.push(wantOf(counter, estimate));
  return { id, counters, ofRequest: ofRequest.length };
}

export function wantOf(counter: Counter, estimate: Estimate): Want {
  return { counter, amount: amountFor(counter.limit, estimate), isSoft: false };
}

function amountFor({ type, rules }: Limit, estimate: Estimate): number {
  if (type !== 'requests' && rules.estimatesByObserved && estimate.observed !== undefined)
    return usedIn(type, estimate.observed);
  return type === 'requests' ? estimate.requests : usedIn(type, estimate);
}

/** Requests are none. */
function usedIn(type: LimitType, used: Used): number {
  return type === 'tokens' ? used.tokens : type === 'cost' ? used.costNanoUsd : 0;
}

const nothingUsed: Used = Object.freeze({ tokens: 0, costNanoUsd: 0 });

/** What is held of one level: of the request itself, or of one target. */
class HeldPart {
  readonly holds: readonly Hold[];
  /** For calls beside and after the first; what all used stands at `holds`. */
  #more: readonly Hold[] = noHolds;
  /** Those of them that are for later targets, which may use more than the first. */
  #raises: readonly Hold[] = noHolds;
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
  /** Told to records so far, reserved and settled of each hold in turn; undefined = nothing. */
  #told: number[] | undefined = undefined;

  constructor(holds: readonly Hold[]) {
    this.holds = holds;
  }

  /** What a call of such an estimate needs beside what is held, after those that were made. */
  missingFor(estimate: Estimate): Want[] {
    const wants: Want[] = [];
    for (const [at, hold] of this.holds.entries()) {
      const { counter } = hold;
      if (counter.limit.type === 'requests') continue;
      const used = this.#actual(at, hold, undefined);
      let amount = used + amountFor(counter.limit, estimate) - hold.held - hold.short;
      for (const raise of this.#raises)
        if (raise.counter === counter) amount -= raise.held + raise.short;
      // The request was let in: only where all of it must fit is a target too much.
      if (amount > 0) wants.push({ counter, amount, isSoft: !counter.limit.rules.isStrict });
    }
    return wants;
  }

  raise(holds: readonly Hold[]): void {
    this.#raises = [...this.#raises, ...holds];
    this.addHolds(holds);
  }

  post(store: LimitStore, scope: string, actual: Used): void {
    this.#tokens += actual.tokens;
    this.#costNanoUsd += actual.costNanoUsd;
    if (!this.#isOver || this.holds.length === 0) return;
    // Told after the end: counted where it was held.
    const amounts = this.holds.map(({ counter }) => usedIn(counter.limit.type, actual));
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

  /** Adds what ends it by what the ledger will say, should nothing more be noted. */
  noted(store: LimitStore, ends: SettlingEnd[]): void {
    if (store.noteOf === undefined) return;
    const least = { tokens: this.#leastTokens, costNanoUsd: this.#leastCostNanoUsd };
    let at = 0;
    for (const hold of this.#all) {
      const end = store.noteOf({ hold, actual: this.#actual(at++, hold, least) });
      if (end !== undefined) ends.push(end);
    }
  }

  /** What a further call would have to hold as well. */
  again(): Counter[] {
    return this.holds.flatMap(({ counter }) => (counter.limit.type === 'requests' ? [] : counter));
  }

  addHolds(more: readonly Hold[]): void {
    this.#more = [...this.#more, ...more];
  }

  /** Once; adds what becomes of each hold. */
  end(ends: EndedHold[]): void {
    if (this.#isOver) return;
    this.#isOver = true;
    let at = 0;
    for (const hold of this.#all) {
      const actual = this.#actual(at++, hold, undefined);
      // Requests are counted when they are taken.
      if (hold.counter.limit.type !== 'requests' || actual !== hold.held)
        ends.push({ hold, actual });
    }
  }

  /** Adds what was not told yet; @param more used by a call that is not posted */
  tell(counts: ToldCounts, more?: Used): void {
    const told = this.#told;
    const telling: number[] | undefined = more === undefined ? [] : undefined;
    let at = 0;
    for (const hold of this.#all) {
      const actual = this.#actual(at, hold, more);
      const reserved = hold.held - (told?.[2 * at] ?? 0);
      if (reserved > 0) counts.reserved = added(counts.reserved, hold.name, reserved);
      const settled = actual - (told?.[2 * at + 1] ?? 0);
      if (settled > 0) counts.settled = added(counts.settled, hold.name, settled);
      telling?.push(hold.held, actual);
      at++;
    }
    if (telling !== undefined) this.#told = telling;
  }

  get #all(): readonly Hold[] {
    return this.#more.length === 0 ? this.holds : [...this.holds, ...this.#more];
  }

  #actual(at: number, { counter, held }: Hold, more: Used | undefined): number {
    if (at >= this.holds.length) return 0;
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

const noHolds: readonly Hold[] = Object.freeze([]);

/** Nothing is made for records that tell nothing. */
interface ToldCounts {
  reserved: Map<string, number> | undefined;
  settled: Map<string, number> | undefined;
}

const noCounts: Counts = new Map();

function added(
  counts: Map<string, number> | undefined,
  name: string,
  more: number,
): Map<string, number> {
  // Not of a list of pairs: each request has up to four of these.
  if (counts === undefined) return new Map<string, number>().set(name, more);
  return counts.set(name, (counts.get(name) ?? 0) + more);
}

/**
 * What one request holds of its limits, over all targets that it asks. It is
 * settled when the request is over and no call of it is under way any more.
 */
export class RequestHolds implements OpenReservation {
  readonly heldSince = performance.now();
  older: OpenReservation | undefined = undefined;
  newer: OpenReservation | undefined = undefined;
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
  visit(target: HeldPart | undefined): void {
    const before = this.#targets.at(-1);
    if (target !== undefined) this.#targets.push(target);
    // What is told in one record with a later part is settled after that is written.
    if (before === undefined || before.hasNoted) return;
    const ends: EndedHold[] = [];
    before.end(ends);
    if (ends.length > 0) this.store.end(this.scope, ends);
  }

  /** @param id one of its own among all reservations */
  note(id: string): SettlingNote | undefined {
    if (this.store.noteOf === undefined) return undefined;
    const ends: SettlingEnd[] = [];
    this.part.noted(this.store, ends);
    for (const target of this.#targets) target.noted(this.store, ends);
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
    const ends: EndedHold[] = [];
    this.part.end(ends);
    for (const target of this.#targets) target.end(ends);
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
  /** Undefined where nothing of the target's is held. */
  readonly #target: HeldPart | undefined;
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
    this.states = holds.states;
    if (ofTarget > 0) {
      const targets = states.slice(-ofTarget);
      this.states = [...holds.states, ...targets];
      if (this.refusedBy === undefined) this.#target = new HeldPart(targets);
    }
    holds.visit(this.#target);
  }

  begin(): void {
    this.#holds.begin();
    if (this.#target !== undefined) this.#target.counts = true;
  }

  post(actual: Used): void {
    const { store, scope } = this.#holds;
    this.#holds.post(actual);
    this.#target?.post(store, scope, actual);
  }

  finish(): void {
    this.#holds.finish();
  }

  async extend(): Promise<boolean> {
    const { store, scope, part } = this.#holds;
    const request = part.again();
    const target = this.#target?.again() ?? [];
    const wants = wantsOf(newReservationId(), [...request, ...target], [], this.#estimate);
    if (wants.counters.length === 0) return true;
    const { refusedAt, states } = await store.take(scope, wants);
    if (refusedAt >= 0) return false;
    part.addHolds(states.slice(0, request.length));
    this.#target?.addHolds(states.slice(request.length));
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
    this.#target?.noteCall(least, 1);
    return this.#holds.note(this.id);
  }

  noteEnd(least: Used = nothingUsed): SettlingNote | undefined {
    this.#holds.part.noteCall(least, -1);
    this.#target?.noteCall(least, -1);
    return this.#holds.note(this.id);
  }

  #counts(more?: Used): CountsOfRecord {
    const counts: ToldCounts = { reserved: undefined, settled: undefined };
    this.#holds.part.tell(counts, more);
    this.#target?.tell(counts, more);
    return { reserved: counts.reserved ?? noCounts, settled: counts.settled ?? noCounts };
  }
}
