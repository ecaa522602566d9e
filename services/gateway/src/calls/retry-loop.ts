import { afterCall, type RetryProgress } from '@sluice/engine';
import type { GatewayError } from '@sluice/errors';
import { canResend, type PreparedCall } from '../exchange/prepared-call.ts';
import { discard } from '../exchange/reply.ts';
import { abortReason } from '../http/caller-gone.ts';
import { type AttemptParts, launch } from './attempt.ts';
import type { AttemptResult } from './attempt-result.ts';
import { type HedgeParts, hedge } from './hedge.ts';
import { stopOf } from './request-bounds.ts';
import { mayBeRepeated } from './surely-undone.ts';

export interface CallParts extends AttemptParts, HedgeParts {
  metrics: HedgeParts['metrics'] & { retried(): void };
}

/**
 * Sends a prepared call until its target answers well enough or the rule of
 * retries says that it is over. Notes how many retries that took. Never throws
 * once a call was made.
 * @throws GatewayError `gateway.ledger_full` when a call cannot be noted
 */
export async function callTarget(call: PreparedCall, parts: CallParts): Promise<AttemptResult> {
  const { notes } = call;
  const { planned } = call.target;
  const { operation } = call.requester.subject;
  const { arrival, progress: request } = call.requester;
  const progress: RetryProgress = { retries: 0, waitedMs: request.waitedMs };
  const isHedged = call.hedgeKey !== undefined && canResend(call);
  for (;;) {
    const result = await (isHedged
      ? hedge(call, progress.retries, parts)
      : launch(call, progress.retries, parts).result);
    const decision = afterCall(
      endsRequest(result.error) || !canResend(call) || !mayBeRepeated(operation, result)
        ? undefined
        : planned.retry,
      progress,
      result,
    );
    if (decision.action === 'stop') {
      notes.retryCount = decision.attemptCount;
      return result;
    }
    request.stoppedBy =
      stopOf(request, arrival.startedAt, parts.bounds, decision.waitMs) ??
      (request.affords(1) ? undefined : 'cost');
    if (request.stoppedBy !== undefined) {
      notes.retryCount = progress.retries;
      return result;
    }
    discard(result.reply);
    progress.retries++;
    if (result.waitHintMs !== undefined && planned.retry?.usesWaitHints === true) {
      progress.waitedMs += decision.waitMs;
      request.waitedMs = progress.waitedMs;
    }
    parts.metrics.retried();
    if (!(await waited(decision.waitMs, arrival.signal))) {
      notes.retryCount = progress.retries;
      return failed(abortReason(arrival.signal));
    }
  }
}

/** Faults that no other call and no other target can mend. */
export function endsRequest(error: GatewayError | undefined): boolean {
  return error !== undefined && ending.has(error.code);
}

const ending: ReadonlySet<string> = new Set([
  'internal',
  'request.aborted',
  'gateway.draining',
  'gateway.ledger_full',
]);

function failed(error: GatewayError): AttemptResult {
  return {
    reply: undefined,
    error,
    status: error.status,
    isNetworkFailure: false,
    isFinal: true,
    isFiltered: false,
    waitHintMs: undefined,
  };
}

/** False when the caller left in the meantime. */
function waited(waitMs: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const onAbort = () => {
      clearTimeout(timer);
      resolve(false);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve(true);
    }, waitMs);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}
