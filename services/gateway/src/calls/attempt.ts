import { GatewayError } from '@sluice/errors';
import type { UpstreamPools } from '@sluice/outbound';
import { outcomeOf } from '../exchange/outcome-of.ts';
import type { AttemptListener, PreparedCall } from '../exchange/prepared-call.ts';
import type { AttemptResult } from './attempt-result.ts';
import { authorised, ownerOf } from './authorised-call.ts';
import type { CallAuthoriser } from './call-authoriser.ts';
import { OngoingAttempt } from './ongoing-attempt.ts';
import type { ReadOn } from './read-on.ts';
import { type ReceiveOptions, receive } from './receive.ts';
import { UpstreamCall } from './upstream-call.ts';
import { askVendor, receiveWork } from './vendor-work.ts';

export interface AttemptParts {
  pools: UpstreamPools;
  authoriser: CallAuthoriser;
  /** In the order in which they are asked, and hear. */
  listeners: readonly AttemptListener[];
  options: AttemptOptions;
  readOn: ReadOn;
}

export interface AttemptOptions extends ReceiveOptions {
  /** Until the answer begins, where neither config nor caller says. */
  requestTimeoutMs: number;
  streamIdleTimeoutMs: number;
}

/** An attempt under way. */
export interface Launched {
  readonly attempt: OngoingAttempt;
  /** @throws GatewayError `gateway.ledger_full` when it could not be noted and was not made */
  readonly result: Promise<AttemptResult>;
}

/**
 * Sends a prepared call once: send, decode, tell the listeners, who hear of
 * exactly one outcome. Never throws once the call is made.
 * @param signal aborts this attempt alone; the requester's does when it is not given
 */
export function launch(
  call: PreparedCall,
  retryCount: number,
  parts: AttemptParts,
  signal: AbortSignal = call.requester.arrival.signal,
): Launched {
  const attempt = new OngoingAttempt(call, retryCount);
  return { attempt, result: run(attempt, signal, parts) };
}

async function run(
  attempt: OngoingAttempt,
  signal: AbortSignal,
  { pools, authoriser, listeners, options, readOn }: AttemptParts,
): Promise<AttemptResult> {
  const { call } = attempt;
  const { requester, target } = call;
  const late = target.planned.readsOn === true ? readOn.delay(signal) : undefined;
  if (late !== undefined) {
    attempt.readsOnAfter = signal;
    attempt.onEnd(late.end);
  }
  await attempt.begin(listeners);
  requester.progress.attempts++;
  requester.progress.tries++;
  let upstream: UpstreamCall | undefined;
  /** One of the requests of its work has left. */
  let hasAsked = false;
  try {
    if (call.work !== undefined) {
      const ask = askVendor(call, { pools, authoriser, options }, () => {
        hasAsked = true;
      });
      return await receiveWork(attempt, await call.work(ask, late?.signal ?? signal), options);
    }
    const signed = authorised(call, signal, authoriser);
    const sent = signed instanceof Promise ? await signed : signed;
    const pool = pools.pool(sent.origin, {
      tls: target.tls,
      by: call.addressBy,
      owner: ownerOf(requester),
    });
    upstream = new UpstreamCall(pool, {
      path: call.path,
      method: call.method,
      headers: sent.headers,
      body: sent.body,
      timeoutMs: target.timeoutMs ?? options.requestTimeoutMs,
      idleTimeoutMs: target.planned.idleTimeoutMs ?? options.streamIdleTimeoutMs,
      signal: late?.signal ?? signal,
      place: pools.placeOf(pool),
    });
    await upstream.head;
    attempt.heardHead(upstream.headers);
    return await receive(attempt, upstream, options);
  } catch (caught) {
    const error =
      caught instanceof GatewayError ? caught : new GatewayError('internal', { cause: caught });
    // A fault of ours may leave the upstream talking to nobody.
    upstream?.abort(error);
    attempt.wasSent = hasAsked || upstream?.wasSent === true;
    await attempt.finish(outcomeOf(error), error.status, error.code, undefined, error.failureCause);
    return {
      reply: undefined,
      error,
      status: error.status,
      isNetworkFailure: withoutAnswer.has(error.code),
      isFinal: false,
      isFiltered: false,
      waitHintMs: undefined,
    };
  }
}

const withoutAnswer: ReadonlySet<string> = new Set([
  'upstream.unreachable',
  'upstream.connect_timeout',
  'upstream.reset',
  'upstream.stream_cut',
]);
