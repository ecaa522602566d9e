import type { Progress, RoutingStop } from '../exchange/progress.ts';

/** How much one request may make the gateway do, whatever its config says. */
export interface RequestBounds {
  /** Calls (retries and second calls of hedging included), refused targets and kept answers together. */
  attemptsMax: number;
  /** Since the request's arrival; after it nothing new is begun. What is under way has its own deadlines. */
  routingTimeoutMs: number;
}

/**
 * Whether anything more may be tried for this request; undefined = yes. The first try always may.
 * @param startedAt when the request arrived, as `performance.now()` has it
 * @param waitMs what would be waited before
 */
export function stopOf(
  { tries }: Progress,
  startedAt: number,
  { attemptsMax, routingTimeoutMs }: RequestBounds,
  waitMs = 0,
): RoutingStop | undefined {
  if (tries === 0) return undefined;
  if (tries >= attemptsMax) return 'attempts';
  return performance.now() - startedAt + waitMs >= routingTimeoutMs ? 'time' : undefined;
}
