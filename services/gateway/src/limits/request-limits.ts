import {
  type CompiledPolicy,
  type Counter,
  explainPolicies,
  matchPolicies,
  type RequestFacts,
  type TargetFacts,
} from '@sluice/engine';
import type { CompiledBundle, SavedProvider } from '../compiled/compiled-bundle.ts';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type {
  CounterState,
  LimitCheck,
  LimitsOfRequest,
  TargetReservation,
} from '../exchange/limits.ts';
import type { LimitStore } from './limit-store.ts';
import { rateLimitError } from './refusal.ts';

/** The limits of one request: reserved before, settled after. */
export class RequestLimits implements LimitsOfRequest {
  private readonly store: LimitStore;
  private readonly bundle: CompiledBundle;
  private readonly facts: RequestFacts;
  private readonly entityCounters: readonly Counter[];
  private readonly requestCounters: readonly Counter[];

  constructor(store: LimitStore, key: ResolvedKey, bundle: CompiledBundle, facts: RequestFacts) {
    this.store = store;
    this.bundle = bundle;
    this.facts = facts;
    this.entityCounters = [...key.counters, ...bundle.workspaceCounters];
    this.requestCounters = bundle.hasRequestPolicies
      ? [...this.entityCounters, ...matchPolicies(bundle.policies, 'request', facts)]
      : this.entityCounters;
  }

  /** Limits of the key, the workspace and request-level policies. @throws GatewayError 429 */
  reserveRequest(): CounterState[] | Promise<CounterState[]> {
    return this.reserve(this.requestCounters);
  }

  /** Limits that depend on the target; the counters are needed again to settle. @throws GatewayError 429 */
  reserveTarget(
    target: TargetFacts,
    saved: SavedProvider | undefined,
  ): TargetReservation | Promise<TargetReservation> {
    const ofProvider = saved?.counters ?? [];
    const counters = this.bundle.hasTargetPolicies
      ? [...ofProvider, ...matchPolicies(this.bundle.policies, 'target', this.facts, target)]
      : ofProvider;
    if (counters.length === 0) return nothingReserved;
    const states = this.reserve(counters);
    return states instanceof Promise
      ? states.then((known) => ({ counters, states: known }))
      : { counters, states };
  }

  /** The limits of `reserveRequest`, in its order, and the policies that do not apply. */
  peekRequest(): Promise<LimitCheck[]> {
    return this.peek(this.entityCounters, 'request');
  }

  /** The same for `reserveTarget`. */
  peekTarget(target: TargetFacts, saved: SavedProvider | undefined): Promise<LimitCheck[]> {
    return this.peek(saved?.counters ?? [], 'target', target);
  }

  settle(targetCounters: readonly Counter[], tokens: number): void {
    if (tokens <= 0) return;
    const counters =
      targetCounters.length === 0
        ? this.requestCounters
        : [...this.requestCounters, ...targetCounters];
    if (counters.length > 0) this.store.settle(this.facts.organisationId, counters, tokens);
  }

  private async peek(
    entity: readonly Counter[],
    level: CompiledPolicy['level'],
    target?: TargetFacts,
  ): Promise<LimitCheck[]> {
    const matches = explainPolicies(this.bundle.policies, level, this.facts, target);
    const counters = [...entity, ...matches.flatMap(({ counter }) => counter ?? [])];
    const states =
      counters.length === 0 ? [] : await this.store.peek(this.facts.organisationId, counters);
    const stateOf = new Map(states.map((state) => [state.counter, state]));
    return [
      ...entity.map((counter) => ({
        policy: undefined,
        state: stateOf.get(counter),
        unmet: undefined,
      })),
      ...matches.map(({ policy, counter, unmet }) => ({
        policy,
        state: counter === undefined ? undefined : stateOf.get(counter),
        unmet,
      })),
    ];
  }

  private reserve(counters: readonly Counter[]): CounterState[] | Promise<CounterState[]> {
    if (counters.length === 0) return [];
    const outcome = this.store.reserve(this.facts.organisationId, counters);
    return outcome instanceof Promise ? outcome.then(admittedStates) : admittedStates(outcome);
  }
}

const nothingReserved: TargetReservation = Object.freeze({ counters: [], states: [] });

function admittedStates(reservation: Awaited<ReturnType<LimitStore['reserve']>>): CounterState[] {
  if (!reservation.admitted) throw rateLimitError(reservation.refusedBy, Date.now());
  return reservation.states;
}
