import type { HookVerdict } from '../exchange/visit.ts';
import type { HookRanResult } from './hook-results.ts';

/** What the record keeps of a hook that ran. */
export function hookVerdict(
  event: HookVerdict['event'],
  { id, verdict, deny, checks, execution_time: ms }: HookRanResult,
): HookVerdict {
  const errors = checks.flatMap(({ id: check, error }) =>
    error === undefined ? [] : [{ check, error: error.name }],
  );
  return { id, event, verdict, deny, ms, ...(errors.length > 0 ? { errors } : {}) };
}
