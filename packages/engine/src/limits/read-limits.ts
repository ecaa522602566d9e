import {
  type Counter,
  entityText,
  type Holder,
  type Limit,
  type LimitRules,
  type LimitType,
  type Span,
  type WithoutShared,
} from './limit.ts';
import type { Period } from './period.ts';
import { isRateUnit } from './windows.ts';

/** Rules of a limit as they are told; empty texts stand for what is usual. */
export interface RulesInput {
  readonly shadow: boolean;
  readonly admission: string;
  readonly estimate: string;
  readonly withoutShared: string;
  readonly unpriced: string;
}

export interface RateInput {
  readonly id: string;
  readonly type: string;
  readonly unit: string;
  readonly value: number;
  readonly rules?: RulesInput | undefined;
}

export interface BudgetInput {
  readonly id: string;
  readonly type: string;
  readonly value: number;
  readonly period: Period | undefined;
  readonly rules?: RulesInput | undefined;
}

/** The limits that are set on one holder. */
export interface HeldLimits {
  readonly rates: readonly RateInput[];
  readonly budgets: readonly BudgetInput[];
}

/**
 * Skips what this release cannot count: the control plane refuses such limits.
 * @param scope names limits that came without an id, as the release before did
 */
export function readLimits(holder: Holder, scope: string, { rates, budgets }: HeldLimits): Limit[] {
  const told = new Map<string, number>();
  // Two limits never share a counter, whatever they are called.
  const idOf = (id: string, otherwise: string): string => {
    const name = id === '' ? otherwise : id;
    let own = name;
    for (let before = told.get(name) ?? 0; told.has(own); before++) {
      own = `${name}:${before}`;
      told.set(name, before + 1);
    }
    told.set(own, 1);
    return own;
  };
  return [
    ...rates.flatMap((rate) =>
      limitOf(holder, rate, idOf(rate.id, `${scope}:${rate.type}:${rate.unit}`), spanOfRate(rate)),
    ),
    ...budgets.flatMap((budget) =>
      limitOf(holder, budget, idOf(budget.id, `${scope}:${budget.type}`), spanOfBudget(budget)),
    ),
  ];
}

/** The counters of limits that are set on what is limited itself. */
export function entityCounters(limits: readonly Limit[]): Counter[] {
  return limits.map((limit) => ({
    limit,
    group: '',
    reset: undefined,
    entity: entityText(limit.holder.kind, limit.holder.name),
    last: undefined,
  }));
}

export function limitOf(
  holder: Holder,
  { type, value, rules }: Pick<RateInput, 'type' | 'value' | 'rules'>,
  id: string,
  span: Span | undefined,
): Limit[] {
  if (span === undefined || !isLimitType(type)) return [];
  return [{ id, holder, type, value, span, rules: readRules(rules, span) }];
}

export function spanOfRate({ unit, type }: Pick<RateInput, 'unit' | 'type'>): Span | undefined {
  return isRateUnit(unit) && type !== 'cost' ? { kind: 'rate', unit } : undefined;
}

export function spanOfBudget({ period }: Pick<BudgetInput, 'period'>): Span {
  return { kind: 'budget', period: period ?? forEver };
}

const forEver: Period = {
  generation: 0,
  startedAtMs: 0,
  nextResetAtMs: 0,
  cadence: '',
  days: 0,
  weeksBeginOnSunday: false,
};

function isLimitType(type: string): type is LimitType {
  return type === 'requests' || type === 'tokens' || type === 'cost';
}

function readRules(rules: RulesInput | undefined, span: Span): LimitRules {
  const withoutShared = rules?.withoutShared ?? '';
  return {
    isShadow: rules?.shadow === true,
    isStrict: rules?.admission === 'strict',
    estimatesByObserved: rules?.estimate === 'observed',
    withoutShared: isWithoutShared(withoutShared)
      ? withoutShared
      : span.kind === 'rate'
        ? 'share'
        : 'lease',
    refusesUnpriced: rules?.unpriced === 'refuse',
  };
}

function isWithoutShared(word: string): word is WithoutShared {
  return word === 'share' || word === 'lease' || word === 'allow' || word === 'refuse';
}
