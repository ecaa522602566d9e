import { type Counter, counterName, type Epoch, epochAt, overflowGroup } from '@sluice/engine';
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

/** A counter found for a want, before anything is taken. */
interface Found {
  readonly want: Want;
  readonly epoch: Epoch;
  readonly name: string;
  readonly count: Count | undefined;
  readonly pool: string | undefined;
  readonly isOverflow: boolean;
  readonly allowed: Allowance;
}

/**
 * Limits of a gateway alone, in memory. Exact, because the event loop runs one
 * check at a time. The counts are written to disk every second and on close, so
 * that a restart does not begin an epoch anew.
 */
export class MemoryLimits implements LimitStore {
  readonly isShared = false;
  readonly settling = { lines: 0, lagMs: 0 };
  readonly #counts: MemoryCounts;
  readonly #known = new KnownCounters();
  /** What was taken here and is not ended. */
  readonly #open = new WeakSet<Hold>();
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
    const found = counters.map((want) => this.#find(scope, want, nowMs));
    const refusedAt = found.findIndex(
      (each) => !each.want.counter.limit.rules.isShadow && isShort(each),
    );
    if (refusedAt >= 0) this.#noteRefusal(scope, found[refusedAt], nowMs);
    const takenUpTo =
      refusedAt < 0 ? found.length : refusedAt < ofRequest ? 0 : Math.min(ofRequest, refusedAt);
    const states = found.map((each, at) => this.#take(scope, each, id, at < takenUpTo, nowMs));
    if (takenUpTo > 0) this.#counts.changed();
    return { refusedAt, states };
  }

  end(scope: string, ends: readonly EndedHold[]): void {
    for (const { hold, actual } of ends) {
      if (!this.#open.delete(hold)) continue;
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

  /** Nobody else knows of it. */
  noteOf(): undefined {}

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
      stateOf(this.#find(scope, { counter, amount: 0, isSoft: false }, nowMs)),
    );
  }

  findSpent(scope: string, counters: readonly Counter[]): CounterState | undefined {
    return this.#known.findSpent(scope, counters, this.#now());
  }

  changedCounters(max: number): ChangedCounter[] {
    return this.#known.takeChanged(max);
  }

  /** Whether something is held here that was taken here. */
  holds(hold: Hold): boolean {
    return this.#open.has(hold);
  }

  /** What was counted; nothing is to be asked of this store any more. */
  *drain(): Iterable<{ scope: string; state: CounterState; posted: number }> {
    for (const { scope, state } of this.#states?.values() ?? []) {
      const posted = this.#counts.get(scope, state.name)?.posted ?? 0;
      if (posted > 0) yield { scope, state, posted };
    }
  }

  close(): Promise<void> {
    return this.#counts.close();
  }

  #find(scope: string, want: Want, nowMs: number): Found {
    const { counter } = want;
    const epoch = epochAt(counter, nowMs);
    let name = counterName(counter, epoch.name);
    let count = this.#counts.get(scope, name);
    let pool: string | undefined;
    let isOverflow = false;
    if (counter.group !== '' && count === undefined) {
      pool = `${counter.limit.id}@${epoch.name}`;
      isOverflow =
        this.#counts.groupsIn(scope, pool) >= this.#groupsMax ||
        !this.#counts.hasRoomFor(scope, allGroupsMax);
      if (isOverflow) {
        pool = undefined;
        name = counterName({ limit: counter.limit, group: overflowGroup }, epoch.name);
        count = this.#counts.get(scope, name);
      }
    }
    const allowed = this.#allows?.(scope, counter, name) ?? {
      value: counter.limit.value,
      rule: undefined,
    };
    return { want, epoch, name, count, pool, isOverflow, allowed };
  }

  #take(scope: string, found: Found, id: string, isTaken: boolean, nowMs: number): Hold {
    const { want, epoch, name, pool, allowed } = found;
    const { type, rules } = want.counter.limit;
    const room = roomOf(found.count, allowed);
    const wouldRefuse = rules.isShadow && isShort(found);
    if (!isTaken) return { ...stateOf(found), id, short: 0, wouldRefuse };
    const count = found.count ?? this.#counts.add(scope, name, epoch.endMs, pool);
    const held =
      type === 'requests' || rules.isShadow
        ? want.amount
        : Math.min(want.amount, Math.max(0, room));
    const short = want.amount - held;
    if (type === 'requests') count.posted += held;
    else {
      count.pending += held;
      count.overshoot += short;
    }
    const state = { ...stateOf({ ...found, count }), id, held, short, wouldRefuse };
    this.#open.add(state);
    this.#states?.set(`${scope}|${name}`, { scope, state });
    if (want.counter.limit.span.kind === 'budget') this.#known.note(scope, state, nowMs);
    return state;
  }

  #noteRefusal(scope: string, refused: Found | undefined, nowMs: number): void {
    if (refused?.count === undefined || refused.allowed.rule !== undefined) return;
    const state = stateOf(refused);
    this.#known.note(scope, state, nowMs);
    if (state.posted >= state.counter.limit.value) this.#known.noteSpent(scope, state, nowMs);
  }

  #note(scope: string, state: CounterState, { posted, pending, overshoot }: Count): void {
    if (state.counter.limit.span.kind === 'rate') return;
    const remaining = Math.max(
      0,
      leftOf(state.counter.limit.value, { posted, pending, overshoot }),
    );
    this.#known.note(
      scope,
      { ...state, posted, pending, overshoot, remaining, held: 0, wouldRefuse: false },
      this.#now(),
    );
  }
}

function roomOf(count: Count | undefined, { value }: Allowance): number {
  return count === undefined ? value : leftOf(value, count);
}

function isShort({ want, count, allowed }: Found): boolean {
  return roomOf(count, allowed) < neededFor(want);
}

function stateOf({ want, epoch, name, count, isOverflow, allowed }: Found): CounterState {
  return {
    counter: want.counter,
    epoch,
    name,
    posted: count?.posted ?? 0,
    pending: count?.pending ?? 0,
    overshoot: count?.overshoot ?? 0,
    remaining: Math.max(0, roomOf(count, allowed)),
    resetAtMs: epoch.endMs,
    held: 0,
    wouldRefuse: false,
    isOverflow,
    alone: allowed.rule,
  };
}
