import { type Counter, matchPolicies, type RequestFacts, type TargetFacts } from '@sluice/engine';
import type { CompiledBundle, SavedProvider } from '../config-sync/compiled-bundle.ts';
import type { ResolvedKey } from '../config-sync/resolved-key.ts';
import type { CounterState, LimitStore } from './limit-store.ts';
import { rateLimitError } from './refusal.ts';

/** The limits of one request: reserved before, settled after. */
export class RequestLimits {
  private readonly store: LimitStore;
  private readonly bundle: CompiledBundle;
  private readonly facts: RequestFacts;
  private readonly requestCounters: Counter[];

  constructor(store: LimitStore, key: ResolvedKey, bundle: CompiledBundle, facts: RequestFacts) {
    this.store = store;
    this.bundle = bundle;
    this.facts = facts;
    this.requestCounters = [...key.counters, ...bundle.workspaceCounters];
    if (bundle.hasRequestPolicies)
      this.requestCounters.push(...matchPolicies(bundle.policies, 'request', facts));
  }

  /** Limits of the key, the workspace and request-level policies. @throws GatewayError 429 */
  reserveRequest(): CounterState[] | Promise<CounterState[]> {
    return this.reserve(this.requestCounters);
  }

  /** Limits that depend on the target; the counters are needed again to settle. @throws GatewayError 429 */
  async reserveTarget(
    target: TargetFacts,
    saved: SavedProvider | undefined,
  ): Promise<{ counters: Counter[]; states: CounterState[] }> {
    const counters = saved === undefined ? [] : [...saved.counters];
    if (this.bundle.hasTargetPolicies)
      counters.push(...matchPolicies(this.bundle.policies, 'target', this.facts, target));
    return { counters, states: counters.length === 0 ? [] : await this.reserve(counters) };
  }

  settle(targetCounters: readonly Counter[], tokens: number): void {
    if (tokens <= 0) return;
    const counters =
      targetCounters.length === 0
        ? this.requestCounters
        : [...this.requestCounters, ...targetCounters];
    if (counters.length > 0) this.store.settle(this.facts.organisationId, counters, tokens);
  }

  private reserve(counters: readonly Counter[]): CounterState[] | Promise<CounterState[]> {
    if (counters.length === 0) return [];
    const outcome = this.store.reserve(this.facts.organisationId, counters);
    return outcome instanceof Promise ? outcome.then(admittedStates) : admittedStates(outcome);
  }
}

function admittedStates(reservation: Awaited<ReturnType<LimitStore['reserve']>>): CounterState[] {
  if (!reservation.admitted) throw rateLimitError(reservation.refusedBy, Date.now());
  return reservation.states;
}
