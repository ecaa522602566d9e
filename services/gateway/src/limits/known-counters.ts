import { type Counter, epochOf } from '@sluice/engine';
import type { CounterState } from '../exchange/reservation.ts';
import type { AskedBudget } from './leases.ts';
import { type ChangedCounter, type Counted, leftOf, type ToldCounter } from './limit-store.ts';
import { ScopedMap } from './scoped-map.ts';

/** A counter that others may give back to, or raise, is asked about again after so long. */
const spentForMs = 1000;
const keptMax = 50_000;

/** What is not yet told to the control plane. */
interface Told {
  readonly scope: string;
  readonly state: ToldCounter;
  isChanged: boolean;
}

/** Stays what it is while its counter goes on: nothing is made anew with each request. */
class KnownState implements CounterState {
  counter: Counter;
  epoch: CounterState['epoch'];
  readonly name: string;
  resetAtMs: number;
  readonly held = 0;
  readonly wouldRefuse = false;
  isOverflow: boolean;
  alone: CounterState['alone'];
  posted = 0;
  pending = 0;
  overshoot = 0;
  countedAtUs = 0;
  remaining = 0;

  constructor({ counter, epoch, name, resetAtMs, isOverflow, alone }: CounterState) {
    this.counter = counter;
    this.epoch = epoch;
    this.name = name;
    this.resetAtMs = resetAtMs;
    this.isOverflow = isOverflow;
    this.alone = alone;
  }
}

class Known implements Told {
  readonly scope: string;
  readonly state: KnownState;
  isChanged = false;
  /** What a request held of it, and when. */
  amount = 0;
  askedAtMs = 0;

  constructor(scope: string, state: CounterState) {
    this.scope = scope;
    this.state = new KnownState(state);
  }
}

/** As a counter in memory has it, which has no time. */
type CountedNow = Omit<Counted, 'countedAtUs'> & { readonly countedAtUs?: number };

/**
 * What this gateway has last heard of counters: for refusals from memory, for
 * the control plane, and for the time when the shared ones cannot be asked.
 */
export class KnownCounters {
  readonly #known = new ScopedMap<Known>();
  #changed: Told[] = [];
  /** Those that had nothing left, and until when that is taken for true. */
  readonly #spentUntil = new ScopedMap<number>();

  /** @param counted where it is now, if that is not in `state`; without a time it is counted here alone */
  note(scope: string, state: CounterState, nowMs: number, counted: CountedNow = state): void {
    let known = this.#known.get(scope, state.name);
    const isNew = known === undefined;
    if (known === undefined) {
      if (this.#known.size >= keptMax) this.#makeRoom(nowMs);
      known = new Known(scope, state);
      this.#known.set(scope, state.name, known);
    }
    const kept = known.state;
    const { counter } = state;
    const { posted, pending, overshoot, countedAtUs = 0 } = counted;
    // What was changed from here may come to what was known here, and another gateway tell of what was between.
    const isChanged = counted !== state || state.held > 0;
    const isSame = !isNew && !isChanged && kept.posted === posted && kept.pending === pending;
    kept.counter = counter;
    kept.epoch = state.epoch;
    kept.resetAtMs = state.resetAtMs;
    kept.isOverflow = state.isOverflow;
    kept.alone = state.alone;
    kept.posted = posted;
    kept.pending = pending;
    kept.overshoot = overshoot;
    kept.countedAtUs = countedAtUs;
    kept.remaining = Math.max(0, leftOf(counter.limit.value, counted));
    if (isSame) return;
    if (counted === state && state.held > 0) {
      known.amount = state.held;
      known.askedAtMs = nowMs;
    }
    if (counter.limit.span.kind === 'budget') this.#change(known);
  }

  /** Of a counter that may be known by its name alone. */
  noteTold(scope: string, told: ToldCounter, nowMs: number): void {
    const known = this.get(scope, told.name);
    if (known === undefined) this.#change({ scope, state: told, isChanged: false });
    else this.note(scope, known, nowMs, told);
  }

  #change(told: Told): void {
    if (told.isChanged) return;
    told.isChanged = true;
    this.#changed.push(told);
  }

  noteSpent(scope: string, { name, resetAtMs }: CounterState, nowMs: number): void {
    if (this.#spentUntil.size >= keptMax) this.#spentUntil.clear();
    const untilMs = nowMs + spentForMs;
    this.#spentUntil.set(scope, name, resetAtMs === 0 ? untilMs : Math.min(resetAtMs, untilMs));
  }

  /** False = none is, whatever the time. */
  get knowsSpent(): boolean {
    return this.#spentUntil.size > 0;
  }

  /** The first of the counters that was spent a moment ago, and still is by its limit of now. */
  findSpent(scope: string, counters: readonly Counter[], nowMs: number): CounterState | undefined {
    for (const counter of counters) {
      if (counter.limit.rules.isShadow) continue;
      const { epoch, name } = epochOf(counter, nowMs);
      const untilMs = this.#spentUntil.get(scope, name);
      if (untilMs === undefined) continue;
      const state = this.get(scope, name);
      if (untilMs > nowMs && state !== undefined && state.posted >= counter.limit.value)
        return { ...state, counter, epoch, resetAtMs: epoch.endMs, remaining: 0 };
      this.#spentUntil.delete(scope, name);
    }
    return undefined;
  }

  get(scope: string, name: string): CounterState | undefined {
    return this.#known.get(scope, name)?.state;
  }

  *statesOf(scope: string): Iterable<CounterState> {
    for (const known of this.#known.of(scope)) yield known.state;
  }

  takeChanged(max: number): ChangedCounter[] {
    const taken = this.#changed.slice(0, max);
    this.#changed = this.#changed.slice(max);
    return taken.map((told) => {
      told.isChanged = false;
      // As it is now: it goes on while this is told.
      return { scope: told.scope, state: { ...told.state } };
    });
  }

  /** Budgets that requests asked for since, and that are leased where they cannot be asked. */
  *leasable(sinceMs: number): Iterable<AskedBudget> {
    for (const [, , { scope, state, amount, askedAtMs }] of this.#known) {
      const { span, rules, type } = state.counter.limit;
      if (askedAtMs < sinceMs || span.kind === 'rate' || type === 'requests') continue;
      if (rules.withoutShared === 'lease' && !rules.isShadow) yield { scope, state, amount };
    }
  }

  /** Counters of which something was held when they were last heard of. */
  *pending(): Iterable<{ scope: string; state: CounterState }> {
    for (const [, , { scope, state }] of this.#known) if (state.pending > 0) yield { scope, state };
  }

  #makeRoom(nowMs: number): void {
    for (const [scope, name, { state }] of this.#known)
      if (state.resetAtMs !== 0 && state.resetAtMs <= nowMs) this.#known.delete(scope, name);
    for (const [scope, name, { isChanged }] of this.#known) {
      if (this.#known.size < keptMax * 0.9) return;
      if (!isChanged) this.#known.delete(scope, name);
    }
  }
}
