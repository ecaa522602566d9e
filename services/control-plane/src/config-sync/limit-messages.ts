import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Period } from '@sluice/engine';
import type { config } from '@sluice/proto-stubs';
import type {
  RateLimitsPolicy,
  UsageLimitsPolicy,
  UsageLimitsReset,
} from '../generated/prisma/client.ts';
import { type Budget, counted } from '../limits/usage/budget.ts';
import {
  budgetOf,
  type SetRules,
  type StoredRateLimit,
  type StoredUsageLimits,
} from '../limits/usage-limits/stored-limits.ts';
import { budgetOf as budgetOfPolicy } from '../limits/usage-limits-policies/budget.ts';

interface StoredCondition {
  key: string;
  value: string | string[];
  excludes?: string | string[];
}

/** Limits as gateways are told of them: as they are kept, for a bundle must not change by the clock. */
export function rateLimitMessages(
  stored: unknown,
): MessageInitShape<typeof config.RateLimitSchema>[] {
  return ((stored ?? []) as StoredRateLimit[]).map((limit) => ({
    id: limit.id,
    type: limit.type,
    unit: limit.unit,
    value: BigInt(limit.value),
    rules: rulesMessage(limit),
  }));
}

/** @param stored one budget, a list of them, or none */
export function usageLimitMessages(
  stored: unknown,
): MessageInitShape<typeof config.UsageLimitSchema>[] {
  return [(stored ?? []) as StoredUsageLimits | StoredUsageLimits[]]
    .flat()
    .map((limits) => budgetMessage(budgetOf(limits), limits));
}

export function rateLimitsPolicyMessage(
  row: RateLimitsPolicy,
): MessageInitShape<typeof config.RateLimitsPolicySchema> {
  return {
    id: row.id,
    name: row.name ?? '',
    type: row.type,
    unit: row.unit,
    value: BigInt(Math.floor(row.value)),
    conditions: conditionMessages(row.conditions),
    groupBy: groupsOf(row.groupBy),
    rules: rulesMessage(row.rules as SetRules),
    allWorkspaces: row.workspaceId === null,
  };
}

export function usageLimitsPolicyMessage(
  row: UsageLimitsPolicy & { resets: UsageLimitsReset[] },
): MessageInitShape<typeof config.UsageLimitsPolicySchema> {
  return {
    id: row.id,
    name: row.name ?? '',
    limit: budgetMessage(budgetOfPolicy(row), row.rules as SetRules),
    conditions: conditionMessages(row.conditions),
    groupBy: groupsOf(row.groupBy),
    resets: row.resets.map((reset) => ({
      group: reset.valueKey,
      generation: reset.generation,
      periodStartMs: reset.periodStartMs,
    })),
    allWorkspaces: row.workspaceId === null,
  };
}

function budgetMessage(
  { id, type, creditLimit, period }: Budget,
  rules: SetRules | StoredUsageLimits,
): MessageInitShape<typeof config.UsageLimitSchema> {
  return {
    id,
    type,
    value: counted(type, creditLimit),
    period: periodMessage(period),
    rules: rulesMessage(rules),
  };
}

function periodMessage(period: Period): MessageInitShape<typeof config.PeriodSchema> {
  const { cadence, days, weeksBeginOnSunday } = period;
  return {
    generation: BigInt(period.generation),
    startedAtMs: BigInt(period.startedAtMs),
    nextResetAtMs: BigInt(period.nextResetAtMs),
    cadence,
    days,
    weeksBeginOnSunday,
  };
}

/** What passes is not told: it is what holds without a rule. */
function rulesMessage(
  rules: SetRules | StoredUsageLimits,
): MessageInitShape<typeof config.LimitRulesSchema> {
  return {
    shadow: rules.shadow ?? false,
    admission: rules.admission ?? '',
    estimate: rules.estimate ?? '',
    withoutShared: rules.without_shared ?? '',
    unpriced: rules.unpriced === 'refuse' ? 'refuse' : '',
  };
}

function conditionMessages(stored: unknown): MessageInitShape<typeof config.ConditionSchema>[] {
  return (stored as StoredCondition[]).map((condition) => ({
    key: condition.key,
    values: asList(condition.value),
    excludes: asList(condition.excludes),
  }));
}

function groupsOf(stored: unknown): string[] {
  return (stored as { key: string }[]).map((group) => group.key);
}

function asList(value: string | string[] | undefined): string[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
