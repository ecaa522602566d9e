import type { RequestFacts, TargetFacts } from '../facts.ts';
import type { Counter, GroupReset, Limit } from './limit.ts';
import { candidatesOf, fold, targetKeys } from './policy-facts.ts';
import { groupEntity, groupKey } from './policy-group.ts';
import {
  type BudgetInput,
  limitOf,
  type RateInput,
  spanOfBudget,
  spanOfRate,
} from './read-limits.ts';

/**
 * Policies as the gateway counts them, of rates and of budgets. Compiled when a
 * bundle arrives; what may apply to a request is looked up by the values that
 * conditions name (`policy-index.ts`).
 */

export interface PolicyConditions {
  readonly id: string;
  readonly name: string;
  /** Empty = it counts over all workspaces of the organisation. */
  readonly workspaceId: string;
  readonly conditions: readonly ConditionInput[];
  readonly groupBy: readonly string[];
  /** Groups that were reset by hand, while their period lasts. */
  readonly resets?: readonly (GroupReset & { readonly group: string })[];
}

interface ConditionInput {
  readonly key: string;
  readonly values: readonly string[];
  readonly excludes: readonly string[];
}

export interface Matcher {
  readonly key: string;
  readonly values: readonly Pattern[];
  readonly excludes: readonly Pattern[];
}

export interface Pattern {
  /** Folded text; without the `*` when prefix is set. */
  readonly text: string;
  readonly prefix: boolean;
}

export interface CompiledPolicy {
  readonly id: string;
  readonly name: string;
  readonly limit: Limit;
  /** `target` policies depend on the chosen target and are counted for each one tried. */
  readonly level: 'request' | 'target';
  readonly matchers: readonly Matcher[];
  readonly groupBy: readonly string[];
  readonly resets: ReadonlyMap<string, GroupReset>;
}

/** Undefined where this release cannot count it: the control plane refuses such policies. */
export function compileRatePolicy(
  policy: PolicyConditions,
  rate: Omit<RateInput, 'id'>,
): CompiledPolicy | undefined {
  return compile(policy, limitsOf(policy, rate, policy.id, spanOfRate(rate)));
}

/** As `compileRatePolicy`. */
export function compileBudgetPolicy(
  policy: PolicyConditions,
  budget: BudgetInput,
): CompiledPolicy | undefined {
  const id = budget.id === '' ? policy.id : budget.id;
  return compile(policy, limitsOf(policy, budget, id, spanOfBudget(budget)));
}

function limitsOf(
  { name, workspaceId }: PolicyConditions,
  limit: Parameters<typeof limitOf>[1],
  id: string,
  span: Parameters<typeof limitOf>[3],
): Limit[] {
  return limitOf({ kind: 'policy', name, workspaceId }, limit, id, span);
}

function compile(
  { id, name, conditions, groupBy, resets = [] }: PolicyConditions,
  [limit]: Limit[],
): CompiledPolicy | undefined {
  if (limit === undefined) return undefined;
  const keys = [...conditions.map(({ key }) => key), ...groupBy];
  return {
    id,
    name,
    limit,
    level: keys.some((key) => targetKeys.has(key)) ? 'target' : 'request',
    matchers: conditions.map(({ key, values, excludes }) => ({
      key,
      values: values.map(compilePattern),
      excludes: excludes.map(compilePattern),
    })),
    groupBy,
    resets: new Map(resets.map((reset) => [reset.group, reset])),
  };
}

/** The key of the first condition that a request does not meet; conditions are ANDed, the values of one ORed. */
export function unmetCondition(
  policy: CompiledPolicy,
  request: RequestFacts,
  target: TargetFacts | undefined,
): string | undefined {
  for (const matcher of policy.matchers) if (!matches(matcher, request, target)) return matcher.key;
  return undefined;
}

/** The counter of a policy that applies. */
export function counterOf(
  policy: CompiledPolicy,
  request: RequestFacts,
  target: TargetFacts | undefined,
): Counter {
  const group = groupKey(policy.groupBy, request, target);
  return {
    limit: policy.limit,
    group,
    reset: policy.resets.get(group),
    entity: groupEntity(policy.groupBy, request, target, policy.limit.holder.workspaceId === ''),
    last: undefined,
  };
}

function compilePattern(raw: string): Pattern {
  const text = fold(raw);
  return text.endsWith('*') ? { text: text.slice(0, -1), prefix: true } : { text, prefix: false };
}

function matches(
  { key, values, excludes }: Matcher,
  request: RequestFacts,
  target: TargetFacts | undefined,
): boolean {
  const candidates = candidatesOf(key, request, target);
  // `*` asks for presence; a missing value matches nothing.
  if (candidates.length === 0 || fitsAny(excludes, candidates)) return false;
  return values.length === 0 || fitsAny(values, candidates);
}

function fitsAny(patterns: readonly Pattern[], candidates: readonly string[]): boolean {
  for (const { text, prefix } of patterns)
    for (const candidate of candidates)
      if (prefix ? candidate.startsWith(text) : candidate === text) return true;
  return false;
}
