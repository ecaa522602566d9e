import type { BodyOf } from '@sluice/contracts/admin';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { newId } from '../../kernel/names/ids.ts';
import {
  namedWorkspace,
  requireOwnOrganisation,
  requireWorkspace,
} from '../../kernel/tenancy/target-workspace.ts';
import { changedRules, policyId, requireConditionsFor, requirePolicy } from '../policy.ts';
import { rulesIn } from '../usage-limits/stored-limits.ts';
import { presentRateLimitsPolicy } from './present.ts';
import { findPolicy, insertPolicy, type RateLimitsPolicyRow, updatePolicy } from './store.ts';

/** The policy a path names, in this status. */
export async function reachPolicy(
  call: AdminRequest,
  db: Database,
  status: string,
): Promise<RateLimitsPolicyRow> {
  const id = policyId(call, 'rateLimitsPolicyId');
  return requirePolicy(call, await findPolicy(db, id), status);
}

export function createPolicy(
  call: AdminRequest,
  body: BodyOf<'rate-limits-policies.create'>,
): Promise<string> {
  const { caller, now } = call;
  requireOwnOrganisation(caller, body.organisation_id);
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const workspace = await requireWorkspace(db, caller, namedWorkspace(call.body, call.query));
    const policy = await insertPolicy(db, {
      id: newId(),
      organisationId: workspace.organisationId,
      workspaceId: workspace.id,
      name: body.name ?? null,
      description: body.description ?? null,
      conditions: body.conditions,
      groupBy: body.group_by ?? [],
      type: body.type,
      unit: body.unit,
      value: body.value,
      target: body.target,
      rules: changedRules({}, rulesIn(body)),
      createdAt: now,
      updatedAt: now,
    });
    touchWorkspace(workspace.id);
    describe({
      resourceId: policy.id,
      workspaceId: workspace.id,
      after: presentRateLimitsPolicy(policy),
    });
    return policy.id;
  });
}

/** What the body leaves out stays. */
export function changePolicy(
  call: AdminRequest,
  body: BodyOf<'rate-limits-policies.update'>,
): Promise<void> {
  return change(call, async (db, policy) => {
    requireConditionsFor(policy.target === 'mcp_tools' ? 'mcp_tools' : 'llm', body.conditions);
    return updatePolicy(db, policy.id, {
      name: body.name,
      description: body.description,
      conditions: body.conditions,
      unit: body.unit,
      value: body.value,
      rules: changedRules(policy.rules, rulesIn(body)),
      updatedAt: call.now,
    });
  });
}

export function archivePolicy(call: AdminRequest): Promise<void> {
  return change(call, (db, policy) =>
    updatePolicy(db, policy.id, { status: 'archived', updatedAt: call.now }),
  );
}

function change(
  call: AdminRequest,
  work: (db: Database, policy: RateLimitsPolicyRow) => Promise<RateLimitsPolicyRow>,
): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const policy = await reachPolicy(call, db, 'active');
    const changed = await work(db, policy);
    touchWorkspace(policy.workspaceId);
    describe({
      resourceId: policy.id,
      workspaceId: policy.workspaceId,
      before: presentRateLimitsPolicy(policy),
      after: presentRateLimitsPolicy(changed),
    });
  });
}
