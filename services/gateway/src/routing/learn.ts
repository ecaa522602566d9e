import type { ModelExchange } from '../exchange/exchange.ts';
import type {
  AttemptListener,
  EndedAttempt,
  Lesson,
  PreparedCall,
} from '../exchange/prepared-call.ts';
import type { Target } from '../exchange/target.ts';
import { scopeOf } from './plan-request.ts';
import { failsBreaker, heardOf, isOnConfigsTerms } from './providers-doing.ts';
import type { CircuitBreakers } from './state/circuit-breakers.ts';
import type { Latencies } from './state/latencies.ts';

/** Whose circuits and averages hear of the calls of a target; undefined when nobody wants to know, or may. */
export function lessonOf(exchange: ModelExchange, target: Target): Lesson | undefined {
  const { latencyPaths, breaker } = target.planned;
  const configId = exchange.config?.saved?.id;
  const circuit =
    breaker === undefined || configId === undefined ? undefined : { configId, rule: breaker };
  if (circuit === undefined && latencyPaths.length === 0) return undefined;
  if (!isOnConfigsTerms(exchange, target)) return undefined;
  return { scope: scopeOf(exchange), circuit };
}

/** Whose share of second calls a request uses up: what callers make slow on terms of their own is not the others'. */
export function hedgeKeyOf(exchange: ModelExchange, target: Target): string {
  const terms = isOnConfigsTerms(exchange, target) ? '' : 'own:';
  return `${terms}${scopeOf(exchange)}:${target.path}`;
}

interface Learners {
  breakers: CircuitBreakers;
  latencies: Latencies;
}

/**
 * Tells circuits and averages what calls come to.
 * @param requestTimeoutMs how long a call may take where its config does not say
 */
export function learn(
  learners: Learners,
  { requestTimeoutMs }: { requestTimeoutMs: number },
): AttemptListener {
  return ({ call }) => {
    const { lesson } = call;
    if (lesson === undefined) return undefined;
    const isTrial = begin(call, lesson, learners);
    return (ended) => note(ended, lesson, isTrial, learners, requestTimeoutMs);
  };
}

/** True when this call is the one that tries a half-open circuit. */
function begin({ target }: PreparedCall, { scope, circuit }: Lesson, learners: Learners): boolean {
  const { path, latencyPaths } = target.planned;
  const isTrial = circuit !== undefined && learners.breakers.begin(circuit.configId, path);
  for (const latencyPath of latencyPaths) learners.latencies.begin(scope, latencyPath);
  return isTrial;
}

function note(
  ended: EndedAttempt,
  { scope, circuit }: Lesson,
  isTrial: boolean,
  { breakers, latencies }: Learners,
  requestTimeoutMs: number,
): void {
  const { requester, target } = ended.call;
  const { path, latencyPaths } = target.planned;
  const heard = heardOf(ended, requester, target, requestTimeoutMs);
  if (heard === 'nothing') {
    if (isTrial && circuit !== undefined) breakers.abandon(circuit.configId, path);
    return;
  }
  if (circuit !== undefined)
    breakers.report(circuit.configId, path, circuit.rule, failsBreaker(circuit.rule, ended));
  for (const latencyPath of latencyPaths)
    if (heard === 'success') latencies.observe(scope, latencyPath, ended.firstByteMs);
    else latencies.fail(scope, latencyPath);
}
