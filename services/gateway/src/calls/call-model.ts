import { type Endpoint, operations } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { JsonObject } from '@sluice/providers';
import { type ArrivedRequest, uncountedBytes } from '../exchange/arrived-request.ts';
import type { Identity } from '../exchange/identity.ts';
import { Progress } from '../exchange/progress.ts';
import { type BodyReply, discard } from '../exchange/reply.ts';
import type { ModelRequester } from '../exchange/requester.ts';
import { modelCall } from '../exchange/subject.ts';
import { limitFactsOf, type Target } from '../exchange/target.ts';
import type { CallRules } from './prepare/call-rules.ts';
import { newCall } from './prepare/new-call.ts';
import { prepareUnified } from './prepare/prepare-unified.ts';
import { type CallParts, callTarget } from './retry-loop.ts';

/** On whose account a model is called, and for which request. An exchange is one. */
export interface CallerIdentity extends Identity {
  readonly arrival: Pick<ArrivedRequest, 'requestId' | 'traceId' | 'callMark'>;
  /** What its record says of how it came about. */
  readonly decisionJson: string;
}

/** What is asked of a model: an endpoint of ours and its JSON, which does not ask for a stream. */
export interface ModelBody {
  readonly endpoint: Endpoint;
  readonly json: JsonObject;
}

/**
 * Calls a model that no caller asked for: to judge an answer, to embed a
 * question, to run a job. The target's retries apply, usage records and limits
 * as to any call; nothing of a caller's headers travels on, and neither checks
 * nor cache are asked.
 * @returns the answer, whatever its status
 * @throws GatewayError when there is none
 */
export type CallModel = (
  identity: CallerIdentity,
  target: Target,
  body: ModelBody,
  signal: AbortSignal,
) => Promise<BodyReply>;

export interface ModelCallerParts extends CallParts, CallRules {}

export function createCallModel(parts: ModelCallerParts): CallModel {
  return async (identity, target, body, signal) => {
    const requester = requesterOf(identity, body, signal);
    const request = prepareUnified(requester, target, undefined, parts);
    const held = await heldFor(identity, target);
    try {
      const call = {
        ...newCall(request, requester, target, notes()),
        reservation: held?.reservation,
      };
      const { reply, error } = await callTarget(call, parts);
      if (reply?.kind === 'body') return reply;
      discard(reply);
      throw error ?? new GatewayError('upstream.response_too_large');
    } finally {
      held?.close();
    }
  };
}

async function heldFor({ limits }: CallerIdentity, target: Target) {
  try {
    return await limits?.beside(limitFactsOf(target), target.saved);
  } catch {
    // They cannot be asked: the record says all the same what was used.
    return undefined;
  }
}

function requesterOf(
  identity: CallerIdentity,
  { endpoint, json }: ModelBody,
  signal: AbortSignal,
): ModelRequester {
  const operation = operations[endpoint];
  const [, pathname = ''] = operation.at.split(' ');
  const subject = modelCall(operation, pathname, '');
  subject.json = json;
  subject.body = Buffer.from(JSON.stringify(json));
  subject.model = typeof json.model === 'string' ? json.model : '';
  return {
    arrival: {
      method: 'POST',
      headers: {},
      requestId: identity.arrival.requestId,
      traceId: identity.arrival.traceId,
      callMark: identity.arrival.callMark,
      startedAt: performance.now(),
      startedAtMs: Date.now(),
      signal,
      // The answer is ours to read, within the bound of every reply.
      holdBytes: () => true,
      holdApart: () => uncountedBytes,
      caller: noHeaders,
    },
    subject,
    key: identity.key,
    bundle: identity.bundle,
    metadata: identity.metadata,
    limits: identity.limits,
    config: undefined,
    decisionJson: identity.decisionJson,
    // What our own checks ask and hear is not the caller's to read.
    contentFormat: '',
    progress: new Progress(),
  };
}

const noHeaders: ModelRequester['arrival']['caller'] = {
  betas: undefined,
  serviceKey: undefined,
  requestTimeoutMs: undefined,
  spanId: '',
  parentSpanId: '',
  spanName: '',
};

function notes() {
  return {
    cacheStatus: 'DISABLED' as const,
    cacheSimilarity: undefined,
    hookVerdicts: [],
    recordedAs: undefined,
    retryCount: 0,
    summary: undefined,
    failureCause: undefined,
    startedAt: performance.now(),
    cacheMs: 0,
    entry: undefined,
    providerAnswer: undefined,
  };
}
