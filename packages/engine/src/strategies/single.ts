import { childAt, fixedDecision, planNode, type Strategy } from '../route-node.ts';

/** The first target; a later one only while the circuits of those before it are open. */
export const single: Strategy = {
  mode: 'single',
  compile({ path, children }) {
    const first = fixedDecision(children[0]);
    const usual = { path, mode: 'single', picked: 0, reason: 'only' } as const;
    return {
      foresee: () => ({ kind: 'shares', shares: [[0, 1]] }),
      sameAs: () => String(children.length),
      fixed: first && { step: first.step, choices: [usual, ...first.choices] },
      choose(run, open) {
        const isAllOpen = open.length === children.length;
        let picked = 0;
        if (!isAllOpen) while (open[picked] === picked) picked++;
        run.choices.push(
          open.length === 0
            ? usual
            : { ...usual, picked, reason: isAllOpen ? 'all-open' : 'order', open },
        );
        return planNode(childAt(children, picked), run);
      },
    };
  },
};
