/** When a target is left out, and for how long. */
export interface BreakerRule {
  /** Opens when more calls than this failed; undefined = only the rate counts. */
  readonly failureThreshold: number | undefined;
  /** Opens when a larger share of the calls failed, once `minimumRequests` were made. */
  readonly failurePercentage: number | undefined;
  readonly minimumRequests: number;
  readonly cooldownMs: number;
  /** Undefined = everything over 500, and calls without an answer. */
  readonly failureStatusCodes: ReadonlySet<number> | undefined;
}

/**
 * Calls counted since the first failure. A count that is older than the
 * cooldown starts again, so that rare failures never add up to an open circuit.
 */
export interface BreakerCounts {
  failures: number;
  successes: number;
  /** Unix ms; 0 = nothing counted. */
  sinceMs: number;
}

/** `half-open`: the cooldown is over, one call may try. */
export type BreakerPhase = 'closed' | 'open' | 'half-open';

export function countsAsFailure(
  rule: BreakerRule,
  status: number,
  isNetworkFailure: boolean,
): boolean {
  if (rule.failureStatusCodes !== undefined) return rule.failureStatusCodes.has(status);
  return isNetworkFailure || status > 500;
}

/** The counts after so many more calls. Values in, values out. */
export function addCalls(
  rule: BreakerRule,
  counts: Readonly<BreakerCounts>,
  failures: number,
  successes: number,
  nowMs: number,
): BreakerCounts {
  const isStale = counts.sinceMs === 0 || nowMs - counts.sinceMs >= rule.cooldownMs;
  if (isStale) return { failures, successes, sinceMs: nowMs };
  return {
    failures: counts.failures + failures,
    successes: counts.successes + successes,
    sinceMs: counts.sinceMs,
  };
}

export function shouldOpen(rule: BreakerRule, counts: Readonly<BreakerCounts>): boolean {
  if (rule.failureThreshold !== undefined && counts.failures > rule.failureThreshold) return true;
  const total = counts.failures + counts.successes;
  return (
    rule.failurePercentage !== undefined &&
    counts.failures > 0 &&
    total >= rule.minimumRequests &&
    (counts.failures / total) * 100 > rule.failurePercentage
  );
}

/** `openedAtMs` 0 = it never opened, or a probe closed it. */
export function breakerPhase(rule: BreakerRule, openedAtMs: number, nowMs: number): BreakerPhase {
  if (openedAtMs === 0) return 'closed';
  return nowMs - openedAtMs < rule.cooldownMs ? 'open' : 'half-open';
}
