import { type UsageLimits, type UsageLimitsChange, usageLimits } from '@sluice/contracts/admin';
import { z } from 'zod';
import { noJson } from '../../kernel/database/no-json.ts';
import { parseInput } from '../../kernel/http/parse-input.ts';
import { type StoredUsageLimits, setRules } from './stored-limits.ts';
import { plannedUsageLimits, plannedUsageLimitsList, resetUsage } from './usage-limits.ts';

/**
 * The column of a holder's one budget after a change; undefined = it stays.
 * @throws 400 for what the change would come to
 */
export function changedUsageLimits(
  stored: StoredUsageLimits | null,
  sent: { usage_limits?: UsageLimitsChange | null | undefined; reset_usage?: boolean | undefined },
  now: Date,
): StoredUsageLimits | typeof noJson | undefined {
  if (sent.usage_limits === null) return noJson;
  const planned =
    sent.usage_limits === undefined
      ? stored
      : plannedUsageLimits(changedBudget(stored, sent.usage_limits), stored, now);
  if (planned === null) return undefined;
  if (sent.reset_usage === true) return resetUsage(planned, now);
  return planned === stored ? undefined : planned;
}

const holder = z.object({ usage_limits: usageLimits });

/** A budget with what was sent of it. One that counts something else is another: nothing of the stored one is in it. */
function changedBudget(stored: StoredUsageLimits | null, sent: UsageLimitsChange): UsageLimits {
  const isSame = stored !== null && (sent.type ?? stored.type) === stored.type;
  const merged = isSame ? { ...settingsOf(stored, sent), ...sent } : sent;
  return parseInput(holder, { usage_limits: merged }, 'body').usage_limits;
}

/** Without the date of its next reset, which is kept for as long as the cadence is; one cadence takes the place of the other. */
function settingsOf(
  {
    credit_limit,
    type,
    alert_threshold,
    periodic_reset,
    periodic_reset_days,
    ...rest
  }: StoredUsageLimits,
  sent: UsageLimitsChange,
): UsageLimitsChange {
  const isOtherCadence = sent.periodic_reset != null || sent.periodic_reset_days != null;
  const cadence = isOtherCadence ? {} : { periodic_reset, periodic_reset_days };
  return { credit_limit, type, alert_threshold, ...cadence, ...setRules(rest) };
}

/** The same for a holder of several, who sends all of them. */
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
