import type { PlanStep } from '../plan.ts';
import {
  type FixedDecision,
  fixedDecision,
  planNode,
  type RouteNode,
  type Strategy,
} from '../route-node.ts';

/** One target after the other, in their order, while what they answer asks for it. */
export const fallback: Strategy = {
  mode: 'fallback',
  compile({ path, node, children }) {
    const codes = node.strategy?.on_status_codes;
    const onStatusCodes = codes === undefined ? undefined : new Set(codes);
    const usual = { path, mode: 'fallback', picked: 0, reason: 'order' } as const;
    const stepOf = (steps: readonly PlanStep[]): PlanStep => ({
      kind: 'fallback',
      path,
      onStatusCodes,
      steps,
    });
    const fixed = fixedOfAll(children);
    return {
      foresee: () => ({ kind: 'order', onStatusCodes }),
      sameAs: () => JSON.stringify([children.length, codes ?? null]),
      fixed: fixed && {
        step: stepOf(fixed.map(({ step }) => step)),
        choices: [usual, ...fixed.flatMap(({ choices }) => choices)],
      },
      choose(run, open) {
        if (open.length === 0) {
          run.choices.push(usual);
          return stepOf(children.map((child) => planNode(child, run)));
        }
        const isAllOpen = open.length === children.length;
        const isOut = new Set(isAllOpen ? [] : open);
        const left = children.filter(({ index }) => !isOut.has(index));
        const picked = left[0]?.index ?? 0;
        run.choices.push({ ...usual, picked, reason: isAllOpen ? 'all-open' : 'order', open });
        return stepOf(left.map((child) => planNode(child, run)));
      },
    };
  },
};

function fixedOfAll(children: readonly RouteNode[]): FixedDecision[] | undefined {
  const fixed: FixedDecision[] = [];
  for (const child of children) {
    const decision = fixedDecision(child);
    if (decision === undefined) return undefined;
    fixed.push(decision);
  }
  return fixed;
}
