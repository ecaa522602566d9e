import type { AnswerOf, LimitRules, PolicyCondition, PolicyTarget } from '@sluice/contracts/admin';
import { appliesTo } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import { pathParameter } from '../kernel/http/implement.ts';
import type { AdminRequest } from '../kernel/http/operation.ts';
import { instant } from '../kernel/http/shapes.ts';
import { isUuid } from '../kernel/names/ids.ts';
import { requireReach } from '../kernel/tenancy/target-workspace.ts';
import { type SetRules, setRules } from './usage-limits/stored-limits.ts';

/** What rows of both kinds of policy have. */
export interface PolicyColumns {
  id: string;
  organisationId: string;
  workspaceId: string;
  name: string | null;
  description: string | null;
  conditions: unknown;
  groupBy: unknown;
  rules: unknown;
  status: string;
  createdAt: Date;
  updatedAt: Date;
}

/** The id in the path. @throws 400 when it is none. */
export function policyId(call: AdminRequest, parameter: string): string {
  const id = pathParameter(call, parameter);
  if (!isUuid(id)) throw invalidField(`path.${parameter}`, 'must be a UUID');
  return id.toLowerCase();
}

/** A policy in the caller's reach and in this status: an archived one is not found by who does not ask for it. */
export function requirePolicy<Row extends PolicyColumns>(
  call: AdminRequest,
  policy: Row | null,
  status: string,
): Row {
  requireReach(call.caller, policy);
  if (policy === null || policy.status !== status) throw new GatewayError('admin.not_found');
  return policy;
}

/** @throws 400 for a condition that does not fit what the policy is about. */
export function requireConditionsFor(
  target: PolicyTarget,
  conditions: readonly PolicyCondition[] | undefined,
): void {
  if (target !== 'mcp_tools' && conditions?.length === 0)
    throw invalidField('body.conditions', 'needs at least one condition');
  const misplaced = (conditions ?? []).findIndex(({ key }) => !appliesTo(target, key));
  if (misplaced >= 0)
    throw invalidField(`body.conditions[${misplaced}].key`, `does not apply to target ${target}`);
}

/** What was sent of the rules takes the place of what is kept; null sets one back. */
export function changedRules(kept: unknown, sent: LimitRules): SetRules {
  const said = Object.entries(sent).filter(([, value]) => value !== undefined);
  return setRules({ ...(kept as LimitRules), ...Object.fromEntries(said) });
}

type Shown = AnswerOf<'rate-limits-policies.read'>;

export function presentPolicy(row: PolicyColumns) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    conditions: row.conditions as Shown['conditions'],
    group_by: row.groupBy as Shown['group_by'],
    ...(row.rules as SetRules),
    status: row.status as Shown['status'],
    workspace_id: row.workspaceId,
    organisation_id: row.organisationId,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
  };
}
