import type { BodyOf, UsageLimitsPolicyType } from '@sluice/contracts/admin';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { planUsageReset, type UsageReset } from '../usage-limits/usage-reset.ts';
import { requireAmounts } from './amounts.ts';
import { emptyEntity, reachPolicy } from './operations.ts';
import { presentUsageLimitsPolicy } from './present.ts';
import { findEntity, type UsageLimitsPolicyRow, updateEntities, updatePolicy } from './store.ts';

/** What the body leaves out stays, null clears. What has been counted stays too. */
export function changePolicy(
  call: AdminRequest,
  body: BodyOf<'usage-limits-policies.update'>,
): Promise<void> {
  const { now } = call;
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const policy = await reachPolicy(call, db, 'active');
    const creditLimit = body.credit_limit ?? policy.creditLimit;
    const alertThreshold =
      body.alert_threshold === undefined ? policy.alertThreshold : body.alert_threshold;
    requireAmounts(
      policy.type as UsageLimitsPolicyType,
      creditLimit,
      alertThreshold,
      body.alert_threshold == null ? 'credit_limit' : 'alert_threshold',
    );
    const reset = planUsageReset(body, resetOf(policy), {
      now,
      weekStartsOn: 'monday',
      path: 'body',
    });
    const changed = await updatePolicy(db, policy.id, {
      name: body.name,
      description: body.description,
      conditions: body.conditions,
      creditLimit,
      alertThreshold,
      periodicReset: reset.periodic_reset,
      periodicResetDays: reset.periodic_reset_days,
      nextUsageResetAt: reset.nextAt,
      updatedAt: now,
    });
    await reopenEntities(db, policy, changed, now);
    if (body.reset_usage_for_value !== undefined)
      await emptyNamedEntity(db, policy, body.reset_usage_for_value, now);
    touchWorkspace(policy.workspaceId);
    describe({
      resourceId: policy.id,
      workspaceId: policy.workspaceId,
      before: presentUsageLimitsPolicy(policy),
      after: presentUsageLimitsPolicy(changed),
    });
  });
}

/**
 * A higher limit lets counters that had reached it go on, and warns of it
 * anew; a higher threshold, or none, only warns anew.
 */
async function reopenEntities(
  db: Database,
  before: UsageLimitsPolicyRow,
  after: UsageLimitsPolicyRow,
  now: Date,
): Promise<void> {
  if (after.creditLimit > before.creditLimit)
    await updateEntities(
      db,
      before.id,
      { OR: [{ status: 'exhausted' }, { thresholdAlertSent: true }, { exhaustedAlertSent: true }] },
      { status: 'active', thresholdAlertSent: false, exhaustedAlertSent: false, updatedAt: now },
    );
  else if (thresholdOf(after) > thresholdOf(before))
    await updateEntities(
      db,
      before.id,
      { thresholdAlertSent: true },
      { thresholdAlertSent: false, updatedAt: now },
    );
}

/** Without a threshold there is no usage that reaches it. */
function thresholdOf(policy: UsageLimitsPolicyRow): number {
  return policy.alertThreshold ?? Number.POSITIVE_INFINITY;
}

/**
 * The counter is named whole (`api_key:…`), or by the value alone where a
 * policy counts by one thing. One that has not counted yet is empty already.
 */
async function emptyNamedEntity(
  db: Database,
  policy: UsageLimitsPolicyRow,
  named: string,
  now: Date,
): Promise<void> {
  const groups = policy.groupBy as { key: string }[];
  const names = groups.length === 1 ? [named, `${groups[0]?.key}:${named}`] : [named];
  for (const valueKey of names) {
    const entity = await findEntity(db, policy.id, { valueKey });
    if (entity !== null) return void (await emptyEntity(db, entity, now));
  }
}

function resetOf(policy: UsageLimitsPolicyRow): UsageReset {
  return {
    periodic_reset: policy.periodicReset as UsageReset['periodic_reset'],
    periodic_reset_days: policy.periodicResetDays,
    nextAt: policy.nextUsageResetAt,
  };
}
