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
import type { LimitCheck, LimitsOfRequest } from '../exchange/limits.ts';
import type { CounterState, Estimate, Reservation } from '../exchange/reservation.ts';
import type { LimitStore, ReserveOutcome } from './limit-store.ts';
import { rateLimitError } from './refusal.ts';

/** The limits of one request: reserved before, settled after. */
export class RequestLimits implements LimitsOfRequest {
  readonly #store: LimitStore;
  readonly #bundle: CompiledBundle;
  readonly #facts: RequestFacts;
  readonly #entityCounters: readonly Counter[];
  readonly #requestCounters: readonly Counter[];
  /** Undefined before `reserveRequest`, and where nothing is limited. */
  #ofRequest: Reservation | undefined;

  constructor(store: LimitStore, key: ResolvedKey, bundle: CompiledBundle, facts: RequestFacts) {
    this.#store = store;
    this.#bundle = bundle;
    this.#facts = facts;
    this.#entityCounters = [...key.counters, ...bundle.workspaceCounters];
    this.#requestCounters = bundle.hasRequestPolicies
      ? [...this.#entityCounters, ...matchPolicies(bundle.policies, 'request', facts)]
      : this.#entityCounters;
  }

  /** Limits of the key, the workspace and request-level policies. @throws GatewayError 429 */
  reserveRequest(): readonly CounterState[] | Promise<readonly CounterState[]> {
    if (this.#requestCounters.length === 0) return noStates;
    const reserved = this.#reserve(this.#requestCounters);
    return reserved instanceof Promise
      ? reserved.then((reservation) => this.#keep(reservation))
      : this.#keep(reserved);
  }

  reserveTarget(
    target: TargetFacts,
    saved: SavedProvider | undefined,
  ): Reservation | undefined | Promise<Reservation> {
    const ofProvider = saved?.counters ?? [];
    const counters = this.#bundle.hasTargetPolicies
      ? [...ofProvider, ...matchPolicies(this.#bundle.policies, 'target', this.#facts, target)]
      : ofProvider;
    return counters.length === 0 ? undefined : this.#reserve(counters);
  }

  /** The limits of `reserveRequest`, in its order, and the policies that do not apply. */
  peekRequest(): Promise<LimitCheck[]> {
    return this.#peek(this.#entityCounters, 'request');
  }

  /** The same for `reserveTarget`. */
  peekTarget(target: TargetFacts, saved: SavedProvider | undefined): Promise<LimitCheck[]> {
    return this.#peek(saved?.counters ?? [], 'target', target);
  }

  settle(ofTarget: Reservation | undefined, actual: Pick<Estimate, 'tokens'>): void {
    this.#ofRequest?.settle(actual);
    ofTarget?.settle(actual);
  }

  async #peek(
    entity: readonly Counter[],
    level: CompiledPolicy['level'],
    target?: TargetFacts,
  ): Promise<LimitCheck[]> {
    const matches = explainPolicies(this.#bundle.policies, level, this.#facts, target);
    const counters = [...entity, ...matches.flatMap(({ counter }) => counter ?? [])];
    const states =
      counters.length === 0 ? [] : await this.#store.peek(this.#facts.organisationId, counters);
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

  #reserve(counters: readonly Counter[]): Reservation | Promise<Reservation> {
    const outcome = this.#store.reserve(this.#facts.organisationId, counters);
    return outcome instanceof Promise ? outcome.then(admitted) : admitted(outcome);
  }

  #keep(reservation: Reservation): readonly CounterState[] {
    this.#ofRequest = reservation;
    return reservation.states;
  }
}

const noStates: readonly CounterState[] = Object.freeze([]);

function admitted(outcome: ReserveOutcome): Reservation {
  if (!outcome.admitted) throw rateLimitError(outcome.refusedBy, Date.now());
  return outcome;
}
