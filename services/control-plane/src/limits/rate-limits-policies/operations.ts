import { isAsItIs } from '../../kernel/database/as-it-is.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { Input } from '../../kernel/http/implement.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { newId } from '../../kernel/names/ids.ts';
import { requireOwnOrganisation } from '../../kernel/tenancy/target-workspace.ts';
import { type CatalogueIds, namedConditions } from '../named-conditions.ts';
import {
  changedRules,
  policyId,
  policyScope,
  requireConditionsFor,
  requirePolicy,
  touchHolders,
} from '../policy.ts';
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
  { body, query }: Input<'rate-limits-policies.create'>,
  ids: CatalogueIds,
): Promise<string> {
  const { caller, now } = call;
  requireOwnOrganisation(caller, body.organisation_id);
  return call.change(async (change) => {
    const { db, describe } = change;
    const scope = await policyScope(call, db, body);
    const allowMissing = query.allow_missing;
    const naming = { target: body.target, scope, ids, allowMissing };
    const policy = await insertPolicy(db, {
      id: newId(),
      ...scope,
      name: body.name ?? null,
      description: body.description ?? null,
      conditions: await namedConditions(call, db, body.conditions, naming),
      groupBy: body.group_by ?? [],
      type: body.type,
      unit: body.unit,
      value: body.value,
      target: body.target,
      rules: changedRules({}, rulesIn(body)),
      createdAt: now,
      updatedAt: now,
    });
    await touchHolders(change, scope);
    describe({
      resourceId: policy.id,
      workspaceId: scope.workspaceId ?? undefined,
      after: presentRateLimitsPolicy(policy),
    });
    return policy.id;
  });
}

/** What the body leaves out stays. */
export function changePolicy(
  call: AdminRequest,
  { body, query }: Input<'rate-limits-policies.update'>,
  ids: CatalogueIds,
): Promise<void> {
  return change(call, async (db, policy) => {
    const target = policy.target === 'mcp_tools' ? 'mcp_tools' : 'llm';
    requireConditionsFor(target, body.conditions);
    const allowMissing = query.allow_missing;
    const naming = { target, scope: policy, ids, allowMissing } as const;
    const columns = {
      name: body.name,
      description: body.description,
      conditions: body.conditions && (await namedConditions(call, db, body.conditions, naming)),
      unit: body.unit,
      value: body.value,
      rules: changedRules(policy.rules, rulesIn(body)),
    };
    if (isAsItIs(policy, columns)) return undefined;
    return updatePolicy(db, policy.id, { ...columns, updatedAt: call.now });
  });
}

export function archivePolicy(call: AdminRequest): Promise<void> {
  return change(call, (db, policy) =>
    updatePolicy(db, policy.id, { status: 'archived', updatedAt: call.now }),
  );
}

function change(
  call: AdminRequest,
  /** Nothing = it is as it was. */
  work: (db: Database, policy: RateLimitsPolicyRow) => Promise<RateLimitsPolicyRow | undefined>,
): Promise<void> {
  return call.change(async (change) => {
    const { db, describe } = change;
    const policy = await reachPolicy(call, db, 'active');
    const changed = await work(db, policy);
    if (changed === undefined) return change.unchanged();
    await touchHolders(change, policy);
    describe({
      resourceId: policy.id,
      workspaceId: policy.workspaceId ?? undefined,
      before: presentRateLimitsPolicy(policy),
      after: presentRateLimitsPolicy(changed),
    });
  });
}
