import type { RequestFacts, TargetFacts } from '../facts.ts';
import { epochOf } from '../limits/epoch.ts';
import type { Counter } from '../limits/limit.ts';
import type { CompiledPolicy } from '../limits/policies.ts';
import { PolicyIndex } from '../limits/policy-index.ts';
import { type Due, DueQueue } from './due-queue.ts';

export interface Use {
  readonly tokens: number;
  readonly costNanoUsd: number;
}

const countersMax = 100_000;

/**
 * Counters of policies over requests of the past, in the order of their time. A request counts when it is
 * admitted, what it used when it ended.
 */
export class LimitReplay {
  readonly #ofRequests: PolicyIndex;
  readonly #ofTargets: PolicyIndex;
  readonly #counts = new Map<string, { amount: number; endMs: number }>();
  readonly #due = new DueQueue();

  constructor(policies: readonly CompiledPolicy[]) {
    this.#ofRequests = new PolicyIndex(policies, 'request');
    this.#ofTargets = new PolicyIndex(policies, 'target');
  }

  /** The limit that refuses the request; undefined = it is admitted, and counted. */
  admit(request: RequestFacts, atMs: number): Counter | undefined {
    for (const { name, amount } of this.#due.until(atMs)) this.#post(name, amount);
    return this.#take(this.#ofRequests.match(request), atMs, 1);
  }

  /** The same for one target of it, which so many of its likes ask. */
  admitTarget(
    request: RequestFacts,
    target: TargetFacts,
    atMs: number,
    share: number,
  ): Counter | undefined {
    return this.#take(this.#ofTargets.match(request, target), atMs, share);
  }

  /** Nobody was asked: it does not count. */
  giveBack(request: RequestFacts, atMs: number): void {
    for (const counter of this.#ofRequests.match(request))
      if (counter.limit.type === 'requests') this.#post(epochOf(counter, atMs).name, -1);
  }

  /** What was used, known when it ends; of a target what it used itself. */
  settle(
    request: RequestFacts,
    target: TargetFacts | undefined,
    use: Use,
    { atMs, endedAtMs }: { atMs: number; endedAtMs: number },
  ): void {
    const counters =
      target === undefined
        ? this.#ofRequests.match(request)
        : this.#ofTargets.match(request, target);
    for (const counter of counters) {
      const amount = amountOf(counter, use);
      if (amount > 0)
        this.#due.add({ name: this.#nameOf(counter, atMs), amount, atMs: endedAtMs } satisfies Due);
    }
  }

  #take(counters: readonly Counter[], atMs: number, share: number): Counter | undefined {
    const names = counters.map((counter) => this.#nameOf(counter, atMs));
    const refused = counters.find(
      ({ limit }, index) => limit.value - (this.#counts.get(names[index]!)?.amount ?? 0) < 1,
    );
    if (refused !== undefined) return refused;
    for (const [index, { limit }] of counters.entries())
      if (limit.type === 'requests') this.#post(names[index]!, share);
    return undefined;
  }

  #nameOf(counter: Counter, atMs: number): string {
    const { name, epoch } = epochOf(counter, atMs);
    if (!this.#counts.has(name)) {
      if (this.#counts.size >= countersMax) this.#forgetEnded(atMs);
      this.#counts.set(name, { amount: 0, endMs: epoch.endMs });
    }
    return name;
  }

  #post(name: string, amount: number): void {
    const count = this.#counts.get(name);
    if (count !== undefined) count.amount += amount;
  }

  #forgetEnded(atMs: number): void {
    for (const [name, { endMs }] of this.#counts)
      if (endMs !== 0 && endMs <= atMs) this.#counts.delete(name);
    if (this.#counts.size >= countersMax)
      throw new RangeError(`the policies have more than ${countersMax} groups`);
  }
}

function amountOf({ limit }: Counter, use: Use): number {
  if (limit.type === 'requests') return 0;
  return limit.type === 'tokens' ? use.tokens : use.costNanoUsd;
}
