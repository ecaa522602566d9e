import type { Database } from '../../kernel/database/client.ts';
import type { Budget } from './budget.ts';

/**
 * A higher limit warns of all of its counters anew; a higher threshold, or none,
 * only of that. What they counted stays.
 */
export async function rewarn(db: Database, before: Budget, after: Budget): Promise<void> {
  if (after.creditLimit > before.creditLimit)
    await db.limitUsage.updateMany({
      where: {
        limitId: before.id,
        OR: [{ thresholdAlertSent: true }, { exhaustedAlertSent: true }],
      },
      data: { thresholdAlertSent: false, exhaustedAlertSent: false },
    });
  else if (thresholdOf(after) > thresholdOf(before))
    await db.limitUsage.updateMany({
      where: { limitId: before.id, thresholdAlertSent: true },
      data: { thresholdAlertSent: false },
    });
}

/** Without a threshold there is no usage that reaches it. */
function thresholdOf({ alertThreshold }: Budget): number {
  return alertThreshold ?? Number.POSITIVE_INFINITY;
}
