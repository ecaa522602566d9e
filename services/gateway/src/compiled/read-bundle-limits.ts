import {
  type BudgetInput,
  type CompiledPolicy,
  type Counter,
  compileBudgetPolicy,
  compileRatePolicy,
  entityCounters,
  type Holder,
  type PolicyConditions,
  type RateInput,
  readLimits,
} from '@sluice/engine';
import type { config } from '@sluice/proto-stubs';

interface WithLimits {
  readonly rateLimits: readonly config.RateLimit[];
  readonly usageLimits: readonly config.UsageLimit[];
}

/** @param scope names limits of a control plane of the release before, which gave them no ids */
export function countersOf(holder: Holder, scope: string, limits: WithLimits): Counter[] {
  return entityCounters(
    readLimits(holder, scope, {
      rates: limits.rateLimits.map(rateOf),
      budgets: limits.usageLimits.map(budgetOf),
    }),
  );
}

/** Policies of a workspace, by what they are about. */
export interface BundlePolicies {
  /** Rates of calls of models. */
  readonly models: readonly CompiledPolicy[];
  /** Rates of calls of tools. */
  readonly tools: readonly CompiledPolicy[];
  /** Of whatever is called. */
  readonly budgets: readonly CompiledPolicy[];
}

export function policiesOf(bundle: config.Bundle): BundlePolicies {
  const { workspaceId } = bundle;
  return {
    models: ratesOf(bundle.rateLimitsPolicies, workspaceId),
    tools: ratesOf(bundle.mcpToolsPolicies, workspaceId),
    budgets: bundle.usageLimitsPolicies.flatMap((policy) =>
      policy.limit === undefined
        ? []
        : (compileBudgetPolicy(
            {
              ...conditionsOf(policy, workspaceId),
              resets: policy.resets.map(({ group, generation, periodStartMs }) => ({
                group,
                generation: Number(generation),
                periodStartMs: Number(periodStartMs),
              })),
            },
            budgetOf(policy.limit),
          ) ?? []),
    ),
  };
}

function ratesOf(
  policies: readonly config.RateLimitsPolicy[],
  workspaceId: string,
): CompiledPolicy[] {
  return policies.flatMap(
    (policy) =>
      compileRatePolicy(conditionsOf(policy, workspaceId), {
        type: policy.type,
        unit: policy.unit,
        value: Number(policy.value),
        rules: policy.rules,
      }) ?? [],
  );
}

function conditionsOf(
  policy: config.RateLimitsPolicy | config.UsageLimitsPolicy,
  workspaceId: string,
): PolicyConditions {
  const { id, name, conditions, groupBy, allWorkspaces } = policy;
  return { id, name, workspaceId: allWorkspaces ? '' : workspaceId, conditions, groupBy };
}

function rateOf({ id, type, unit, value, rules }: config.RateLimit): RateInput {
  return { id, type, unit, value: Number(value), rules };
}

function budgetOf({ id, type, value, period, rules }: config.UsageLimit): BudgetInput {
  return {
    id,
    type,
    value: Number(value),
    rules,
    period: period && {
      generation: Number(period.generation),
      startedAtMs: Number(period.startedAtMs),
      nextResetAtMs: Number(period.nextResetAtMs),
      cadence: period.cadence,
      days: period.days,
      weeksBeginOnSunday: period.weeksBeginOnSunday,
    },
  };
}
