import { settingsOf } from '../past/settings-of.ts';
import { childAt, type PlanRun, planNode, type RouteNode, type Strategy } from '../route-node.ts';

/**
 * The target where this request costs least. A child that is a strategy costs
 * what the cheapest of its targets does; unknown prices come last, equal ones
 * keep their order.
 */
export const lowestCost: Strategy = {
  mode: 'lowest-cost',
  compile({ path, children }) {
    return {
      foresee: () => ({ kind: 'unknown', reason: 'estimates_not_kept' }),
      sameAs: () => JSON.stringify(children.map(({ leaves }) => leaves.map(settingsOf))),
      choose(run, open) {
        const isAllOpen = open.length === children.length;
        const isOut = new Set(isAllOpen ? [] : open);
        const costs = children.map((child) => cheapest(child, run));
        let picked = -1;
        for (const index of children.keys())
          if (!isOut.has(index) && (picked < 0 || isCheaper(costs[index], costs[picked])))
            picked = index;
        run.choices.push({
          path,
          mode: 'lowest-cost',
          picked,
          reason: isAllOpen ? 'all-open' : 'cheapest',
          ...(open.length === 0 ? {} : { open }),
          ...(run.trace ? { scores: costs.map((cost) => cost ?? null) } : {}),
        });
        return planNode(childAt(children, picked), run);
      },
    };
  },
};

function cheapest(child: RouteNode, run: PlanRun): number | undefined {
  let lowest: number | undefined;
  for (const target of child.leaves) {
    const cost = run.state.costNanoUsd(target);
    if (isCheaper(cost, lowest)) lowest = cost;
  }
  return lowest;
}

function isCheaper(cost: number | undefined, than: number | undefined): boolean {
  return cost !== undefined && (than === undefined || cost < than);
}
