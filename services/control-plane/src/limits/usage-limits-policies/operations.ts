import { GatewayError } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import type { Input } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { newId } from '../../kernel/names/ids.ts';
import { requireOwnOrganisation } from '../../kernel/tenancy/target-workspace.ts';
import { type CatalogueIds, namedConditions } from '../named-conditions.ts';
import { changedRules, policyId, policyScope, requirePolicy, touchHolders } from '../policy.ts';
import { weekStarts } from '../usage-limits/period.ts';
import { rulesIn } from '../usage-limits/stored-limits.ts';
import { planUsageReset } from '../usage-limits/usage-reset.ts';
import { requireAmounts } from './amounts.ts';
import type { UsageLimitsPolicyRow } from './budget.ts';
import { presentUsage, presentUsageLimitsPolicy } from './present.ts';
import { resetGroup } from './reset-group.ts';
import { findEntity, findPolicy, insertPolicy, updatePolicy } from './store.ts';

/** The policy a path names, in this status. */
export async function reachPolicy(
  call: AdminRequest,
  db: Database,
  status: string,
): Promise<UsageLimitsPolicyRow> {
  const id = policyId(call, 'policyUsageLimitsId');
  return requirePolicy(call, await findPolicy(db, id), status);
}

export function createPolicy(
  call: AdminRequest,
  { body, query }: Input<'usage-limits-policies.create'>,
  ids: CatalogueIds,
): Promise<string> {
  const { caller, now } = call;
  requireOwnOrganisation(caller, body.organisation_id);
  const alertThreshold = body.alert_threshold ?? null;
  requireAmounts(body.type, body.credit_limit, alertThreshold, 'alert_threshold');
  const reset = planUsageReset(body, undefined, {
    now,
    weekStartsOn: weekStarts.policy,
    path: 'body',
  });
  return call.change(async (change) => {
    const { db, describe } = change;
    const scope = await policyScope(call, db, body);
    const naming = { target: 'usage', scope, ids, allowMissing: query.allow_missing } as const;
    const policy = await insertPolicy(db, {
      id: newId(),
      ...scope,
      name: body.name ?? null,
      description: body.description ?? null,
      conditions: await namedConditions(call, db, body.conditions, naming),
      groupBy: body.group_by,
      type: body.type,
      creditLimit: body.credit_limit,
      alertThreshold,
      periodicReset: reset.periodic_reset,
      periodicResetDays: reset.periodic_reset_days,
      nextUsageResetAt: reset.nextAt,
      rules: changedRules({}, rulesIn(body)),
      createdAt: now,
      updatedAt: now,
    });
    await touchHolders(change, scope);
    describe({
      resourceId: policy.id,
      workspaceId: scope.workspaceId ?? undefined,
      after: presentUsageLimitsPolicy(policy, now),
    });
    return policy.id;
  });
}

export function archivePolicy(call: AdminRequest): Promise<void> {
  return call.change(async (change) => {
    const { db, describe } = change;
    const policy = await reachPolicy(call, db, 'active');
    const archived = await updatePolicy(db, policy.id, { status: 'archived', updatedAt: call.now });
    await touchHolders(change, policy);
    describe({
      resourceId: policy.id,
      workspaceId: policy.workspaceId ?? undefined,
      before: presentUsageLimitsPolicy(policy, call.now),
      after: presentUsageLimitsPolicy(archived, call.now),
    });
  });
}

/** Empties one counter, as a new period would. */
export function resetEntity(call: AdminRequest): Promise<void> {
  return call.change(async (change) => {
    const { db, describe } = change;
    const id = policyId(call, 'entityId');
    const policy = await reachPolicy(call, db, 'active');
    const entity = await findEntity(db, policy.id, id);
    if (entity === null) throw new GatewayError('admin.not_found');
    await resetGroup(db, policy, entity.valueKey, call.now);
    const emptied = await findEntity(db, policy.id, id);
    await touchHolders(change, policy);
    describe({
      resourceId: policy.id,
      workspaceId: policy.workspaceId ?? undefined,
      before: presentUsage(policy, entity, call.now),
      after: emptied === null ? undefined : presentUsage(policy, emptied, call.now),
      detail: { entity_id: entity.groupId, value_key: entity.valueKey },
    });
  });
}
