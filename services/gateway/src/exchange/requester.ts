import type { ArrivedRequest } from './arrived-request.ts';
import type { ConfigChoice } from './config-choice.ts';
import type { Identity } from './identity.ts';
import type { Progress } from './progress.ts';
import type { ModelCall, Subject } from './subject.ts';

/**
 * For whom a call is made, and the request that its record belongs to. An
 * exchange is one; a call that a request did not ask for – by a check, a cache,
 * a batch – brings a smaller one.
 */
export interface Requester extends Identity {
  readonly arrival: RequesterArrival;
  readonly subject: Subject;
  readonly config: ConfigChoice | undefined;
  readonly decisionJson: string;
  readonly progress: Progress;
  /** The layout its content is kept in; empty = it is not kept. */
  readonly contentFormat: string;
}

/** Asks for a model. */
export interface ModelRequester extends Requester {
  readonly subject: ModelCall;
}

/** What calls and records look at of a request as it came. */
export interface RequesterArrival
  extends Pick<
    ArrivedRequest,
    | 'method'
    | 'headers'
    | 'requestId'
    | 'traceId'
    | 'callMark'
    | 'startedAt'
    | 'startedAtMs'
    | 'signal'
    | 'holdBytes'
    | 'holdApart'
  > {
  readonly caller: Pick<
    ArrivedRequest['caller'],
    'betas' | 'serviceKey' | 'requestTimeoutMs' | 'spanId' | 'parentSpanId' | 'spanName'
  >;
}
