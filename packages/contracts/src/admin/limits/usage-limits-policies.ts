import { z } from 'zod';
import { instantField, instantText, nameField, referenceField } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { anyKey } from '../kernel/access.ts';
import { endpoint, nothing } from '../kernel/endpoint.ts';
import { pageQuery, queryFlag } from '../kernel/paging.ts';
import { budgetRules, creditLimitMax, shownBudgetRules, shownUsage } from './limits.ts';
import {
  allWorkspaces,
  conditionsField,
  groupByField,
  policyDescription,
  policyStatus,
  savePolicyQuery,
  shownPolicy,
} from './policy-conditions.ts';

const types = ['cost', 'tokens', 'requests'] as const;
export type UsageLimitsPolicyType = (typeof types)[number];
const type = z.enum(types);
const period = z.enum(['monthly', 'weekly']);

/** The least that a policy may grant: a dollar, a hundred tokens, a request. */
export const policyCreditMin: Readonly<Record<UsageLimitsPolicyType, number>> = {
  cost: 1,
  tokens: 100,
  requests: 1,
};

/** The most of it; dollars have fractions, what is counted has none. */
export function policyAmountFault(type: UsageLimitsPolicyType, amount: number): string | undefined {
  const max = creditLimitMax(type);
  if (amount > max) return `must be at most ${max} for ${type}`;
  return type === 'cost' || Number.isInteger(amount) ? undefined : `must be whole for ${type}`;
}

const amount = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
const shared = {
  name: nameField.nullish(),
  description: policyDescription,
  alert_threshold: amount.nullish(),
  periodic_reset: period.nullish(),
  periodic_reset_days: z.int().min(1).max(365).nullish(),
  next_usage_reset_at: instantField.nullish(),
  ...budgetRules,
};
const oneCadence = {
  check: (policy: { periodic_reset?: unknown; periodic_reset_days?: unknown }) =>
    policy.periodic_reset == null || policy.periodic_reset_days == null,
  fault: { path: ['periodic_reset_days'], message: 'excludes periodic_reset' },
};

const createBody = z
  .object({
    ...shared,
    conditions: conditionsField('usage'),
    group_by: groupByField('usage').min(1),
    type,
    credit_limit: amount,
    workspace_id: referenceField.optional(),
    all_workspaces: allWorkspaces,
    organisation_id: z.uuid().optional(),
  })
  .refine(oneCadence.check, oneCadence.fault);

/** What of a policy can be replayed, as for rates. */
export const replayedUsageLimit = z
  .strictObject({
    name: nameField.nullish(),
    conditions: conditionsField('usage'),
    group_by: groupByField('usage').min(1),
    type,
    credit_limit: amount,
    periodic_reset: period.nullish(),
    periodic_reset_days: z.int().min(1).max(365).nullish(),
  })
  .refine(oneCadence.check, oneCadence.fault)
  .superRefine((limit, context) => {
    const least = policyCreditMin[limit.type];
    const message =
      limit.credit_limit < least
        ? `must be at least ${least} for ${limit.type}`
        : policyAmountFault(limit.type, limit.credit_limit);
    if (message !== undefined)
      context.addIssue({ code: 'custom', path: ['credit_limit'], message });
  });

/** What is counted, and by what, stay as created. */
const updateBody = z
  .object({
    ...shared,
    conditions: conditionsField('usage').optional(),
    credit_limit: amount.optional(),
    /** Empties the counter of one combination of group values. */
    reset_usage_for_value: z.string().min(1).max(4096).optional(),
  })
  .refine(oneCadence.check, oneCadence.fault);

const status = policyStatus.default('active');
const listQuery = z
  .object({ workspace_id: referenceField.optional(), status, type: type.optional() })
  .and(pageQuery({ default: 100, max: 1000 }));

const entityStatus = z.enum(['active', 'exhausted']);
const entitiesQuery = z
  .object({ status: entityStatus.optional(), search: z.string().max(4096).optional() })
  .and(pageQuery({ default: 100, min: 1, max: 100 }));

const usage = z.object({
  ...shownUsage,
  status: entityStatus,
  is_threshold_alerts_sent: z.boolean(),
  is_exhausted_alerts_sent: z.boolean(),
});
const object = z.literal('policy_usage_limits');
const policy = z
  .object({
    ...shownPolicy,
    type,
    credit_limit: z.number(),
    alert_threshold: z.number().nullable(),
    periodic_reset: period.nullable(),
    periodic_reset_days: z.int().nullable(),
    next_usage_reset_at: instantText.nullable(),
    last_reset_at: instantText.nullable(),
    /** By value key; only where it was asked for. */
    value_key_usage_map: z.record(z.string(), usage).optional(),
    ...shownBudgetRules,
    object,
  })
  .register(shapeNames, { name: 'UsageLimitsPolicy' });
const entity = z
  .object({
    id: z.uuid(),
    value_key: z.string(),
    ...shownUsage,
    status: entityStatus,
    last_reset_at: instantText.nullable(),
  })
  .register(shapeNames, { name: 'UsageLimitsPolicyEntity' });

const tag = 'Usage Limits Policies';
const one = '/policies/usage-limits/{policyUsageLimitsId}';
const errors = [400, 401, 403, 404, 500];

export const usageLimitsPoliciesEndpoints = {
  'usage-limits-policies.list': endpoint({
    operationId: 'listUsageLimitsPolicies',
    summary: 'List budgets',
    tag,
    method: 'get',
    path: '/policies/usage-limits',
    access: { keys: anyKey, scopes: ['policies.list'] },
    query: listQuery,
    answer: z.object({ object: z.literal('list'), data: z.array(policy), total: z.int() }),
    errors,
  }),
  'usage-limits-policies.create': endpoint({
    operationId: 'createUsageLimitsPolicy',
    summary: 'Limit what may be spent or used',
    tag,
    method: 'post',
    path: '/policies/usage-limits',
    access: { keys: anyKey, scopes: ['policies.create'] },
    audit: { resourceType: 'policies', action: 'create' },
    query: savePolicyQuery,
    body: createBody,
    answer: z.object({ id: z.uuid(), object }),
    errors,
  }),
  'usage-limits-policies.read': endpoint({
    operationId: 'getUsageLimitsPolicy',
    summary: 'Show one budget',
    tag,
    method: 'get',
    path: one,
    access: { keys: anyKey, scopes: ['policies.read'] },
    query: z.object({ status, include_usage: queryFlag.default(false) }),
    answer: policy,
    errors,
  }),
  'usage-limits-policies.update': endpoint({
    operationId: 'updateUsageLimitsPolicy',
    summary: 'Change a budget',
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
  'usage-limits-policies.delete': endpoint({
    operationId: 'deleteUsageLimitsPolicy',
    summary: 'Delete a budget',
    tag,
    method: 'delete',
    path: one,
    access: { keys: anyKey, scopes: ['policies.delete'] },
    audit: { resourceType: 'policies', action: 'delete' },
    answer: nothing,
    errors,
  }),
  'usage-limits-policies.entities.list': endpoint({
    operationId: 'listUsageLimitsPolicyEntities',
    summary: 'List how much of a budget each group has used',
    tag,
    method: 'get',
    path: `${one}/entities`,
    access: { keys: anyKey, scopes: ['policies.read'] },
    query: entitiesQuery,
    answer: z.object({ object: z.literal('list'), data: z.array(entity), total: z.int() }),
    errors,
  }),
  'usage-limits-policies.entities.reset': endpoint({
    operationId: 'resetUsageLimitsPolicyEntity',
    summary: 'Give a group its budget anew',
    tag,
    method: 'put',
    path: `${one}/entities/{entityId}/reset`,
    access: { keys: anyKey, scopes: ['policies.update'] },
    audit: { resourceType: 'policies', action: 'update' },
    answer: nothing,
    errors,
  }),
};
