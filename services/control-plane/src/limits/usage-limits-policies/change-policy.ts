import type { UsageLimitsPolicyType } from '@sluice/contracts/admin';
import { isAsItIs } from '../../kernel/database/as-it-is.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { Input } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { type CatalogueIds, idOfNamed, namedConditions } from '../named-conditions.ts';
import { changedRules, touchHolders } from '../policy.ts';
import { groupIdOf } from '../usage/group-id.ts';
import { rewarn } from '../usage/rewarn.ts';
import { movedOn, notPassed, weekStarts } from '../usage-limits/period.ts';
import { rulesIn } from '../usage-limits/stored-limits.ts';
import { planUsageReset } from '../usage-limits/usage-reset.ts';
import { requireAmounts } from './amounts.ts';
import { budgetOf, periodKept, type UsageLimitsPolicyRow } from './budget.ts';
import { reachPolicy } from './operations.ts';
import { presentUsageLimitsPolicy } from './present.ts';
import { resetGroup } from './reset-group.ts';
import { findEntity, updatePolicy } from './store.ts';

/** What the body leaves out stays, null clears. What has been counted stays too. */
export function changePolicy(
  call: AdminRequest,
  { body, query }: Input<'usage-limits-policies.update'>,
  ids: CatalogueIds,
): Promise<void> {
  const { now } = call;
  return call.change(async (change) => {
    const { db, describe } = change;
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
    const kept = periodKept(policy);
    const period = movedOn(kept, 'policy', now);
    const date = notPassed(kept, 'policy', body.next_usage_reset_at, now);
    const reset = planUsageReset({ ...body, next_usage_reset_at: date }, period, {
      now,
      weekStartsOn: weekStarts.policy,
      path: 'body',
    });
    const naming = {
      target: 'usage',
      scope: policy,
      ids,
      allowMissing: query.allow_missing,
    } as const;
    const columns = {
      name: body.name,
      description: body.description,
      conditions: body.conditions && (await namedConditions(call, db, body.conditions, naming)),
      creditLimit,
      alertThreshold,
      periodicReset: reset.periodic_reset,
      periodicResetDays: reset.periodic_reset_days,
      nextUsageResetAt: reset.nextAt,
      rules: changedRules(policy.rules, rulesIn(body)),
    };
    // A period that is over is not this caller's change: whoever moves it on does so for all.
    const asShown = { ...policy, nextUsageResetAt: period.nextAt };
    if (body.reset_usage_for_value === undefined && isAsItIs(asShown, columns))
      return change.unchanged();
    const changed = await updatePolicy(db, policy.id, {
      ...columns,
      periodStartedAt: period.startedAt,
      updatedAt: now,
    });
    await rewarn(db, budgetOf(policy), budgetOf(changed));
    if (body.reset_usage_for_value !== undefined)
      await resetNamed(call, db, changed, body.reset_usage_for_value);
    await touchHolders(change, policy);
    describe({
      resourceId: policy.id,
      workspaceId: policy.workspaceId ?? undefined,
      before: presentUsageLimitsPolicy(policy, now),
      after: presentUsageLimitsPolicy(changed, now),
    });
  });
}

/**
 * The counter is named whole (`api_key:…`), or by the value alone where a policy
 * counts by one thing; one of which nothing was heard yet is spelled as gateways do.
 * What is counted by id may be named by its slug. Who names a counter that nobody heard of yet is told.
 */
async function resetNamed(
  { now, notes }: AdminRequest,
  db: Database,
  policy: UsageLimitsPolicyRow,
  named: string,
): Promise<void> {
  const groups = policy.groupBy as { key: string }[];
  const [{ key } = { key: '' }] = groups;
  const id = groups.length === 1 ? await idOfNamed(db, policy, key, named) : undefined;
  if (id !== undefined) return resetGroup(db, policy, `${key}:${id}`, now);
  const spelled = `${key}:${encodeURIComponent(named.trim().toLowerCase().toWellFormed())}`;
  const names = groups.length === 1 ? [named, `${key}:${named}`, spelled] : [named];
  for (const name of names)
    if ((await findEntity(db, policy.id, groupIdOf(name))) !== null)
      return resetGroup(db, policy, name, now);
  const name = names.at(-1) ?? named;
  notes.warnings.push(
    `body.reset_usage_for_value: nothing was counted by "${name.slice(0, 80)}" yet; it is what GET …/entities shows as value_key`,
  );
  await resetGroup(db, policy, name, now);
}
