import type { Counter } from '@sluice/engine';
import type { CounterState } from '../exchange/reservation.ts';
import type { KnownCounters } from './known-counters.ts';
import type { Leases } from './leases.ts';
import { type EndedHold, type Hold, leftOf, type Taken, type Wants } from './limit-store.ts';
import { type Replicas, shareOf } from './live-replicas.ts';
import { type Allowance, MemoryLimits } from './memory-limits.ts';
import { Unposted } from './unposted.ts';

export interface AloneLimitsParts {
  readonly known: KnownCounters;
  readonly leases: Leases;
  replicas(): Replicas;
  nowMs(): number;
  readonly groupsMax: number;
  /** Adds to the shared counters what was counted here. */
  add(scope: string, state: CounterState, amount: number): void;
  /** So much of that is still on its way. */
  unposted(scope: string, name: string): number;
}

/**
 * What a gateway counts while the shared counters cannot be asked, each limit by
 * a rule of its own, until it is posted to them. They may be away again before
 * that arrives: then it is still to be counted here.
 */
export class AloneLimits {
  readonly #parts: AloneLimitsParts;
  #alone: MemoryLimits;
  /** Of those taken from shared counters there is a member that ends once. */
  readonly #ended = new WeakSet<Hold>();
  /** Held alone, and not ended when what was counted until then was posted. */
  readonly #underWay = new Unposted();

  constructor(parts: AloneLimitsParts) {
    this.#parts = parts;
    this.#alone = this.#new();
  }

  take(scope: string, wants: Wants): Taken {
    return this.#alone.take(scope, wants);
  }

  peek(scope: string, counters: readonly Counter[]): CounterState[] {
    return this.#alone.peek(scope, counters);
  }

  end(scope: string, ended: EndedHold): void {
    const { hold, actual } = ended;
    if (this.#ended.has(hold)) return;
    this.#ended.add(hold);
    // Counted alone, and posted since: what is new goes the same way.
    if (!this.#alone.holds(hold)) {
      const isRequests = hold.counter.limit.type === 'requests';
      if (!isRequests) this.#underWay.add(scope, hold.name, -hold.held);
      const more = isRequests ? actual - hold.held : actual;
      if (more !== 0) this.#parts.add(scope, hold, more);
    } else this.#alone.end(scope, [ended]);
  }

  /** What was counted here is counted there. False = there was nothing. */
  post(): boolean {
    if (this.#alone.size === 0) return false;
    const alone = this.#alone;
    this.#alone = this.#new();
    for (const { scope, state, posted, pending } of alone.drain()) {
      if (posted > 0) this.#parts.add(scope, state, posted);
      if (pending > 0) this.#underWay.add(scope, state.name, pending);
    }
    return true;
  }

  #new(): MemoryLimits {
    return new MemoryLimits({
      now: () => this.#parts.nowMs(),
      groupsMax: this.#parts.groupsMax,
      isDrained: true,
      allows: (scope, counter, name) => this.#allowed(scope, counter, name),
    });
  }

  #allowed(scope: string, counter: Counter, name: string): Allowance {
    const { known, leases } = this.#parts;
    const { value, rules } = counter.limit;
    const state = known.get(scope, name);
    const before = this.#parts.unposted(scope, name) + this.#underWay.of(scope, name);
    const left = Math.max(0, (state === undefined ? value : leftOf(value, state)) - before);
    switch (rules.withoutShared) {
      case 'share':
        return { value: shareOf(left, this.#parts.replicas(), name), rule: 'share' };
      case 'lease':
        return { value: Math.max(0, leases.leased(scope, name) - before), rule: 'lease' };
      case 'allow':
        return { value: Number.MAX_SAFE_INTEGER, rule: 'allow' };
      case 'refuse':
        return { value: 0, rule: 'refuse' };
    }
  }
}
