import { z } from 'zod';
import { queryFlag } from '../kernel/paging.ts';

/** What a policy is about: which keys its conditions and groups may name depends on it. */
export const policyTargets = ['llm', 'mcp_tools', 'usage'] as const;
export type PolicyTarget = (typeof policyTargets)[number];

export interface ConditionKey {
  readonly id: string;
  /** Of policies about these. */
  readonly targets: readonly PolicyTarget[];
  /** What its values are. */
  readonly about: string;
}

const always = policyTargets;
// A budget counts calls of models, tools and agents alike.
const ofModels = ['llm', 'usage'] as const;
const ofTools = ['mcp_tools', 'usage'] as const;

/** What conditions and groups of policies may name. */
export const conditionKeys: readonly ConditionKey[] = [
  { id: 'api_key', targets: always, about: 'Keys, by slug or UUID.' },
  { id: 'workspace_id', targets: always, about: 'Workspaces, by slug or UUID.' },
  { id: 'organisation_id', targets: always, about: 'The organisation, by UUID.' },
  {
    id: 'virtual_key',
    targets: ofModels,
    about: 'Saved providers, by slug or UUID; of budgets servers of tools and agents, too.',
  },
  {
    id: 'provider',
    targets: ofModels,
    about: 'Providers of the catalogue, by id; of budgets `mcp` and `agent`, too.',
  },
  { id: 'config', targets: ofModels, about: 'Configs, by slug or UUID.' },
  { id: 'prompt', targets: ofModels, about: 'Prompts, by slug or UUID.' },
  {
    id: 'model',
    targets: ofModels,
    about: 'Models, `@provider/model`; `@provider/*` is all of a provider.',
  },
  {
    id: 'endpoint_type',
    targets: ['llm'],
    about: 'Endpoints, by the ids of `/v1/catalogue/endpoints`.',
  },
  { id: 'mcp_server', targets: ofTools, about: 'MCP servers, by slug or UUID.' },
  { id: 'mcp_tool', targets: ofTools, about: 'Tools, by name.' },
  {
    id: 'metadata.<name>',
    targets: always,
    about: 'What requests, keys or workspaces have under this name in their metadata.',
  },
];

const keysByTarget: ReadonlyMap<PolicyTarget, ReadonlySet<string>> = new Map(
  policyTargets.map((target) => [
    target,
    new Set(conditionKeys.filter(({ targets }) => targets.includes(target)).map(({ id }) => id)),
  ]),
);

/** Whether a policy of this target can look at that. */
export function appliesTo(target: PolicyTarget, key: string): boolean {
  if (key.startsWith('metadata.')) return /^metadata\..{1,128}$/.test(key);
  return keysByTarget.get(target)?.has(key) === true;
}

function namesFor(wanted: readonly PolicyTarget[]): string[] {
  return conditionKeys
    .filter(({ targets }) => wanted.some((target) => targets.includes(target)))
    .map(({ id }) => id);
}

/** Names of keys; with a target, of those that apply to it. */
function keyOf(...targets: PolicyTarget[]) {
  return z
    .string()
    .max(160)
    .refine(
      (key) => targets.some((target) => appliesTo(target, key)),
      `is not a known key; there are ${namesFor(targets).join(', ')}`,
    );
}

/** A star stands for the rest: alone for all, or after a `/` for what is below it. */
const text = z
  .string()
  .max(512)
  .refine((value) => value.trim() !== '', 'must not be blank')
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
