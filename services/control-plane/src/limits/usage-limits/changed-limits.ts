import type { UsageLimits } from '@sluice/contracts/admin';
import { noJson } from '../../kernel/database/no-json.ts';
import type { StoredUsageLimits } from './stored-limits.ts';
import { plannedUsageLimits, plannedUsageLimitsList, resetUsage } from './usage-limits.ts';

/** The column of a holder's one budget after a change; undefined = it stays. */
export function changedUsageLimits(
  stored: StoredUsageLimits | null,
  sent: { usage_limits?: UsageLimits | null | undefined; reset_usage?: boolean | undefined },
  now: Date,
): StoredUsageLimits | typeof noJson | undefined {
  if (sent.usage_limits === null) return noJson;
  const planned =
    sent.usage_limits === undefined ? stored : plannedUsageLimits(sent.usage_limits, stored, now);
  if (planned === null) return undefined;
  if (sent.reset_usage === true) return resetUsage(planned, now);
  return planned === stored ? undefined : planned;
}

/** The same for a holder of several. */
export function changedUsageLimitsList(
  stored: readonly StoredUsageLimits[],
  sent: { usage_limits?: UsageLimits[] | null | undefined; reset_usage?: boolean | undefined },
  now: Date,
  path?: string,
): StoredUsageLimits[] | undefined {
  const planned =
    sent.usage_limits === undefined
      ? undefined
      : plannedUsageLimitsList(sent.usage_limits ?? [], stored, now, path);
  if (sent.reset_usage !== true) return planned;
  return (planned ?? stored).map((limits) => resetUsage(limits, now));
}
