/**
 * The ground floor: one request with all that is known of it. What arrived
 * (`arrived-request.ts`), who asks (`identity.ts`), what is asked
 * (`subject.ts`), how much was tried (`progress.ts`), and one visit for each
 * target that was asked (`Visit`; what its calls learn of it is in `visit.ts`).
 * Stages fill it in; nothing else is passed around. What belongs to one target or one call stands in its visit, so that
 * the next target knows nothing of it.
 */
import type { CacheStatus } from '@sluice/contracts';
import type { ResolvedTarget } from '@sluice/engine';
import type { FailureCause } from '@sluice/errors';
import type { ArrivedRequest } from './arrived-request.ts';
import type { ConfigChoice } from './config-choice.ts';
import type { Identity } from './identity.ts';
import type { StreamRecovery } from './prepared-call.ts';
import { Progress } from './progress.ts';
import type { CounterState, Reservation } from './reservation.ts';
import type { ModelCall, Subject } from './subject.ts';
import type { Target } from './target.ts';
import type { RecordedAs, ReplySummary, VisitEntry, VisitNotes } from './visit.ts';

export interface Exchange extends Identity {
  /** Another one where what is in its body tells of its trace. */
  arrival: ArrivedRequest;
  subject: Subject;
  key: Identity['key'];
  bundle: Identity['bundle'];
  metadata: Identity['metadata'];
  limits: Identity['limits'];
  /** Saved-only mode: what the request says configures nothing. Known before the config is. */
  isSavedOnly: boolean;
  /** Our own look at work that goes on at a provider, by a token of the control plane. */
  isLook: boolean;
  /** A line of a batch, or what is answered in the background: nobody is there who would send it again. */
  isLine: boolean;
  config: ConfigChoice | undefined;
  /** Set when routing begins: from here on a fault of ours is a fault of an attempt. */
  isRouting: boolean;
  /** How the plan came about, as the usage record keeps it. */
  decisionJson: string;
  /** Known when routing begins: what ends before it leaves no content. */
  contentFormat: string;
  readonly progress: Progress;
  /** The targets asked so far, in order. */
  readonly visits: Visit[];
  /** Set where the config asks for it and a stream is asked for. */
  recovery: StreamRecovery | undefined;
}

/** A request for a model: what stages of model calls narrow an exchange to. */
export interface ModelExchange extends Exchange {
  subject: ModelCall;
}

const noVerdicts: readonly string[] = [];
const noStates: readonly CounterState[] = [];

/** One target of the plan being asked: all that is known of it, and of nothing else. */
export class Visit implements VisitNotes {
  readonly exchange: ModelExchange;
  readonly planned: ResolvedTarget;
  /** Undefined until it is known who serves it, and for good where that is refused. */
  target: Target | undefined = undefined;
  cacheStatus: CacheStatus = 'DISABLED';
  cacheSimilarity: number | undefined = undefined;
  retryCount = 0;
  hookVerdicts: readonly string[] = noVerdicts;
  recordedAs: RecordedAs | undefined = undefined;
  /** What is held for it; undefined where nothing is limited. */
  reservation: Reservation | undefined = undefined;
  /** How far the limits were of the request, and of this target. */
  limitStates: readonly CounterState[] = noStates;
  summary: ReplySummary | undefined = undefined;
  failureCause: FailureCause | undefined = undefined;
  readonly startedAt = performance.now();
  cacheMs = 0;
  entry: VisitEntry | undefined = undefined;
  providerAnswer: Buffer | undefined = undefined;
  /** What logs keep in the place of what the caller sent, in which something was taken out; undefined = that. */
  loggedRequest: Buffer | undefined = undefined;

  constructor(exchange: ModelExchange, planned: ResolvedTarget) {
    this.exchange = exchange;
    this.planned = planned;
  }
}

/** A request of which nothing is known but that it arrived, and what it asks for. */
export function openExchange<Asked extends Subject>(
  arrival: ArrivedRequest,
  subject: Asked,
): Exchange & { subject: Asked } {
  return {
    arrival,
    subject,
    key: undefined,
    bundle: undefined,
    metadata: arrival.caller.metadata,
    limits: undefined,
    isSavedOnly: false,
    isLook: false,
    isLine: false,
    config: undefined,
    isRouting: false,
    decisionJson: '',
    contentFormat: '',
    progress: new Progress(),
    visits: [],
    recovery: undefined,
  };
}

/** @throws when the request is none for a model: its pipeline has a stage of another's */
export function expectModelCall(exchange: Exchange): asserts exchange is ModelExchange {
  const { kind } = exchange.subject;
  if (kind !== 'model-call') throw new Error(`a stage of model calls was given a ${kind}`);
}

/** The target asked last: what it came to is the request's. */
export function lastVisit({ visits }: Exchange): Visit | undefined {
  return visits[visits.length - 1];
}

/** How far the limits are of the request, and of the target that was asked last. */
export function limitStatesOf(exchange: Exchange): readonly CounterState[] {
  const ofTarget = lastVisit(exchange)?.limitStates;
  if (ofTarget !== undefined && ofTarget.length > 0) return ofTarget;
  return exchange.limits?.statesOfRequest ?? noStates;
}

/** What the last call or kept answer came to; undefined = there was none. */
export function summaryOf({ visits }: Exchange): ReplySummary | undefined {
  for (let at = visits.length - 1; at >= 0; at--) {
    const summary = visits[at]?.summary;
    if (summary !== undefined) return summary;
  }
  return undefined;
}
