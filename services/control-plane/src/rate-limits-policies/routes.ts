import {
  createRateLimitsPolicyBody,
  getRateLimitsPolicyQuery,
  listRateLimitsPoliciesQuery,
  updateRateLimitsPolicyBody,
} from '@sluice/contracts';
import type { AdminCall, Operation } from '../http/operation.ts';
import { parseInput } from '../http/parse-input.ts';
import { instant, listEnvelope } from '../http/shapes.ts';
import { namedWorkspace, targetWorkspace } from '../http/target-workspace.ts';
import { archivePolicy, changePolicy, createPolicy, reachPolicy } from './operations.ts';
import { listPolicies, type PolicyRow } from './store.ts';

const object = 'policy_rate_limits';

export const rateLimitsPolicyOperations: readonly Operation[] = [
  {
    id: 'rate-limits-policies.create',
    method: 'post',
    path: '/policies/rate-limits',
    handle: async (call) => ({
      id: await createPolicy(call, parseInput(createRateLimitsPolicyBody, call.body, 'body')),
      object,
    }),
  },
  {
    id: 'rate-limits-policies.list',
    method: 'get',
    path: '/policies/rate-limits',
    async handle(call) {
      const query = parseInput(listRateLimitsPoliciesQuery, call.query, 'query');
      const workspace = await targetWorkspace(
        call.db,
        call.caller,
        namedWorkspace(undefined, call.query),
      );
      const scope = { organisationId: call.caller.organisationId, workspaceId: workspace?.id };
      const { rows, total } = await listPolicies(call.db, scope, query);
      return listEnvelope(rows.map(presentPolicy), total);
    },
  },
  {
    id: 'rate-limits-policies.read',
    method: 'get',
    path: '/policies/rate-limits/:rateLimitsPolicyId',
    async handle(call) {
      const query = parseInput(getRateLimitsPolicyQuery, call.query, 'query');
      return presentPolicy(await reachPolicy(call, call.db, idOf(call), query.status));
    },
  },
  {
    id: 'rate-limits-policies.update',
    method: 'put',
    path: '/policies/rate-limits/:rateLimitsPolicyId',
    async handle(call) {
      await changePolicy(
        call,
        idOf(call),
        parseInput(updateRateLimitsPolicyBody, call.body, 'body'),
      );
      return {};
    },
  },
  {
    id: 'rate-limits-policies.delete',
    method: 'delete',
    path: '/policies/rate-limits/:rateLimitsPolicyId',
    async handle(call) {
      await archivePolicy(call, idOf(call));
      return {};
    },
  },
];

function idOf(call: AdminCall): string {
  return call.params.rateLimitsPolicyId ?? '';
}

function presentPolicy(row: PolicyRow) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    conditions: row.conditions,
    group_by: row.groupBy,
    type: row.type,
    unit: row.unit,
    value: row.value,
    target: row.target,
    status: row.status,
    workspace_id: row.workspaceId,
    organisation_id: row.organisationId,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    object,
  };
}
