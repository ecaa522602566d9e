import { z } from 'zod';
import { queryFlag } from '../kernel/paging.ts';

/** What a policy is about: which keys its conditions and groups may name depends on it. */
export type PolicyTarget = 'llm' | 'mcp_tools' | 'usage';

const always = ['api_key', 'workspace_id', 'organisation_id'];
const calls = ['virtual_key', 'provider', 'config', 'prompt', 'model'];
const keysByTarget: Readonly<Record<PolicyTarget, ReadonlySet<string>>> = {
  llm: new Set([...always, ...calls, 'endpoint_type']),
  mcp_tools: new Set([...always, 'mcp_server', 'mcp_tool']),
  // A budget counts calls of models, tools and agents alike.
  usage: new Set([...always, ...calls, 'mcp_server', 'mcp_tool']),
};

/** Whether a policy of this target can look at that. */
export function appliesTo(target: PolicyTarget, key: string): boolean {
  return /^metadata\..{1,128}$/.test(key) || keysByTarget[target].has(key);
}

/** Names of keys; with a target, of those that apply to it. */
function keyOf(...targets: PolicyTarget[]) {
  return z
    .string()
    .max(160)
    .refine((key) => targets.some((target) => appliesTo(target, key)), 'is not a known key');
}

/** A star stands for the rest: alone for all, or after a `/` for what is below it. */
const text = z
  .string()
  .min(1)
  .max(512)
  .refine(
    (value) => /^(?:\*|[^*]*(?:\/\*)?)$/.test(value.trim()),
    'may hold * alone, or at the end after /',
  );
const values = z.union([text, z.array(text).min(1).max(100)]);

/** All conditions of a policy must hold; the values of one are alternatives. */
export function conditionsField(...targets: PolicyTarget[]) {
  return anyConditionsField(...targets).min(1);
}
export type PolicyCondition = z.infer<ReturnType<typeof conditionsField>>[number];

/** The same, where none mean all. */
export function anyConditionsField(...targets: PolicyTarget[]) {
  return z
    .array(z.object({ key: keyOf(...targets), value: values, excludes: values.optional() }))
    .max(50);
}

/** One counter for each combination of their values. */
export function groupByField(...targets: PolicyTarget[]) {
  return z.array(z.object({ key: keyOf(...targets) })).max(20);
}

/** Ours: the policy is the organisation's, and counts over all of its workspaces. */
export const allWorkspaces = z.boolean().optional();

/** Ours: what conditions name need not be there yet. */
export const savePolicyQuery = z.object({ allow_missing: queryFlag.default(false) });

export const policyDescription = z.string().max(500).nullish();
export const policyStatus = z.enum(['active', 'archived']);

/** What both kinds of policy show of themselves. */
export const shownPolicy = {
  id: z.uuid(),
  name: z.string().nullable(),
  description: z.string().nullable(),
  conditions: z.array(
    z.object({
      key: z.string(),
      value: z.union([z.string(), z.array(z.string())]),
      excludes: z.union([z.string(), z.array(z.string())]).optional(),
    }),
  ),
  group_by: z.array(z.object({ key: z.string() })),
  status: policyStatus,
  /** Of one that is for all workspaces there is none. */
  workspace_id: z.uuid().optional(),
  /** Ours. */
  all_workspaces: z.literal(true).optional(),
  organisation_id: z.uuid(),
  created_at: z.iso.datetime({ precision: 3 }),
  last_updated_at: z.iso.datetime({ precision: 3 }),
};
