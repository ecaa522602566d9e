/**
 * The ground floor: one request with all that is known of it. What arrived
 * (`arrived-request.ts`), who asks (`identity.ts`), what is asked
 * (`subject.ts`), how much was tried (`progress.ts`), and one visit for each
 * target that was asked (`visit.ts`). Stages fill it in; nothing else is passed
 * around. What belongs to one target or one call stands in its visit, so that
 * the next target knows nothing of it.
 */
import type { CompiledConfig } from '@sluice/engine';
import type { SavedConfig } from '../compiled/compiled-bundle.ts';
import type { ArrivedRequest } from './arrived-request.ts';
import type { Identity } from './identity.ts';
import { Progress } from './progress.ts';
import type { CounterState } from './reservation.ts';
import type { StreamRecovery } from './stream-recovery.ts';
import type { ModelCall, Subject } from './subject.ts';
import type { ReplySummary, Visit } from './visit.ts';

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

export interface ConfigChoice {
  compiled: CompiledConfig;
  saved: SavedConfig | undefined;
  source: ConfigOrigin;
}

/** Who named the config: the request, by slug or with the document itself, its key, or its workspace. */
export type ConfigOrigin = 'header-slug' | 'inline' | 'key-default' | 'workspace-default';

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

const noStates: readonly CounterState[] = [];

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
