import { z } from 'zod';
import { nameField, referenceField } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { pageQuery } from '../kernel/paging.ts';
import { rateRules, shownRateRules } from './limits.ts';
import {
  allWorkspaces,
  anyConditionsField,
  appliesTo,
  conditionsField,
  groupByField,
  policyDescription,
  policyStatus,
  savePolicyQuery,
  shownPolicy,
} from './policy-conditions.ts';

const type = z.enum(['requests', 'tokens']);
const unit = z.enum(['rpm', 'rph', 'rpd', 'rpw']);
const value = z.int().min(1);
const target = z.enum(['llm', 'mcp_tools']);
/** Those of tools may be empty. */
const conditions = anyConditionsField('llm', 'mcp_tools');

const createBody = z
  .object({
    name: nameField.nullish(),
    description: policyDescription,
    conditions,
    group_by: groupByField('llm', 'mcp_tools').optional(),
    type,
    unit,
    value,
    target: target.default('llm'),
    workspace_id: referenceField.optional(),
    all_workspaces: allWorkspaces,
    organisation_id: z.uuid().optional(),
    ...rateRules,
  })
  .superRefine((policy, context) => {
    // One shared counter is only meant where tools are limited; calls of models name their groups.
    if (policy.target === 'llm' && (policy.group_by ?? []).length === 0)
      context.addIssue({ code: 'custom', path: ['group_by'], message: 'needs at least one key' });
    if (policy.target === 'llm' && policy.conditions.length === 0)
      context.addIssue({
        code: 'custom',
        path: ['conditions'],
        message: 'needs at least one condition',
      });
    // A key that nobody knows is a fault already.
    for (const field of ['conditions', 'group_by'] as const)
      for (const [index, { key }] of (policy[field] ?? []).entries())
        if (target.options.some((any) => appliesTo(any, key)) && !appliesTo(policy.target, key))
          context.addIssue({
            code: 'custom',
            path: [field, index, 'key'],
            message: `does not apply to target ${policy.target}`,
          });
  });

/** What of a policy can be replayed: the rules by which gateways share and estimate cannot. */
export const replayedRateLimit = z.strictObject({
  name: nameField.nullish(),
  conditions: conditionsField('llm'),
  group_by: groupByField('llm').min(1),
  type,
  unit,
  value,
});

/** What kind of limit it is, and what it is counted by, stay as created. */
const updateBody = z.object({
  name: nameField.nullish(),
  description: policyDescription,
  conditions: conditions.optional(),
  unit: unit.optional(),
  value: value.optional(),
  ...rateRules,
});

const status = policyStatus.default('active');
const listQuery = z
  .object({
    workspace_id: referenceField.optional(),
    status,
    type: type.optional(),
    unit: unit.optional(),
  })
  .and(pageQuery({ default: 100, max: 1000 }));

const object = z.literal('policy_rate_limits');
const policy = z
  .object({
    ...shownPolicy,
    type,
    unit,
    value: z.number(),
    target,
    ...shownRateRules,
    object,
  })
  .register(shapeNames, { name: 'RateLimitsPolicy' });

const tag = 'Rate Limits Policies';
const one = '/policies/rate-limits/{rateLimitsPolicyId}';
const errors = [400, 401, 403, 404, 500];

export const rateLimitsPoliciesEndpoints = {
  'rate-limits-policies.list': endpoint({
    operationId: 'listRateLimitsPolicies',
    summary: 'List rate limits',
    tag,
    method: 'get',
    path: '/policies/rate-limits',
    access: { keys: anyKey, scopes: ['policies.list'] },
    query: listQuery,
    answer: z.object({ object: z.literal('list'), data: z.array(policy), total: z.int() }),
    errors,
  }),
  'rate-limits-policies.create': endpoint({
    operationId: 'createRateLimitsPolicy',
    summary: 'Limit how many requests or tokens a period may have',
    tag,
    method: 'post',
    path: '/policies/rate-limits',
    access: { keys: anyKey, scopes: ['policies.create'] },
    audit: { resourceType: 'policies', action: 'create' },
    query: savePolicyQuery,
    body: createBody,
    answer: z.object({ id: z.uuid(), object }),
    errors: [400, 401, 403, 500],
  }),
  'rate-limits-policies.read': endpoint({
    operationId: 'getRateLimitsPolicy',
    summary: 'Show one rate limit',
    tag,
    method: 'get',
    path: one,
    access: { keys: anyKey, scopes: ['policies.read'] },
    query: z.object({ status }),
    answer: policy,
    errors,
  }),
  'rate-limits-policies.update': endpoint({
    operationId: 'updateRateLimitsPolicy',
    summary: 'Change a rate limit',
    tag,
    method: 'put',
    path: one,
    access: { keys: anyKey, scopes: ['policies.update'] },
    audit: { resourceType: 'policies', action: 'update' },
    query: savePolicyQuery,
    body: updateBody,
    answer: nothing,
    errors,
  }),
  'rate-limits-policies.delete': endpoint({
    operationId: 'deleteRateLimitsPolicy',
    summary: 'Delete a rate limit',
    tag,
    method: 'delete',
    path: one,
    access: { keys: anyKey, scopes: ['policies.delete'] },
    audit: { resourceType: 'policies', action: 'delete' },
    answer: nothing,
    errors,
  }),
};
