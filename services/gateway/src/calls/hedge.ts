import { GatewayError } from '@sluice/errors';
import type { PreparedCall } from '../exchange/prepared-call.ts';
import { discard } from '../exchange/reply.ts';
import { type AttemptParts, type Launched, launch } from './attempt.ts';
import type { AttemptResult } from './attempt-result.ts';
import { type RequestBounds, stopOf } from './request-bounds.ts';

export interface HedgeParts {
  hedgeBudget: HedgeBudget;
  bounds: RequestBounds;
  metrics: { hedged(): void };
}

/** How many second calls may be made. */
export interface HedgeBudget {
  /** Every request that could be hedged. */
  request(key: string): void;
  /** Takes one second call if the share allows. */
  take(key: string, percentage: number): boolean;
}

/** A second call when the first has not begun to answer in time. The first good answer is taken. */
export async function hedge(
  call: PreparedCall,
  retryCount: number,
  parts: AttemptParts & HedgeParts,
): Promise<AttemptResult> {
  const rule = call.target.planned.hedge;
  const { hedgeKey } = call;
  if (rule === undefined || hedgeKey === undefined) return launch(call, retryCount, parts).result;
  const { arrival, progress } = call.requester;
  const { hedgeBudget, bounds, metrics } = parts;
  hedgeBudget.request(hedgeKey);
  const first = launchAlone(call, retryCount, parts);
  let timer: NodeJS.Timeout | undefined;
  const slow = new Promise<'slow'>((resolve) => {
    timer = setTimeout(() => resolve('slow'), rule.delayMs);
  });
  const early = await Promise.race([first.result, slow]).finally(() => clearTimeout(timer));
  if (early !== 'slow') return early;
  if (
    first.attempt.hasFirstByte ||
    arrival.signal.aborted ||
    stopOf(progress, arrival.startedAt, bounds) !== undefined ||
    // The first is not paid for yet.
    !progress.affords(2) ||
    !hedgeBudget.take(hedgeKey, rule.budgetPercentage)
  )
    return first.result;
  if (call.reservation !== undefined && !(await call.reservation.extend())) return first.result;
  metrics.hedged();
  const second = launchAlone(call, retryCount, parts);
  const [result, other] = await Promise.race([
    first.result.then((came) => [came, second] as const),
    second.result.then((came) => [came, first] as const),
  ]);
  const isGood = result.error === undefined && result.status < 400;
  if (!isGood) {
    const last = await other.result;
    if (last.error === undefined) discard(result.reply);
    else discard(last.reply);
    // Of two failures the one with an answer tells more.
    return last.error !== undefined && result.error === undefined ? result : last;
  }
  other.own.abort(new GatewayError('request.superseded'));
  other.result.then(
    (late) => discard(late.reply),
    // What could not even be noted was not made.
    () => {},
  );
  return result;
}

/** With a signal that ends this attempt and not the other. */
function launchAlone(
  call: PreparedCall,
  retryCount: number,
  parts: AttemptParts,
): Launched & { own: AbortController } {
  const own = new AbortController();
  const signal = AbortSignal.any([call.requester.arrival.signal, own.signal]);
  return { own, ...launch(call, retryCount, parts, signal) };
}
