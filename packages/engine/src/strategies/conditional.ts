import type { JsonObject } from '@sluice/contracts';
import { compileQuery, judgeQuery, matchesQuery, type Query, traceQuery } from '../conditions.ts';
import { configFault } from '../config-fault.ts';
import type { Choice, ConditionTrace, PlanStep } from '../plan.ts';
import {
  childAt,
  type PlanRun,
  planNode,
  type RouteNode,
  type Strategy,
  type StrategyInput,
} from '../route-node.ts';

interface Condition {
  readonly query: Query;
  readonly then: string;
  /** Index of the target it leads to. */
  readonly child: number;
}

/** The target of the first condition that matches. Circuits are not looked at: a rule is a rule. */
export const conditional: Strategy = {
  mode: 'conditional',
  compile(input) {
    const { path, children } = input;
    const conditions = compileConditions(input);
    const byDefault = defaultChild(input);
    const refusal: PlanStep = {
      kind: 'refusal',
      path,
      message: `No condition of ${path}.strategy matches this request, and it has no default.`,
    };
    return {
      foresee(past) {
        for (const { query, child } of conditions) {
          const matches = judgeQuery(query, past);
          if (matches === true) return { kind: 'shares', shares: [[child, 1]] };
          // What is unknown decides, whatever the conditions after it say.
          if (matches !== false) return { kind: 'unknown', reason: matches };
        }
        if (byDefault === undefined) return { kind: 'refusal' };
        return { kind: 'shares', shares: [[byDefault, 1]] };
      },
      sameAs: () =>
        JSON.stringify([
          input.node.strategy?.conditions?.map(({ query }) => query),
          conditions.map(({ child }) => child),
          byDefault ?? null,
        ]),
      choose(run) {
        const condition = firstMatch(conditions, run);
        const matched = conditions[condition];
        const picked = matched?.child ?? byDefault ?? -1;
        run.choices.push({
          path,
          mode: 'conditional',
          picked,
          ...(matched !== undefined
            ? { reason: 'condition', condition }
            : { reason: picked < 0 ? 'no-match' : 'default' }),
          ...(run.trace ? { conditions: traced(conditions, run) } : {}),
        } satisfies Choice);
        return picked < 0 ? refusal : planNode(childAt(children, picked), run);
      },
    };
  },
};

function compileConditions({ path, node, children, budget }: StrategyInput): Condition[] {
  const at = `${path}.strategy.conditions`;
  const conditions = node.strategy?.conditions ?? [];
  if (conditions.length === 0) throw configFault(at, 'must hold at least one condition');
  return conditions.map(({ query, then }, index) => ({
    query: compileQuery(query as JsonObject, `${at}[${index}].query`, budget),
    then,
    child: childCalled(then, children, `${at}[${index}].then`),
  }));
}

function defaultChild({ path, node, children }: StrategyInput): number | undefined {
  const name = node.strategy?.default;
  return name === undefined ? undefined : childCalled(name, children, `${path}.strategy.default`);
}

function childCalled(name: string, children: readonly RouteNode[], path: string): number {
  const child = children.find((candidate) => candidate.name === name);
  if (child === undefined)
    throw configFault(path, `must be the name of one of the targets beside it`);
  return child.index;
}

function firstMatch(conditions: readonly Condition[], run: PlanRun): number {
  for (const [index, { query }] of conditions.entries())
    if (matchesQuery(query, run.facts)) return index;
  return -1;
}

function traced(conditions: readonly Condition[], run: PlanRun): ConditionTrace[] {
  return conditions.map(({ query, then }, index) => ({
    index,
    then,
    matched: matchesQuery(query, run.facts),
    comparisons: traceQuery(query, run.facts),
  }));
}
