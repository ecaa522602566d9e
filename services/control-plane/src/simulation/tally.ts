import type { Counter, TargetFacts, UnknownReason } from '@sluice/engine';
import type { Report } from './task.ts';

/** What a request, or a share of one, cost and would have cost; undefined = not known. */
export interface Costs {
  readonly before: number | undefined;
  readonly beforeNow: number | undefined;
  readonly after: number | undefined;
  readonly afterNow: number | undefined;
}

type Targets = readonly TargetFacts[];
type Route = Report['routes'][number];
type Refused = Report['refusals'][number];

const rowsMax = 1000;
/** Rows that are told apart while requests are replayed. */
const rowsHeldMax = 20_000;

/** Adds up what becomes of requests. */
export class Tally {
  replayed = 0;
  #unchanged = 0;
  #rerouted = 0;
  #refused = 0;
  #undecided = 0;
  #outcomeUnknown = 0;
  #notHeld = { routes: 0, refusals: 0 };
  readonly #cost = {
    before_nano_usd: 0,
    before_at_prices_now_nano_usd: 0,
    after_nano_usd: 0,
    after_at_prices_now_nano_usd: 0,
    unpriced_requests: 0,
    unpriced_before_nano_usd: 0,
  };
  readonly #routes = new Map<string, Route>();
  readonly #refusals = new Map<string, Refused>();
  readonly #reasons = new Map<UnknownReason, { requests: number; before: number }>();

  same(share: number, costs: Costs): void {
    this.#unchanged += share;
    this.#price(share, costs);
  }

  /** @param isOpen what the last of them would have answered is not known */
  route(share: number, from: Targets, to: Targets, isOpen: boolean, costs: Costs): void {
    if (isOpen) this.#outcomeUnknown += share;
    const isSame = keyOf(from) === keyOf(to);
    if (isSame) this.#unchanged += share;
    else this.#rerouted += share;
    const isPriced = this.#price(share, costs);
    if (isSame) return;
    const row = this.#row(this.#routes, `${keyOf(from)} ${keyOf(to)}`, 'routes', () => ({
      from: from.map(shown),
      to: to.map(shown),
      requests: 0,
      outcome_unknown: 0,
      before_nano_usd: 0,
      after_nano_usd: 0,
      after_at_prices_now_nano_usd: 0,
      unpriced_requests: 0,
    }));
    if (row === undefined) return;
    row.requests += share;
    if (isOpen) row.outcome_unknown += share;
    if (!isPriced) row.unpriced_requests += share;
    else {
      row.before_nano_usd += (costs.before ?? 0) * share;
      row.after_nano_usd += (costs.after ?? 0) * share;
      row.after_at_prices_now_nano_usd += (costs.afterNow ?? 0) * share;
    }
  }

  refuse(
    share: number,
    by: { workspaceSlug: string; model: string; refusedBy: string },
    costs: Costs,
  ): void {
    this.#refused += share;
    this.#price(share, costs);
    const key = JSON.stringify(by);
    const row = this.#row(this.#refusals, key, 'refusals', () => ({
      workspace_slug: by.workspaceSlug,
      ai_model: by.model,
      refused_by: by.refusedBy,
      requests: 0,
      before_nano_usd: 0,
    }));
    if (row === undefined) return;
    row.requests += share;
    row.before_nano_usd += (costs.before ?? 0) * share;
  }

  leaveOut(share: number, reason: UnknownReason, before: number | undefined): void {
    this.#undecided += share;
    const sums = this.#reasons.get(reason) ?? { requests: 0, before: 0 };
    sums.requests += share;
    sums.before += (before ?? 0) * share;
    this.#reasons.set(reason, sums);
  }

  get report(): Omit<
    Report,
    | 'object'
    | 'workspace_id'
    | 'replayed_from'
    | 'replayed_to'
    | 'is_complete'
    | 'stopped_by'
    | 'assumptions'
  > {
    const routes = largestFirst(this.#routes);
    const refusals = largestFirst(this.#refusals);
    return {
      requests: {
        replayed: this.replayed,
        ...rounded({
          unchanged: this.#unchanged,
          rerouted: this.#rerouted,
          refused: this.#refused,
          undecided: this.#undecided,
          outcome_unknown: this.#outcomeUnknown,
        }),
      },
      cost: rounded(this.#cost),
      routes: routes
        .slice(0, rowsMax)
        .map(({ from, to, ...figures }) => ({ from, to, ...rounded(figures) })),
      routes_left_out: Math.max(0, routes.length - rowsMax) + this.#notHeld.routes,
      refusals: refusals.slice(0, rowsMax).map(({ requests, before_nano_usd, ...row }) => ({
        ...row,
        ...rounded({ requests, before_nano_usd }),
      })),
      refusals_left_out: Math.max(0, refusals.length - rowsMax) + this.#notHeld.refusals,
      undecided: [...this.#reasons].map(([reason, { requests, before }]) => ({
        reason,
        ...rounded({ requests, before_nano_usd: before }),
      })),
    };
  }

  /** Before and after are of the same requests: what lacks one of its prices is in neither. */
  #price(share: number, { before, beforeNow, after, afterNow }: Costs): boolean {
    const cost = this.#cost;
    if (
      before === undefined ||
      beforeNow === undefined ||
      after === undefined ||
      afterNow === undefined
    ) {
      cost.unpriced_requests += share;
      cost.unpriced_before_nano_usd += (before ?? 0) * share;
      return false;
    }
    cost.before_nano_usd += before * share;
    cost.before_at_prices_now_nano_usd += beforeNow * share;
    cost.after_nano_usd += after * share;
    cost.after_at_prices_now_nano_usd += afterNow * share;
    return true;
  }

  #row<Row>(
    rows: Map<string, Row>,
    key: string,
    kind: 'routes' | 'refusals',
    make: () => Row,
  ): Row | undefined {
    const found = rows.get(key);
    if (found !== undefined) return found;
    if (rows.size >= rowsHeldMax) {
      this.#notHeld[kind]++;
      return undefined;
    }
    const row = make();
    rows.set(key, row);
    return row;
  }
}

/** Which of the limits that were sent. */
export function nameOfLimit({ limit }: Counter): string {
  return limit.id;
}

function keyOf(targets: Targets): string {
  return JSON.stringify(
    targets.map(({ provider, providerSlug, model }) => [provider, providerSlug, model]),
  );
}

function shown({ provider, providerSlug, model }: TargetFacts): Route['from'][number] {
  return { provider, provider_slug: providerSlug ?? null, ai_model: model ?? '' };
}

function largestFirst<Row extends { requests: number }>(rows: ReadonlyMap<string, Row>): Row[] {
  return [...rows.values()].sort((one, other) => other.requests - one.requests);
}

/** Nano-dollars are whole, shares of requests have six places. */
function rounded<Figures extends Record<string, number>>(figures: Figures): Figures {
  return Object.fromEntries(
    Object.entries(figures).map(([name, value]) => [
      name,
      name.endsWith('nano_usd') ? Math.round(value) : Math.round(value * 1e6) / 1e6,
    ]),
  ) as Figures;
}
