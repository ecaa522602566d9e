import {
  type CreateRateLimitsPolicyBody,
  misplacedCondition,
  type UpdateRateLimitsPolicyBody,
} from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { Database } from '../database/client.ts';
import { isUuid, newId } from '../database/ids.ts';
import type { AdminCall } from '../http/operation.ts';
import { invalidField } from '../http/parse-input.ts';
import {
  namedWorkspace,
  requireOwnOrganisation,
  requireReach,
  requireWorkspace,
} from '../http/target-workspace.ts';
import { findPolicy, insertPolicy, type PolicyRow, updatePolicy } from './store.ts';

/** The policy a path names, in this status: an archived one is not found by who does not ask for it. */
export async function reachPolicy(
  call: AdminCall,
  db: Database,
  id: string,
  status: string,
): Promise<PolicyRow> {
  if (!isUuid(id)) throw invalidField('path.rateLimitsPolicyId', 'must be a UUID');
  const policy = await findPolicy(db, id.toLowerCase());
  requireReach(call.caller, policy);
  if (policy === null || policy.status !== status) throw new GatewayError('admin.not_found');
  return policy;
}

export function createPolicy(call: AdminCall, body: CreateRateLimitsPolicyBody): Promise<string> {
  requireOwnOrganisation(call.caller, body.organisation_id);
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const workspace = await requireWorkspace(
      db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    const id = newId();
    await insertPolicy(db, {
      id,
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
      createdAt: call.now,
      updatedAt: call.now,
    });
    touchWorkspace(workspace.id);
    describe({ resourceId: id, workspaceId: workspace.id });
    return id;
  });
}

/** What the body leaves out stays. */
export function changePolicy(
  call: AdminCall,
  id: string,
  body: UpdateRateLimitsPolicyBody,
): Promise<void> {
  return change(call, id, async (db, policy) => {
    const misplaced = misplacedCondition(body.conditions ?? [], policy.target);
    if (misplaced >= 0)
      throw invalidField(
        `body.conditions[${misplaced}].key`,
        `does not apply to target ${policy.target}`,
      );
    await updatePolicy(db, policy.id, {
      name: body.name,
      description: body.description,
      conditions: body.conditions,
      unit: body.unit,
      value: body.value,
      updatedAt: call.now,
    });
  });
}

export function archivePolicy(call: AdminCall, id: string): Promise<void> {
  return change(call, id, (db, policy) =>
    updatePolicy(db, policy.id, { status: 'archived', updatedAt: call.now }),
  );
}

function change(
  call: AdminCall,
  id: string,
  work: (db: Database, policy: PolicyRow) => Promise<void>,
): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const policy = await reachPolicy(call, db, id, 'active');
    await work(db, policy);
    touchWorkspace(policy.workspaceId);
    describe({ resourceId: policy.id, workspaceId: policy.workspaceId });
  });
}
