import { z } from 'zod';
import { nameField, referenceField } from './fields.ts';
import { pageQuery } from './paging.ts';

const alwaysKeys = ['api_key', 'workspace_id', 'organisation_id'];
const llmKeys = ['virtual_key', 'provider', 'config', 'prompt', 'model', 'endpoint_type'];
const mcpKeys = ['mcp_server', 'mcp_tool'];

function isKnownKey(key: string, target: 'llm' | 'mcp_tools' | 'any'): boolean {
  if (/^metadata\..{1,128}$/.test(key) || alwaysKeys.includes(key)) return true;
  return (
    (target !== 'mcp_tools' && llmKeys.includes(key)) || (target !== 'llm' && mcpKeys.includes(key))
  );
}

const key = z
  .string()
  .max(160)
  .refine((name) => isKnownKey(name, 'any'), 'is not a known key');
const values = z.union([
  z.string().min(1).max(512),
  z.array(z.string().min(1).max(512)).min(1).max(100),
]);

/** All conditions of a policy must hold; the values of one are alternatives. */
const conditions = z
  .array(z.object({ key, value: values, excludes: values.optional() }))
  .min(1)
  .max(50);
export type PolicyCondition = z.infer<typeof conditions>[number];

const type = z.enum(['requests', 'tokens']);
const unit = z.enum(['rpm', 'rph', 'rpd', 'rpw']);
const value = z.number().min(1).max(Number.MAX_SAFE_INTEGER);
const description = z.string().max(500).nullish();

export const createRateLimitsPolicyBody = z
  .object({
    name: nameField.nullish(),
    description,
    conditions,
    group_by: z.array(z.object({ key })).max(20).optional(),
    type,
    unit,
    value,
    target: z.enum(['llm', 'mcp_tools']).default('llm'),
    organisation_id: z.uuid().optional(),
  })
  .superRefine((policy, context) => {
    // One shared counter is only meant where tools are limited; calls of models name their groups.
    if (policy.target === 'llm' && (policy.group_by ?? []).length === 0)
      context.addIssue({ code: 'custom', path: ['group_by'], message: 'needs at least one key' });
    for (const field of ['conditions', 'group_by'] as const)
      for (const [index, entry] of (policy[field] ?? []).entries())
        if (isKnownKey(entry.key, 'any') && !isKnownKey(entry.key, policy.target))
          context.addIssue({
            code: 'custom',
            path: [field, index, 'key'],
            message: `does not apply to target ${policy.target}`,
          });
  });
export type CreateRateLimitsPolicyBody = z.infer<typeof createRateLimitsPolicyBody>;

/** What kind of limit it is, and what it is counted by, stay as created. */
export const updateRateLimitsPolicyBody = z.object({
  name: nameField.nullish(),
  description,
  conditions: conditions.optional(),
  unit: unit.optional(),
  value: value.optional(),
});
export type UpdateRateLimitsPolicyBody = z.infer<typeof updateRateLimitsPolicyBody>;

/** The first condition whose key does not fit the policy's target. */
export function misplacedCondition(list: readonly PolicyCondition[], target: string): number {
  return list.findIndex(
    (condition) => !isKnownKey(condition.key, target === 'mcp_tools' ? 'mcp_tools' : 'llm'),
  );
}

const status = z.enum(['active', 'archived']).default('active');

export const getRateLimitsPolicyQuery = z.object({ status });
export const listRateLimitsPoliciesQuery = z
  .object({
    workspace_id: referenceField.optional(),
    status,
    type: type.optional(),
    unit: unit.optional(),
  })
  .and(pageQuery({ default: 100, max: 1000 }));
export type ListRateLimitsPoliciesQuery = z.infer<typeof listRateLimitsPoliciesQuery>;
