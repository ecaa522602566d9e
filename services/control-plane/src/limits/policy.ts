import type { AnswerOf, LimitRules, PolicyCondition, PolicyTarget } from '@sluice/contracts/admin';
import { appliesTo } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { Change } from '../kernel/database/change.ts';
import type { Database } from '../kernel/database/client.ts';
import { pathParameter } from '../kernel/http/implement.ts';
import type { AdminRequest } from '../kernel/http/operation.ts';
import { instant } from '../kernel/http/shapes.ts';
import { isUuid } from '../kernel/names/ids.ts';
import {
  namedWorkspace,
  requireReach,
  requireWorkspace,
} from '../kernel/tenancy/target-workspace.ts';
import type { PolicyScope } from './named-conditions.ts';
import { type SetRules, setRules } from './usage-limits/stored-limits.ts';

/** What rows of both kinds of policy have. */
export interface PolicyColumns {
  id: string;
  organisationId: string;
  workspaceId: string | null;
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

/**
 * Whose a policy is to be: a workspace's, or with `all_workspaces` the organisation's.
 * @throws 400 where it is both or neither, 403 for the key of a workspace that wants it for all
 */
export async function policyScope(
  call: AdminRequest,
  db: Database,
  { all_workspaces: isForAll }: { all_workspaces?: boolean | undefined },
): Promise<PolicyScope> {
  const { caller } = call;
  const named = namedWorkspace(call.body, call.query);
  if (isForAll !== true) {
    const workspace = await requireWorkspace(db, caller, named);
    return { organisationId: workspace.organisationId, workspaceId: workspace.id };
  }
  if (caller.workspaceId !== undefined)
    throw new GatewayError('auth.wrong_key_type', {
      message: 'A policy for all workspaces needs an organisation key.',
    });
  if (named.reference != null) throw invalidField('body.all_workspaces', `excludes ${named.field}`);
  return { organisationId: caller.organisationId, workspaceId: null };
}

/** The bundles that hold a policy are different now. */
export async function touchHolders(
  { db, touchWorkspace }: Change,
  { organisationId, workspaceId }: PolicyScope,
): Promise<void> {
  if (workspaceId !== null) return touchWorkspace(workspaceId);
  const rows = await db.workspace.findMany({
    where: { organisationId, status: 'active' },
    select: { id: true },
    orderBy: { id: 'asc' },
  });
  for (const { id } of rows) touchWorkspace(id);
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
    ...(row.workspaceId === null
      ? { all_workspaces: true as const }
      : { workspace_id: row.workspaceId }),
    organisation_id: row.organisationId,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
  };
}
