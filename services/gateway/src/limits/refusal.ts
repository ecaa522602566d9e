import { GatewayError } from '@sluice/errors';
import type { LimitCheck } from '../exchange/limits.ts';
import type { CounterState } from '../exchange/reservation.ts';

const unitWords: Readonly<Record<string, string>> = {
  rps: 'second',
  rpm: 'minute',
  rph: 'hour',
  rpd: 'day',
  rpw: 'week',
};

/** The 429 of a limit: names the entity by slug, says when to come back. */
export function rateLimitError(state: CounterState, nowMs: number): GatewayError {
  const { counter } = state;
  const by = counter.policyName === undefined ? '' : ` by policy "${counter.policyName}"`;
  return new GatewayError('limit.rate_exceeded', {
    message: `Rate limit exceeded for ${counter.entity}: ${counter.limit} ${counter.type} per ${unitWords[counter.unit]} allowed${by}.`,
    headers: {
      'retry-after': String(Math.max(1, Math.ceil((state.resetAtMs - nowMs) / 1000))),
      ...remainingHeaders([state], nowMs),
    },
    detail: { counter: counter.key, limit: counter.limit },
  });
}

/**
 * `x-service-ratelimit-{limit,remaining,reset}-{requests,tokens}` for the
 * tightest counter of each type; reset in seconds. The provider's own
 * `x-ratelimit-*` names are left to the provider.
 */
export function remainingHeaders(
  states: readonly CounterState[],
  nowMs: number,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const type of ['requests', 'tokens'] as const) {
    let tightest: CounterState | undefined;
    for (const state of states)
      if (
        state.counter.type === type &&
        (tightest === undefined || state.remaining < tightest.remaining)
      )
        tightest = state;
    if (tightest === undefined) continue;
    headers[`x-service-ratelimit-limit-${type}`] = String(tightest.counter.limit);
    headers[`x-service-ratelimit-remaining-${type}`] = String(Math.max(0, tightest.remaining));
    headers[`x-service-ratelimit-reset-${type}`] = String(
      Math.max(0, Math.ceil((tightest.resetAtMs - nowMs) / 1000)),
    );
  }
  return headers;
}

/** The refusal by the first limit that has nothing left, as a request would meet it. */
export function limitRefusal(checks: readonly LimitCheck[]): GatewayError | undefined {
  const state = checks.find(isSpent)?.state;
  return state === undefined ? undefined : rateLimitError(state, Date.now());
}

export function isSpent({ state }: LimitCheck): boolean {
  return state !== undefined && state.remaining < 1;
}
