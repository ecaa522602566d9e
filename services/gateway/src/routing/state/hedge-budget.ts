import { RecentMap } from '../../chain/recent-map.ts';

const burst = 3;
/** The budget is kept in hundredths of a call, so that whole percentages add up exactly. */
const oneCall = 100;

interface Budget {
  /** Hundredths of a second call that may be made at once. */
  saved: number;
  /** Requests since `saved` was brought up to date. */
  requests: number;
}

/**
 * How many second calls a config may make: its percentage of the requests, and
 * three more. What was not used is saved up to three calls, so that a provider
 * that becomes slow is not met with twice the load.
 */
export class HedgeBudget {
  readonly #budgets: RecentMap<Budget>;

  constructor(options: { entriesMax?: number } = {}) {
    this.#budgets = new RecentMap(options.entriesMax ?? 10_000);
  }

  /** Entries held. */
  get size(): number {
    return this.#budgets.size;
  }

  /** Every request that could be hedged. */
  request(key: string): void {
    this.#budget(key).requests++;
  }

  /** Takes one second call if the share allows. */
  take(key: string, percentage: number): boolean {
    if (percentage <= 0) return false;
    const budget = this.#budget(key);
    budget.saved = Math.min(burst * oneCall, budget.saved + budget.requests * percentage);
    budget.requests = 0;
    if (budget.saved < oneCall) return false;
    budget.saved -= oneCall;
    return true;
  }

  #budget(key: string): Budget {
    const held = this.#budgets.use(key);
    if (held !== undefined) return held;
    const fresh = { saved: burst * oneCall, requests: 0 };
    this.#budgets.set(key, fresh);
    return fresh;
  }
}
