import { settingsOf } from '../past/settings-of.ts';
import { childAt, planNode, type Strategy } from '../route-node.ts';

/**
 * The target that answers fastest, by its decaying average. Targets that were
 * never measured go first, and random spreads them, so that not everybody tries
 * the same new one.
 */
export const leastLatency: Strategy = {
  mode: 'least-latency',
  compile({ path, children }) {
    return {
      foresee: () => ({ kind: 'unknown', reason: 'latencies_not_kept' }),
      sameAs: () => JSON.stringify(children.map(({ leaves }) => leaves.map(settingsOf))),
      choose(run, open) {
        const isAllOpen = open.length === children.length;
        const isOut = new Set(isAllOpen ? [] : open);
        const averages = children.map((child) => run.state.latencyMs(child.path));
        const unmeasured: number[] = [];
        let fastest = -1;
        let fastestMs = Number.POSITIVE_INFINITY;
        for (const [index, averageMs] of averages.entries()) {
          if (isOut.has(index)) continue;
          if (averageMs === undefined) unmeasured.push(index);
          else if (averageMs < fastestMs || fastest < 0) {
            fastest = index;
            fastestMs = averageMs;
          }
        }
        const random = unmeasured.length > 0 ? run.state.random() : undefined;
        const picked =
          random === undefined
            ? fastest
            : (unmeasured[Math.floor(random * unmeasured.length)] ?? 0);
        const reason = random === undefined ? 'fastest' : 'unmeasured';
        run.choices.push({
          path,
          mode: 'least-latency',
          picked,
          reason: isAllOpen ? 'all-open' : reason,
          ...(random === undefined ? {} : { random }),
          ...(open.length === 0 ? {} : { open }),
          ...(run.trace ? { scores: averages.map((average) => average ?? null) } : {}),
        });
        return planNode(childAt(children, picked), run);
      },
    };
  },
};
