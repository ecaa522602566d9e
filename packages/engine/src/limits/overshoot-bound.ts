/** Of one counter, in the unit of its limit. */
export interface UnderWay {
  /** Used for good. */
  readonly posted: bigint;
  /** Held by requests under way. */
  readonly reserved: bigint;
  /** What those may use beyond what they hold. */
  readonly beyond: bigint;
}

/**
 * By how much what is under way may take a counter beyond its limit at most, or
 * further beyond it where it is beyond already. Exact: so far it goes when all use
 * what they were estimated to. Nothing where nobody may use more than is held.
 */
export function overshootBound(limit: bigint, { posted, reserved, beyond }: UnderWay): bigint {
  const over = posted + reserved + beyond - limit;
  if (over <= 0n) return 0n;
  return over < beyond ? over : beyond;
}
