import type { Seen } from './look-at-work.ts';

/** How work of one kind is followed, by the settings. */
export interface FollowPace {
  /** ms between two looks at what is young. */
  readonly intervalMs: number;
  /** ms after which it counts as lost. */
  readonly longestMs: number;
}

export interface NextLook {
  readonly state: 'open' | 'ended' | 'lost' | 'gone';
  readonly reason: string;
  /** Of what is open: ms until it is due again. */
  readonly afterMs: number;
  /** Looks in a row that came to nothing. */
  readonly failures: number;
}

/** Where nothing else asks for a longer time, what is old is looked at as often as this. */
const afterMsMax = 600_000;
/** A provider may not know for a moment what it made. */
const missingMax = 3;

/**
 * What follows from a look: of what goes on, when the next one is due. What has taken long will take long, so a look comes late by a
 * tenth of what was waited for at most. A look that came to nothing doubles the time to the next.
 */
export function nextLook(
  seen: Seen,
  { intervalMs, longestMs }: FollowPace,
  { ageMs, failures }: { ageMs: number; failures: number },
): NextLook {
  const open = (failed: number, reason: string): NextLook => {
    if (ageMs >= longestMs) return over('lost', reason);
    const longest = Math.max(intervalMs, afterMsMax);
    const usual = Math.min(longest, Math.max(intervalMs, ageMs / 10));
    const afterMs = Math.round(Math.min(longest, usual * 2 ** Math.min(failed, 10)));
    return { state: 'open', reason: '', afterMs, failures: failed };
  };
  switch (seen.kind) {
    case 'open':
      return open(0, 'it did not end');
    case 'ended':
    case 'gone':
      return over(seen.kind, seen.reason);
    case 'missing':
      if (failures + 1 >= missingMax) return over('gone', 'its provider does not know it');
      return open(failures + 1, 'its provider does not know it');
    case 'failed':
      return open(failures + 1, seen.reason);
  }
}

function over(state: NextLook['state'], reason: string): NextLook {
  return { state, reason: reason.slice(0, 500), afterMs: 0, failures: 0 };
}
