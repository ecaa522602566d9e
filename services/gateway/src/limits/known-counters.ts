import { type Counter, epochOf } from '@sluice/engine';
import type { CounterState } from '../exchange/reservation.ts';
import type { AskedBudget } from './leases.ts';
import { type ChangedCounter, leftOf, type ToldCounter } from './limit-store.ts';
import { ScopedMap } from './scoped-map.ts';

/** A counter that others may give back to, or raise, is asked about again after so long. */
const spentForMs = 1000;
const keptMax = 50_000;

interface Told {
  readonly scope: string;
  readonly state: ToldCounter;
  /** Not yet told to the control plane. */
  isChanged: boolean;
}

interface Known extends Told {
  state: CounterState;
  /** What a request held of it, and when. */
  amount: number;
  askedAtMs: number;
}

/**
 * What this gateway has last heard of counters: for refusals from memory, for
 * the control plane, and for the time when the shared ones cannot be asked.
 */
export class KnownCounters {
  readonly #known = new ScopedMap<Known>();
  readonly #changed = new Set<Told>();
  /** Those that had nothing left, and until when that is taken for true. */
  readonly #spentUntil = new ScopedMap<number>();

  note(scope: string, state: CounterState, nowMs: number): void {
    const isBudget = state.counter.limit.span.kind === 'budget';
    let known = this.#known.get(scope, state.name);
    if (known === undefined) {
      if (this.#known.size >= keptMax) this.#makeRoom(nowMs);
      known = { scope, state, isChanged: false, amount: 0, askedAtMs: 0 };
      this.#known.set(scope, state.name, known);
    } else if (known.state.posted === state.posted && known.state.pending === state.pending) {
      known.state = state;
      return;
    }
    known.state = state;
    if (state.held > 0) {
      known.amount = state.held;
      known.askedAtMs = nowMs;
    }
    if (isBudget && !known.isChanged) {
      known.isChanged = true;
      this.#changed.add(known);
    }
  }

  /** Of a counter that may be known by its name alone. */
  noteTold(scope: string, told: ToldCounter, nowMs: number): void {
    const known = this.get(scope, told.name);
    if (known === undefined) this.#changed.add({ scope, state: told, isChanged: true });
    else {
      const { posted, pending, overshoot } = told;
      const remaining = Math.max(0, leftOf(known.counter.limit.value, told));
      this.note(scope, { ...known, posted, pending, overshoot, remaining }, nowMs);
    }
  }

  noteSpent(scope: string, { name, resetAtMs }: CounterState, nowMs: number): void {
    if (this.#spentUntil.size >= keptMax) this.#spentUntil.clear();
    const untilMs = nowMs + spentForMs;
    this.#spentUntil.set(scope, name, resetAtMs === 0 ? untilMs : Math.min(resetAtMs, untilMs));
  }

  /** The first of the counters that was spent a moment ago, and still is by its limit of now. */
  findSpent(scope: string, counters: readonly Counter[], nowMs: number): CounterState | undefined {
    if (this.#spentUntil.size === 0) return undefined;
    for (const counter of counters) {
      if (counter.limit.rules.isShadow) continue;
      const { name } = epochOf(counter, nowMs);
      const untilMs = this.#spentUntil.get(scope, name);
      if (untilMs === undefined) continue;
      const state = this.get(scope, name);
      if (untilMs > nowMs && state !== undefined && state.posted >= counter.limit.value)
        return { ...state, counter, remaining: 0 };
      this.#spentUntil.delete(scope, name);
    }
    return undefined;
  }

  get(scope: string, name: string): CounterState | undefined {
    return this.#known.get(scope, name)?.state;
  }

  takeChanged(max: number): ChangedCounter[] {
    const taken: ChangedCounter[] = [];
    for (const known of this.#changed) {
      if (taken.length >= max) break;
      this.#changed.delete(known);
      known.isChanged = false;
      taken.push({ scope: known.scope, state: known.state });
    }
    return taken;
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
