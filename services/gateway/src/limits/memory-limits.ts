import { type Counter, counterName, type Epoch, epochOf, overflowGroup } from '@sluice/engine';
import type { AloneRule, CounterState } from '../exchange/reservation.ts';
import { KnownCounters } from './known-counters.ts';
import {
  type ChangedCounter,
  type EndedHold,
  type Hold,
  type LimitStore,
  leftOf,
  neededFor,
  type Taken,
  type Want,
  type Wants,
} from './limit-store.ts';
import { type Count, MemoryCounts } from './memory-counts.ts';
import { SteadyClock } from './steady-clock.ts';

/** Groups of one policy that have counters of their own in an epoch. */
export const limitGroupsMaxDefault = 100_000;
/** Groups of all policies together. */
const allGroupsMax = 1_000_000;

/** How much of a limit this gateway may count up to, and by which rule. */
export interface Allowance {
  readonly value: number;
  readonly rule: AloneRule | undefined;
}

export interface MemoryLimitsOptions {
  /** Unix ms; absent = the clock of this machine, as far as it is to be believed. */
  now?: () => number;
  /** Where counts are kept over a restart; absent = nowhere. */
  path?: string;
  groupsMax?: number | undefined;
  /** What is counted here will be taken out and counted elsewhere. */
  isDrained?: boolean;
  /** Absent = all of every limit. */
  allows?: (scope: string, counter: Counter, name: string) => Allowance;
}

interface DrainedCount {
  readonly scope: string;
  readonly state: CounterState;
}

/** What a want found, and what was taken for it then. */
class MemoryHold implements Hold {
  readonly id: string;
  readonly counter: Counter;
  readonly epoch: Epoch;
  readonly name: string;
  readonly resetAtMs: number;
  readonly isOverflow: boolean;
  readonly alone: AloneRule | undefined;
  posted = 0;
  pending = 0;
  overshoot = 0;
  readonly countedAtUs = 0;
  remaining = 0;
  held = 0;
  short = 0;
  wouldRefuse = false;
  /** Of which something was taken, until it is ended. */
  by: MemoryLimits | undefined = undefined;
  readonly want: Want;
  count: Count | undefined;
  /** Of a group without a count: where it would be one of so many. */
  readonly pool: string | undefined;
  /** So much of the limit may be used here. */
  readonly allowed: number;

  constructor(id: string, want: Want, epoch: Epoch, place: Place, allowed: Allowance) {
    this.id = id;
    this.counter = want.counter;
    this.epoch = epoch;
    this.name = place.name;
    this.resetAtMs = epoch.endMs;
    this.isOverflow = place.isOverflow;
    this.alone = allowed.rule;
    this.want = want;
    this.count = place.count;
    this.pool = place.pool;
    this.allowed = allowed.value;
    this.look();
  }

  get isShort(): boolean {
    return this.room < neededFor(this.want);
  }

  get room(): number {
    const { count, allowed } = this;
    return count === undefined ? allowed : leftOf(allowed, count);
  }

  /** Says how far the counter is now. */
  look(): void {
    const { count } = this;
    if (count !== undefined) {
      this.posted = count.posted;
      this.pending = count.pending;
      this.overshoot = count.overshoot;
    }
    this.remaining = Math.max(0, this.room);
  }
}

/** Where a want is counted. */
interface Place {
  readonly name: string;
  readonly count: Count | undefined;
  readonly pool: string | undefined;
  readonly isOverflow: boolean;
}

/**
 * Limits of a gateway alone, in memory. Exact, because the event loop runs one
 * check at a time. The counts are written to disk every second and on close, so
 * that a restart does not begin an epoch anew.
 */
export class MemoryLimits implements LimitStore {
  readonly isShared = false;
  readonly settling = { lines: 0, lagMs: 0, dropped: 0 };
  readonly #counts: MemoryCounts;
  readonly #known = new KnownCounters();
  /** Of whom counts are drained: the last state of each counter. */
  readonly #states: Map<string, DrainedCount> | undefined;
  readonly #groupsMax: number;
  readonly #now: () => number;
  readonly #allows: MemoryLimitsOptions['allows'];

  constructor(options: MemoryLimitsOptions = {}) {
    this.#groupsMax = options.groupsMax ?? limitGroupsMaxDefault;
    this.#now = options.now ?? new SteadyClock().now;
    this.#allows = options.allows;
    this.#counts = new MemoryCounts(this.#now, options.path);
    if (options.isDrained === true) this.#states = new Map();
  }

  /** Begins to save, where there is a file. */
  start(): void {
    this.#counts.start();
  }

  /** Counts held. */
  get size(): number {
    return this.#counts.size;
  }

  take(scope: string, { id, counters, ofRequest }: Wants): Taken {
    const nowMs = this.#now();
    const holds: MemoryHold[] = [];
    let refusedAt = -1;
    for (const want of counters) {
      const hold = this.#find(scope, want, id, nowMs);
      if (refusedAt < 0 && !want.counter.limit.rules.isShadow && hold.isShort)
        refusedAt = holds.length;
      holds.push(hold);
    }
    if (refusedAt >= 0) this.#noteRefusal(scope, holds[refusedAt], nowMs);
    let left =
      refusedAt < 0 ? holds.length : refusedAt < ofRequest ? 0 : Math.min(ofRequest, refusedAt);
    if (left > 0) this.#counts.changed();
    for (const hold of holds) {
      hold.wouldRefuse = hold.counter.limit.rules.isShadow && hold.isShort;
      if (left-- > 0) this.#take(scope, hold, nowMs);
    }
    return { refusedAt, states: holds };
  }

  end(scope: string, ends: readonly EndedHold[]): void {
    for (const { hold, actual } of ends) {
      if (!this.holds(hold)) continue;
      hold.by = undefined;
      const count = this.#counts.get(scope, hold.name);
      if (count === undefined) continue;
      if (hold.counter.limit.type === 'requests') count.posted += actual - hold.held;
      else {
        count.pending -= hold.held;
        count.overshoot -= hold.short;
        count.posted += actual;
      }
      this.#note(scope, hold, count);
    }
    this.#counts.changed();
  }

  add(scope: string, states: readonly CounterState[], amounts: readonly number[]): void {
    for (const [index, state] of states.entries()) {
      const amount = amounts[index] ?? 0;
      if (amount === 0) continue;
      const count =
        this.#counts.get(scope, state.name) ??
        this.#counts.add(scope, state.name, state.resetAtMs, undefined);
      count.posted += amount;
      this.#note(scope, state, count);
    }
    this.#counts.changed();
  }

  peek(scope: string, counters: readonly Counter[]): CounterState[] {
    const nowMs = this.#now();
    return counters.map((counter) =>
      this.#find(scope, { counter, amount: 0, isSoft: false }, '', nowMs),
    );
  }

  findSpent(scope: string, counters: readonly Counter[]): CounterState | undefined {
    if (!this.#known.knowsSpent) return undefined;
    return this.#known.findSpent(scope, counters, this.#now());
  }

  changedCounters(max: number): ChangedCounter[] {
    return this.#known.takeChanged(max);
  }

  /** Whether something is held here that was taken here. */
  holds(hold: Hold): hold is MemoryHold {
    return hold instanceof MemoryHold && hold.by === this;
  }

  /** What was counted, and what is held of it; nothing is to be asked of this store any more. */
  *drain(): Iterable<Pick<Count, 'posted' | 'pending'> & DrainedCount> {
    for (const { scope, state } of this.#states?.values() ?? []) {
      const { posted = 0, pending = 0 } = this.#counts.get(scope, state.name) ?? {};
      yield { scope, state, posted, pending };
    }
  }

  close(): Promise<void> {
    return this.#counts.close();
  }

  #find(scope: string, want: Want, id: string, nowMs: number): MemoryHold {
    const { counter } = want;
    const { epoch, name } = epochOf(counter, nowMs);
    const count = this.#counts.get(scope, name);
    if (count !== undefined && count.endsAtMs !== epoch.endMs) {
      count.endsAtMs = epoch.endMs;
      this.#counts.changed();
    }
    const place =
      count === undefined && counter.group !== ''
        ? this.#placeOfGroup(scope, counter, epoch, name)
        : { name, count, pool: undefined, isOverflow: false };
    const allowed = this.#allows?.(scope, counter, place.name) ?? {
      value: counter.limit.value,
      rule: undefined,
    };
    return new MemoryHold(id, want, epoch, place, allowed);
  }

  /** Of a group that has no count yet. */
  #placeOfGroup(scope: string, { limit }: Counter, epoch: Epoch, name: string): Place {
    const pool = `${limit.id}@${epoch.name}`;
    const hasRoom =
      this.#counts.groupsIn(scope, pool) < this.#groupsMax &&
      this.#counts.hasRoomFor(scope, allGroupsMax);
    if (hasRoom) return { name, count: undefined, pool, isOverflow: false };
    const shared = counterName({ limit, group: overflowGroup }, epoch.name);
    const count = this.#counts.get(scope, shared);
    return { name: shared, count, pool: undefined, isOverflow: true };
  }

  #take(scope: string, hold: MemoryHold, nowMs: number): void {
    const { want, name, epoch, pool } = hold;
    const { type, rules, span } = want.counter.limit;
    const room = hold.room;
    hold.count ??= this.#counts.add(scope, name, epoch.endMs, pool);
    const { count } = hold;
    hold.held =
      type === 'requests' || rules.isShadow
        ? want.amount
        : Math.min(want.amount, Math.max(0, room));
    hold.short = want.amount - hold.held;
    if (type === 'requests') count.posted += hold.held;
    else {
      count.pending += hold.held;
      count.overshoot += hold.short;
    }
    hold.look();
    hold.by = this;
    this.#states?.set(`${scope}|${name}`, { scope, state: hold });
    if (span.kind === 'budget') this.#known.note(scope, hold, nowMs);
  }

  #noteRefusal(scope: string, refused: MemoryHold | undefined, nowMs: number): void {
    if (refused?.count === undefined || refused.alone !== undefined) return;
    this.#known.note(scope, refused, nowMs);
    if (refused.posted >= refused.counter.limit.value) this.#known.noteSpent(scope, refused, nowMs);
  }

  #note(scope: string, state: CounterState, count: Count): void {
    if (state.counter.limit.span.kind === 'budget')
      this.#known.note(scope, state, this.#now(), count);
  }
}
