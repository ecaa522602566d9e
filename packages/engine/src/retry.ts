/** When the same target is asked again. */
export interface RetryRule {
  readonly attempts: number;
  readonly statusCodes: ReadonlySet<number>;
  readonly usesWaitHints: boolean;
}

/** The statuses that are retried when a config does not name its own. */
export const retriedByDefault: ReadonlySet<number> = new Set([429, 500, 502, 503, 504, 529]);

/** What one call came to, as far as retries care. */
export interface CallResult {
  readonly status: number;
  /** No answer arrived: retried whatever the codes say. */
  readonly isNetworkFailure: boolean;
  /** Asking the same model again cannot help: the context is too long, the content was filtered. */
  readonly isFinal: boolean;
  /** What the provider asked us to wait; undefined = it did not. */
  readonly waitHintMs: number | undefined;
}

/** How far the retries of one target are. */
export interface RetryProgress {
  retries: number;
  waitedMs: number;
}

export type RetryDecision =
  | { readonly action: 'retry'; readonly waitMs: number }
  /** `attemptCount` is the value of the retry-attempt-count header. */
  | { readonly action: 'stop'; readonly attemptCount: number };

/** Waits asked for by providers add up to this much in one request, and no more. */
export const hintedWaitMsMax = 60_000;
const backoffBaseMs = 1000;

/**
 * The rule after each call. `progress` is updated by the caller when it retries.
 * @param rule undefined = what came must not be asked again, whatever was before it
 */
export function afterCall(
  rule: RetryRule | undefined,
  progress: Readonly<RetryProgress>,
  result: CallResult,
): RetryDecision {
  const stop = (attemptCount: number): RetryDecision => ({ action: 'stop', attemptCount });
  if (rule === undefined || rule.attempts === 0) return stop(progress.retries);
  const isRetriable =
    !result.isFinal && (result.isNetworkFailure || rule.statusCodes.has(result.status));
  if (!isRetriable) return stop(progress.retries);
  if (progress.retries >= rule.attempts) return stop(-1);
  if (rule.usesWaitHints && result.status === 429 && result.waitHintMs !== undefined) {
    // A longer wait than is left would only end in the same refusal, later.
    if (progress.waitedMs + result.waitHintMs > hintedWaitMsMax) return stop(-1);
    return { action: 'retry', waitMs: result.waitHintMs };
  }
  return { action: 'retry', waitMs: backoffBaseMs * 2 ** progress.retries };
}

/** The provider's wish, from the first of its known headers; an HTTP date is not understood. */
export function waitHintMs(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): number | undefined {
  for (const [name, unitMs] of hintHeaders) {
    const value = headers[name];
    if (typeof value !== 'string' || !/^\s*\d+(?:\.\d+)?\s*$/.test(value)) continue;
    return Math.ceil(Number(value) * unitMs);
  }
  return undefined;
}

const hintHeaders: readonly (readonly [string, number])[] = [
  ['retry-after-ms', 1],
  ['x-ms-retry-after-ms', 1],
  ['retry-after', 1000],
];
