import { afterCall, type RetryProgress } from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import type { ModelExchange } from '../exchange/exchange.ts';
import { canResend, type PreparedCall } from '../exchange/prepared-call.ts';
import { type BodyReply, discard } from '../exchange/reply.ts';
import type { Target } from '../exchange/target.ts';
import type { Visit } from '../exchange/visit.ts';
import { scopeOf } from '../routing/plan-request.ts';
import { failsBreaker, heardOf, isOnConfigsTerms } from '../routing/providers-doing.ts';
import type { CircuitBreakers } from '../routing/state/circuit-breakers.ts';
import type { HedgeBudget } from '../routing/state/hedge-budget.ts';
import type { Latencies } from '../routing/state/latencies.ts';
import type { AttemptObserver, AttemptRecord } from '../usage/record-attempt.ts';
import { type AttemptDeps, type AttemptResult, attempt } from './attempt.ts';
import { type RequestBounds, stopOf } from './request-bounds.ts';

export interface CallDeps extends AttemptDeps {
  breakers: CircuitBreakers;
  latencies: Latencies;
  hedgeBudget: HedgeBudget;
  metrics: RoutingMetrics;
  bounds: RequestBounds;
}

export interface RoutingMetrics {
  retried(): void;
  hedged(): void;
  /** Another target was asked after this one. */
  fellBack(): void;
}

/** One prepared request to one target, as often as it has to be made. */
export interface Calling {
  target: Target;
  outgoing: PreparedCall;
  /** Counters of the target, settled with the tokens of each call. */
  counters: AttemptRecord['counters'];
  inspect: ((body: Buffer) => Promise<BodyReply | undefined>) | undefined;
}

/**
 * Calls a target until it answers well enough or the rule of retries says that
 * it is over. Sets `visit.retryCount`. Never throws once a call was made.
 * @throws GatewayError `gateway.ledger_full` when a call cannot be noted
 */
export async function callTarget(
  visit: Visit,
  calling: Calling,
  deps: CallDeps,
): Promise<AttemptResult> {
  const { exchange } = visit;
  const { planned } = calling.target;
  const progress: RetryProgress = { retries: 0, waitedMs: exchange.progress.waitedMs };
  const isHedged = planned.hedge !== undefined && canResend(calling.outgoing);
  for (;;) {
    const result = isHedged
      ? await hedged(visit, calling, progress.retries, deps)
      : await single(visit, calling, progress.retries, deps).result;
    const decision = afterCall(
      endsRequest(result.error) || !canResend(calling.outgoing) ? undefined : planned.retry,
      progress,
      result,
    );
    if (decision.action === 'stop') {
      visit.retryCount = decision.attemptCount;
      return result;
    }
    exchange.progress.stoppedBy = stopOf(
      exchange.progress,
      exchange.arrival.startedAt,
      deps.bounds,
      decision.waitMs,
    );
    if (exchange.progress.stoppedBy !== undefined) {
      visit.retryCount = progress.retries;
      return result;
    }
    discard(result.reply);
    progress.retries++;
    if (result.waitHintMs !== undefined && planned.retry?.usesWaitHints === true) {
      progress.waitedMs += decision.waitMs;
      exchange.progress.waitedMs = progress.waitedMs;
    }
    deps.metrics.retried();
    if (!(await waited(decision.waitMs, exchange.arrival.signal))) {
      visit.retryCount = progress.retries;
      return failed(new GatewayError('request.aborted'));
    }
  }
}

/** Faults that no other call and no other target can mend. */
export function endsRequest(error: GatewayError | undefined): boolean {
  return error !== undefined && ending.has(error.code);
}

const ending: ReadonlySet<string> = new Set(['internal', 'request.aborted', 'gateway.ledger_full']);

function failed(error: GatewayError): AttemptResult {
  return {
    reply: undefined,
    error,
    status: error.status,
    isNetworkFailure: false,
    isFinal: true,
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

interface Launched {
  result: Promise<AttemptResult>;
  /** Undefined until the attempt is noted. */
  record: () => AttemptRecord | undefined;
}

function single(
  visit: Visit,
  { target, outgoing, counters, inspect }: Calling,
  retryCount: number,
  deps: CallDeps,
  signal?: AbortSignal,
): Launched {
  const { exchange } = visit;
  let record: AttemptRecord | undefined;
  const run = async (): Promise<AttemptResult> => {
    record = await deps.recorder.beginAttempt(
      visit,
      target,
      retryCount,
      observer(exchange, target, deps),
    );
    record.counters = counters;
    exchange.progress.attempts++;
    exchange.progress.tries++;
    const mayRetry = (target.planned.retry?.attempts ?? 0) > 0;
    return attempt(exchange, target, outgoing, { record, signal, mayRetry, inspect }, deps);
  };
  return { result: run(), record: () => record };
}

/** Tells circuits and averages what a call came to; undefined when nobody wants to know, or may. */
function observer(
  exchange: ModelExchange,
  target: Target,
  deps: CallDeps,
): AttemptObserver | undefined {
  const { breakers, latencies } = deps;
  const { path, latencyPaths, breaker: rule } = target.planned;
  const configId = exchange.config?.saved?.id;
  const breaker = configId === undefined ? undefined : rule;
  if (breaker === undefined && latencyPaths.length === 0) return undefined;
  if (!isOnConfigsTerms(exchange, target)) return undefined;
  const isTrial = breaker !== undefined && configId !== undefined && breakers.begin(configId, path);
  const scope = scopeOf(exchange);
  for (const latencyPath of latencyPaths) latencies.begin(scope, latencyPath);
  return (outcome, status, errorCode, firstByteMs) => {
    const call = { outcome, status, errorCode };
    const heard = heardOf(call, exchange, target, deps.requestTimeoutMs);
    if (heard === 'nothing') {
      if (isTrial) breakers.abandon(configId, path);
      return;
    }
    if (breaker !== undefined && configId !== undefined)
      breakers.report(configId, path, breaker, failsBreaker(breaker, call));
    for (const latencyPath of latencyPaths)
      if (heard === 'success') latencies.observe(scope, latencyPath, firstByteMs);
      else latencies.fail(scope, latencyPath);
  };
}

/** A second call when the first has not begun to answer in time. The first good answer is taken. */
async function hedged(
  visit: Visit,
  calling: Calling,
  retryCount: number,
  deps: CallDeps,
): Promise<AttemptResult> {
  const { exchange } = visit;
  const rule = calling.target.planned.hedge;
  if (rule === undefined) return single(visit, calling, retryCount, deps).result;
  const launch = () => {
    const own = new AbortController();
    const signal = AbortSignal.any([exchange.arrival.signal, own.signal]);
    return { own, ...single(visit, calling, retryCount, deps, signal) };
  };
  // What callers make slow on terms of their own must not use up what the others may hedge.
  const terms = isOnConfigsTerms(exchange, calling.target) ? '' : 'own:';
  const budgetKey = `${terms}${scopeOf(exchange)}:${calling.target.path}`;
  deps.hedgeBudget.request(budgetKey);
  const first = launch();
  let timer: NodeJS.Timeout | undefined;
  const slow = new Promise<'slow'>((resolve) => {
    timer = setTimeout(() => resolve('slow'), rule.delayMs);
  });
  const early = await Promise.race([first.result, slow]).finally(() => clearTimeout(timer));
  if (early !== 'slow') return early;
  if (
    first.record()?.hasFirstByte === true ||
    exchange.arrival.signal.aborted ||
    stopOf(exchange.progress, exchange.arrival.startedAt, deps.bounds) !== undefined ||
    !deps.hedgeBudget.take(budgetKey, rule.budgetPercentage)
  )
    return first.result;
  deps.metrics.hedged();
  const second = launch();
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
