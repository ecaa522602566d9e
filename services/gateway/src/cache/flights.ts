/**
 * One question at a time: of many requests for the same answer, one leads and
 * asks the upstream, the others wait for what it brings. When it brings
 * nothing, the one that has waited longest leads next.
 */

import { abortReason } from '../http/caller-gone.ts';
import type { Delivery } from './request.ts';

export type Landing =
  | { kind: 'landed'; delivery: Delivery }
  /** Nobody before brought an answer: it is this request's turn. */
  | { kind: 'lead'; lead: Lead }
  /** Waited long enough. */
  | { kind: 'late' };

export class Flights {
  readonly #flights = new Map<string, Flight>();
  readonly #waitMs: number;
  readonly #flightsMax: number;

  constructor(options: { waitMs: number; flightsMax: number }) {
    this.#waitMs = options.waitMs;
    this.#flightsMax = options.flightsMax;
  }

  get size(): number {
    return this.#flights.size;
  }

  at(key: string): Flight | undefined {
    return this.#flights.get(key);
  }

  /** Undefined when somebody leads already, or when there are too many: such a request goes alone. */
  begin(key: string, signal: AbortSignal, isRefresh: boolean): Lead | undefined {
    if (this.#flights.has(key) || this.#flights.size >= this.#flightsMax) return undefined;
    const flight = new Flight(isRefresh, this.#waitMs, () => this.#flights.delete(key));
    this.#flights.set(key, flight);
    return new Lead(flight, signal);
  }
}

/** Requests for one answer in one form. */
export class Flight {
  /** Led by a request that does not care what is stored: others may still be served from there. */
  readonly isRefresh: boolean;
  /** What it brought, for those who looked elsewhere meanwhile. */
  delivery: Delivery | undefined;
  readonly #waitMs: number;
  readonly #onOver: () => void;
  readonly #waiting = new Set<Waiter>();

  constructor(isRefresh: boolean, waitMs: number, onOver: () => void) {
    this.isRefresh = isRefresh;
    this.#waitMs = waitMs;
    this.#onOver = onOver;
  }

  /** @throws GatewayError `request.aborted` when the caller leaves meanwhile */
  wait(signal: AbortSignal): Promise<Landing> {
    return new Promise((resolve, reject) => {
      const waiter = new Waiter(signal, (landing) => {
        this.#waiting.delete(waiter);
        if (landing === 'aborted') reject(abortReason(signal));
        else resolve(landing);
      });
      this.#waiting.add(waiter);
      waiter.start(this.#waitMs);
    });
  }

  land(delivery: Delivery | undefined): void {
    this.delivery = delivery;
    if (delivery === undefined) {
      const [next] = this.#waiting;
      if (next !== undefined) {
        next.settle({ kind: 'lead', lead: new Lead(this, next.signal) });
        return;
      }
    }
    this.#onOver();
    if (delivery !== undefined)
      for (const waiter of this.#waiting) waiter.settle({ kind: 'landed', delivery });
  }
}

class Waiter {
  readonly signal: AbortSignal;
  readonly #onSettled: (landing: Landing | 'aborted') => void;
  readonly #onAbort = () => this.settle('aborted');
  #timer: NodeJS.Timeout | undefined;

  constructor(signal: AbortSignal, onSettled: (landing: Landing | 'aborted') => void) {
    this.signal = signal;
    this.#onSettled = onSettled;
  }

  start(waitMs: number): void {
    this.signal.addEventListener('abort', this.#onAbort);
    this.#timer = setTimeout(() => this.settle({ kind: 'late' }), waitMs);
    this.#timer.unref();
  }

  settle(landing: Landing | 'aborted'): void {
    clearTimeout(this.#timer);
    this.signal.removeEventListener('abort', this.#onAbort);
    this.#onSettled(landing);
  }
}

/** The right, and the duty, to end a flight. A leader whose caller leaves brings nothing. */
export class Lead {
  readonly #flight: Flight;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => this.land(undefined);
  #isOver = false;

  constructor(flight: Flight, signal: AbortSignal) {
    this.#flight = flight;
    this.#signal = signal;
    signal.addEventListener('abort', this.#onAbort);
  }

  /** Undefined = nothing that the others could use. Only the first call counts. */
  land(delivery: Delivery | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#flight.land(delivery);
  }
}
