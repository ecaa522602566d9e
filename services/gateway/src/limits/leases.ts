import type { Counter } from '@sluice/engine';
import type { CounterState } from '../exchange/reservation.ts';
import { newReservationId } from './held-reservation.ts';
import type { EndedHold, Hold, Taken, Wants } from './limit-store.ts';

/** A budget that requests of this gateway asked for a while ago. */
export interface AskedBudget {
  readonly scope: string;
  readonly state: CounterState;
  /** What a request held of it. */
  readonly amount: number;
}

export interface LeasesParts {
  take(scope: string, wants: Wants): Promise<Taken | undefined>;
  end(scope: string, ends: readonly EndedHold[], noteKey: string): void;
  /** Has it given back by the next life of this gateway, should this one not do so. */
  note(scope: string, lease: Hold): void;
  /** Budgets whose rule is to lease. */
  asked(): Iterable<AskedBudget>;
  replicas(): number;
  nowMs(): number;
}

interface Lease {
  readonly scope: string;
  readonly hold: Hold;
  /** From then on it may be taken for that of a gateway that is gone. */
  readonly untilMs: number;
}

/** A lease outlives an outage of so long. */
export const leaseMs = 600_000;
/** Not used for so long before others may think it free: clocks differ. */
const marginMs = 30_000;
/** All gateways together lease this part of what is left. */
const leasedPart = 20;
/** Of a budget with room for fewer requests nothing is leased: what is leased others cannot have. */
const requestsMin = 1000;

/**
 * Slices of large budgets, held in advance: what may be used while the shared
 * counters cannot be asked. They shrink with what is left, and are gone well
 * before it is.
 */
export class Leases {
  readonly #parts: LeasesParts;
  readonly #leases = new Map<string, Lease>();

  constructor(parts: LeasesParts) {
    this.#parts = parts;
  }

  /** What may be used of a counter without asking. */
  leased(scope: string, name: string): number {
    const lease = this.#leases.get(`${scope}|${name}`);
    return lease !== undefined && lease.untilMs - marginMs > this.#parts.nowMs()
      ? lease.hold.held
      : 0;
  }

  /** Takes, renews and gives back what the present state of budgets asks for. Never rejects. */
  async sync(): Promise<void> {
    const due = new Map(this.#leases);
    for (const asked of this.#parts.asked()) {
      const key = `${asked.scope}|${asked.state.name}`;
      due.delete(key);
      const wanted = this.#sliceOf(asked, this.#leases.get(key)?.hold.held ?? 0);
      this.#giveBack(key);
      if (wanted > 0) await this.#take(key, asked.scope, asked.state.counter, wanted);
    }
    for (const key of due.keys()) this.#giveBack(key);
  }

  giveBackAll(): void {
    for (const key of this.#leases.keys()) this.#giveBack(key);
  }

  #sliceOf({ state, amount }: AskedBudget, held: number): number {
    const left = state.remaining + held;
    if (left < requestsMin * Math.max(1, amount)) return 0;
    return Math.floor(left / (leasedPart * this.#parts.replicas()));
  }

  async #take(key: string, scope: string, counter: Counter, amount: number): Promise<void> {
    const counters = [{ counter, amount, isSoft: true }];
    const nowMs = this.#parts.nowMs();
    const taken = await this.#parts.take(scope, {
      id: newReservationId(),
      counters,
      ofRequest: 1,
    });
    const hold = taken?.states[0];
    if (hold === undefined) return;
    this.#leases.set(key, { scope, hold, untilMs: nowMs + leaseMs });
    this.#parts.note(scope, hold);
  }

  #giveBack(key: string): void {
    const lease = this.#leases.get(key);
    if (lease === undefined) return;
    this.#leases.delete(key);
    this.#parts.end(lease.scope, [{ hold: lease.hold, actual: 0 }], lease.hold.id);
  }
}
