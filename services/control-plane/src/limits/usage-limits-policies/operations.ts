import type { BodyOf } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { newId } from '../../kernel/names/ids.ts';
import {
  namedWorkspace,
  requireOwnOrganisation,
  requireWorkspace,
} from '../../kernel/tenancy/target-workspace.ts';
import { policyId, requirePolicy } from '../policy.ts';
import { planUsageReset } from '../usage-limits/usage-reset.ts';
import { requireAmounts } from './amounts.ts';
import { presentUsage, presentUsageLimitsPolicy } from './present.ts';
import {
  findEntity,
  findPolicy,
  insertPolicy,
  type UsageLimitsEntityRow,
  type UsageLimitsPolicyRow,
  updateEntity,
  updatePolicy,
} from './store.ts';

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
  body: BodyOf<'usage-limits-policies.create'>,
): Promise<string> {
  const { caller, now } = call;
  requireOwnOrganisation(caller, body.organisation_id);
  const alertThreshold = body.alert_threshold ?? null;
  requireAmounts(body.type, body.credit_limit, alertThreshold, 'alert_threshold');
  const reset = planUsageReset(body, undefined, { now, weekStartsOn: 'monday', path: 'body' });
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const workspace = await requireWorkspace(db, caller, namedWorkspace(call.body, call.query));
    const policy = await insertPolicy(db, {
      id: newId(),
      organisationId: workspace.organisationId,
      workspaceId: workspace.id,
      name: body.name ?? null,
      description: body.description ?? null,
      conditions: body.conditions,
      groupBy: body.group_by,
      type: body.type,
      creditLimit: body.credit_limit,
      alertThreshold,
      periodicReset: reset.periodic_reset,
      periodicResetDays: reset.periodic_reset_days,
      nextUsageResetAt: reset.nextAt,
      createdAt: now,
      updatedAt: now,
    });
    touchWorkspace(workspace.id);
    describe({
      resourceId: policy.id,
      workspaceId: workspace.id,
      after: presentUsageLimitsPolicy(policy),
    });
    return policy.id;
  });
}

export function archivePolicy(call: AdminRequest): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const policy = await reachPolicy(call, db, 'active');
    const archived = await updatePolicy(db, policy.id, { status: 'archived', updatedAt: call.now });
    touchWorkspace(policy.workspaceId);
    describe({
      resourceId: policy.id,
      workspaceId: policy.workspaceId,
      before: presentUsageLimitsPolicy(policy),
      after: presentUsageLimitsPolicy(archived),
    });
  });
}

/** Empties one counter, as a new period would. */
export function resetEntity(call: AdminRequest): Promise<void> {
  return call.change(async ({ db, describe }) => {
    const id = policyId(call, 'entityId');
    const policy = await reachPolicy(call, db, 'active');
    const entity = await findEntity(db, policy.id, { id });
    if (entity === null) throw new GatewayError('admin.not_found');
    const emptied = await emptyEntity(db, entity, call.now);
    describe({
      resourceId: policy.id,
      workspaceId: policy.workspaceId,
      before: presentUsage(entity),
      after: presentUsage(emptied),
      detail: { entity_id: entity.id, value_key: entity.valueKey },
    });
  });
}

export function emptyEntity(
  db: Database,
  entity: UsageLimitsEntityRow,
  now: Date,
): Promise<UsageLimitsEntityRow> {
  return updateEntity(db, entity.id, {
    currentUsage: 0,
    status: 'active',
    thresholdAlertSent: false,
    exhaustedAlertSent: false,
    lastResetAt: now,
    updatedAt: now,
  });
}
