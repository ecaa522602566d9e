import type { Counter, PolicyIndex, RequestFacts, TargetFacts } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import { config } from '@sluice/proto-stubs';
import type { CompiledBundle, SavedProvider } from '../compiled/compiled-bundle.ts';
import type { PolicyPair } from '../compiled/event-policies.ts';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { BesideHold, LimitCheck, LimitsOfRequest, LimitVerdict } from '../exchange/limits.ts';
import {
  type CounterState,
  type Estimate,
  oneRequest,
  type Reservation,
  type Used,
} from '../exchange/reservation.ts';
import {
  HeldReservation,
  newReservationId,
  RequestHolds,
  wantOf,
  wantsOf,
} from './held-reservation.ts';
import type { LimitStore, Taken, Want, Wants } from './limit-store.ts';
import type { LimitWatch, OpenReservations } from './limit-watch.ts';
import { limitError, limitRefusal, refusalAt, unpricedRefusal } from './refusal.ts';
import { requestFacts } from './request-facts.ts';

/** Who hears of limits, and who knows what is held. */
export interface LimitWatchers {
  readonly metrics: LimitWatch;
  readonly open: OpenReservations;
}

/** Only what is held is kept: what was done already is no refusal and no overflow that anybody should hear of. */
export function unheard(open: OpenReservations): LimitWatchers {
  return { metrics: { refused() {}, wouldRefuse() {}, overflowed() {} }, open };
}

/** Who asks, as limits know them; and what is asked, where it is no call of a model. */
export interface AskedOfLimits extends Pick<Exchange, 'key' | 'bundle'> {
  facts(): RequestFacts;
  readonly policies: PolicyPair;
}

/** The limits of one request: taken before, settled after. */
export class RequestLimits implements LimitsOfRequest {
  isRefused = false;
  readonly #store: LimitStore;
  readonly #asked: AskedOfLimits;
  readonly #key: ResolvedKey;
  readonly #bundle: CompiledBundle;
  #facts: RequestFacts | undefined;
  readonly #watch: LimitWatchers | undefined;
  /** Undefined until something is taken. */
  #holds: RequestHolds | undefined;
  #isClosed = false;
  /** How the request's own stand, for those who only judge. */
  #judged: Promise<LimitCheck[]> | undefined;
  /** For whom nothing may go back yet. */
  #waiting = 0;

  /** @param watch absent = nothing is taken, and nobody refused: for those who only ask */
  constructor(store: LimitStore, asked: AskedOfLimits, watch?: LimitWatchers) {
    this.#watch = watch;
    const { key, bundle } = asked;
    if (key === undefined || bundle === undefined)
      throw new Error('limits are looked at after authentication');
    this.#store = store;
    this.#asked = asked;
    this.#key = key;
    this.#bundle = bundle;
  }

  /** Of a request for a model. */
  static of(store: LimitStore, exchange: Exchange, watch?: LimitWatchers): RequestLimits {
    const { key, bundle } = exchange;
    if (bundle === undefined) throw new Error('limits are looked at after authentication');
    const policies = { request: bundle.requestPolicies, target: bundle.targetPolicies };
    const facts = () => requestFacts(exchange);
    return new RequestLimits(store, { key, bundle, facts, policies }, watch);
  }

  /** Nothing of what this key and its workspace may ask for is limited. */
  static areNone({ key, bundle }: Exchange): boolean {
    return (
      key?.counters.length === 0 &&
      bundle?.hasLimits === false &&
      key.source.status !== config.KeyStatus.EXHAUSTED
    );
  }

  get statesOfRequest(): readonly CounterState[] {
    return this.#holds?.states ?? noStates;
  }

  /** By what is known in memory: nobody is asked, and nothing was read. @throws GatewayError 429, 412 */
  refuseSpent(): void {
    const key = this.#key;
    const spent =
      this.#store.findSpent(this.#scope, key.counters) ??
      this.#store.findSpent(this.#scope, this.#bundle.workspaceCounters);
    if (spent !== undefined) this.#refuse(spent);
    // Where its budgets are not told with the key, its status is all there is to go by.
    if (
      key.source.status === config.KeyStatus.EXHAUSTED &&
      !key.counters.some(({ limit }) => limit.span.kind === 'budget')
    ) {
      this.isRefused = true;
      throw new GatewayError('limit.budget_exhausted', {
        message: `Budget exhausted for API key "${key.source.slug || key.source.name}".`,
      });
    }
  }

  reserve(
    target: TargetFacts,
    saved: SavedProvider | undefined,
    estimating: () => Estimate,
  ): Reservation | undefined | Promise<Reservation | undefined> {
    const facts = this.#factsNow();
    const ofTarget = countersOf(
      saved?.counters ?? noCounters,
      this.#asked.policies.target,
      facts,
      target,
    );
    const holds = this.#holds;
    const ofRequest = holds === undefined ? this.#requestCounters(facts) : noCounters;
    const id = newReservationId();
    // What requests are counted by needs no look at this one.
    const isMeasured = ofRequest.some(isOfUse) || ofTarget.some(isOfUse) || holdsUse(holds);
    const estimate = isMeasured ? estimating() : oneRequest;
    if (holds !== undefined)
      for (const { counter } of holds.states) refuseUnpriced(counter, estimate);
    for (const counter of ofRequest) refuseUnpriced(counter, estimate);
    for (const counter of ofTarget) refuseUnpriced(counter, estimate);
    const raises = holds === undefined || !isMeasured ? noWants : holds.part.missingFor(estimate);
    if (ofRequest.length + raises.length + ofTarget.length === 0) {
      if (holds === undefined || holds.states.length === 0) return undefined;
      return new HeldReservation(id, holds, nothingTaken, 0, estimate);
    }
    const wants = wantsOf(id, ofRequest, ofTarget, estimate, raises);
    const keep = (taken: Taken) => this.#keep(id, taken, wants, ofTarget.length, estimate);
    const taking = this.#store.take(this.#scope, wants);
    return taking instanceof Promise ? taking.then(keep) : keep(taking);
  }

  /**
   * Counts what was used by work that is done: as no request, and no limit refuses it. Nothing else may be asked of
   * these limits.
   * @param note hears of what is held before it is settled
   */
  async postDone(
    target: TargetFacts,
    saved: SavedProvider | undefined,
    used: Used,
    note?: (held: Reservation) => void,
  ): Promise<void> {
    const facts = this.#factsNow();
    const ofRequest = this.#requestCounters(facts).filter(isOfUse);
    const own = saved?.counters ?? noCounters;
    const ofTarget = countersOf(own, this.#asked.policies.target, facts, target).filter(isOfUse);
    if (ofRequest.length + ofTarget.length === 0) return;
    const estimate = { ...used, requests: 0 };
    const id = newReservationId();
    const wants: Wants = {
      id,
      counters: [...ofRequest, ...ofTarget].map((counter) => ({
        ...wantOf(counter, estimate),
        isSoft: true,
      })),
      ofRequest: ofRequest.length,
    };
    const taken = await this.#store.take(this.#scope, wants);
    const held = this.#keep(id, taken, wants, ofTarget.length, estimate);
    held.begin();
    try {
      held.post(used);
      note?.(held);
    } finally {
      held.finish();
      this.close();
    }
  }

  /**
   * The request's own limits, in the order in which they refuse, and the policies that do not apply.
   * @param estimate undefined = what it will use is not known
   */
  peekRequest(estimate?: Estimate): Promise<LimitCheck[]> {
    const own = [...this.#key.counters, ...this.#bundle.workspaceCounters];
    return this.#peek(own, this.#asked.policies.request, estimate);
  }

  /** The same for a target. */
  peekTarget(
    target: TargetFacts,
    saved: SavedProvider | undefined,
    estimate?: Estimate,
  ): Promise<LimitCheck[]> {
    const own = saved?.counters ?? noCounters;
    return this.#peek(own, this.#asked.policies.target, estimate, target);
  }

  async judge(
    target: TargetFacts,
    saved: SavedProvider | undefined,
    estimating: () => Estimate,
  ): Promise<LimitVerdict> {
    this.#judged ??= this.peekRequest();
    const peeked = await this.#judged;
    const ofTarget = await this.peekTarget(target, saved);
    const isMeasured = [...peeked, ...ofTarget].some(
      ({ state }) => state !== undefined && isOfUse(state.counter),
    );
    const estimate = isMeasured ? estimating() : oneRequest;
    const withUse = (check: LimitCheck) => checkOf(check, estimate);
    const own = peeked.map(withUse);
    const verdict = { own, ofTarget: ofTarget.map(withUse) };
    for (const { state } of [...own, ...verdict.ofTarget]) {
      const refusal = state && unpricedRefusal(state.counter, estimate);
      if (refusal !== undefined) return { ...verdict, refusal, endsRequest: false };
    }
    // That nothing is left is known without the estimate, and said of the request.
    const at = peeked.findIndex(
      ({ refusal }, index) => refusal === undefined && own[index]?.refusal !== undefined,
    );
    return { ...verdict, refusal: own[at]?.refusal, endsRequest: at >= 0 };
  }

  /** What answers a request that is refused before its limits are asked: a spent one comes first. */
  async refusalInsteadOf(fault: unknown): Promise<unknown> {
    return this.#holds === undefined ? (limitRefusal(await this.peekRequest()) ?? fault) : fault;
  }

  post(actual: Used): void {
    this.#holds?.post(actual);
  }

  beside(target: TargetFacts, saved: SavedProvider | undefined): Promise<BesideHold> | undefined {
    const { policies } = this.#asked;
    const counters = countersOf(
      saved?.counters ?? noCounters,
      policies.target,
      this.#factsNow(),
      target,
    ).filter(isOfUse);
    return counters.length === 0 ? undefined : this.#holdBeside(counters);
  }

  /** Apart from what is held of the request's target: that is settled with its own calls. */
  async #holdBeside(counters: readonly Counter[]): Promise<BesideHold> {
    const id = newReservationId();
    const wants = {
      id,
      counters: counters.map((counter) => ({ counter, amount: 0, isSoft: true })),
      ofRequest: counters.length,
    };
    const taken = await this.#store.take(this.#scope, wants);
    const holds = new RequestHolds(this.#store, this.#scope, taken.states, this.#watch?.open);
    const reservation = new BesideReservation(this, id, holds, taken);
    return { reservation, close: () => holds.close() };
  }

  hold(): void {
    this.#waiting++;
    this.#holds?.reopen();
  }

  release(): void {
    this.#waiting--;
    this.#closeIfOver();
  }

  noteAnswered(): void {
    this.#holds?.noteAnswered();
  }

  /** Nothing more is asked for: what is held goes back when the last call is over. */
  close(): void {
    this.#isClosed = true;
    this.#closeIfOver();
  }

  #closeIfOver(): void {
    if (this.#isClosed && this.#waiting === 0) this.#holds?.close();
  }

  get #scope(): string {
    return this.#key.source.organisationId;
  }

  #keep(
    id: string,
    taken: Taken,
    { ofRequest }: Wants,
    ofTarget: number,
    estimate: Estimate,
  ): Reservation {
    const { refusedAt, states } = taken;
    const refused = states[refusedAt];
    if (refused !== undefined && refusedAt < ofRequest) this.#refuse(refused);
    if (refused !== undefined) this.#watch?.metrics.refused(refused.counter);
    for (const state of states) {
      if (state.wouldRefuse) this.#watch?.metrics.wouldRefuse(state.counter);
      if (state.isOverflow) this.#watch?.metrics.overflowed();
    }
    this.#holds ??= new RequestHolds(
      this.#store,
      this.#scope,
      ofRequest === states.length ? states : states.slice(0, ofRequest),
      this.#watch?.open,
    );
    if (refused === undefined && states.length > ofRequest + ofTarget)
      this.#holds.part.raise(states.slice(ofRequest, states.length - ofTarget));
    return new HeldReservation(id, this.#holds, taken, ofTarget, estimate);
  }

  #refuse(state: CounterState): never {
    this.isRefused = true;
    this.#watch?.metrics.refused(state.counter);
    throw limitError(state, Date.now());
  }

  /** Once the body is read: it may say who the end user is. */
  #factsNow(): RequestFacts {
    this.#facts ??= this.#asked.facts();
    return this.#facts;
  }

  #requestCounters(facts: RequestFacts): readonly Counter[] {
    const { workspaceCounters } = this.#bundle;
    const { request } = this.#asked.policies;
    const own = this.#key.counters;
    if (workspaceCounters.length === 0) return countersOf(own, request, facts);
    return countersOf([...own, ...workspaceCounters], request, facts);
  }

  async #peek(
    entity: readonly Counter[],
    policies: PolicyIndex,
    estimate?: Estimate,
    target?: TargetFacts,
  ): Promise<LimitCheck[]> {
    const matches = policies.explain(this.#asked.facts(), target);
    const counters = [...entity, ...matches.flatMap(({ counter }) => counter ?? [])];
    const states = counters.length === 0 ? [] : await this.#store.peek(this.#scope, counters);
    const stateOf = new Map(counters.map((counter, index) => [counter, states[index]]));
    const ofEntity = entity.map((counter) =>
      checkOf({ policy: undefined, state: stateOf.get(counter), unmet: undefined }, estimate),
    );
    const ofPolicies = matches.map(({ policy, counter, unmet }) =>
      checkOf(
        { policy, state: counter === undefined ? undefined : stateOf.get(counter), unmet },
        estimate,
      ),
    );
    return [...ofEntity, ...ofPolicies];
  }
}

/** What its call used is the request's as well. */
class BesideReservation extends HeldReservation {
  readonly #limits: RequestLimits;

  constructor(limits: RequestLimits, id: string, holds: RequestHolds, taken: Taken) {
    super(id, holds, taken, 0, nothingAsked);
    this.#limits = limits;
  }

  override post(actual: Used): void {
    super.post(actual);
    this.#limits.post(actual);
  }
}

const nothingAsked: Estimate = Object.freeze({ requests: 0, tokens: 0, costNanoUsd: 0 });

const isOfUse = ({ limit }: Counter) => limit.type !== 'requests';

function holdsUse(holds: RequestHolds | undefined): boolean {
  return holds?.states.some(({ counter }) => isOfUse(counter)) === true;
}

function checkOf(
  { policy, state, unmet }: Omit<LimitCheck, 'refusal'>,
  estimate: Estimate | undefined,
): LimitCheck {
  return { policy, state, unmet, refusal: state && refusalAt(state, estimate) };
}

function refuseUnpriced(counter: Counter, estimate: Estimate): void {
  const refusal = unpricedRefusal(counter, estimate);
  if (refusal !== undefined) throw refusal;
}

const noStates: readonly CounterState[] = Object.freeze([]);
const noCounters: readonly Counter[] = Object.freeze([]);
const noWants: readonly Want[] = Object.freeze([]);
const nothingTaken: Taken = Object.freeze({ refusedAt: -1, states: [] });

function countersOf(
  own: readonly Counter[],
  policies: PolicyIndex,
  facts: RequestFacts,
  target?: TargetFacts,
): readonly Counter[] {
  if (policies.isEmpty) return own;
  const met = policies.match(facts, target);
  return own.length === 0 ? met : met.length === 0 ? own : [...own, ...met];
}
