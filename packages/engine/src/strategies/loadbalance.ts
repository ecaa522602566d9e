import { hash32 } from '../hash.ts';
import type { Choice, PlanStep } from '../plan.ts';
import { childAt, type PlanRun, planNode, type RouteNode, type Strategy } from '../route-node.ts';
import { compileSticky, type StickyRule } from './sticky.ts';
import { Weights } from './weights.ts';

/** Random by weight; with `sticky`, the same target for the same user or conversation. */
export const loadbalance: Strategy = {
  mode: 'loadbalance',
  compile({ path, node, children }) {
    const targets = node.targets ?? [];
    const weights = new Weights(targets.map(({ weight }) => weight ?? 1));
    const sticky = compileSticky(path, targets, node.strategy?.sticky);
    const decide = (run: PlanRun, open: readonly number[]): Choice => {
      // Targets of weight 0 are out of rotation: they do not count as healthy ones.
      const closed = weights.without(open);
      const isAllOpen = closed === undefined;
      const out = closed ?? noneOut;
      const key = sticky?.key(run.facts);
      if (sticky !== undefined && key !== undefined)
        return {
          ...(sticky.isByPrompt
            ? stickByPrompt(run, sticky, key, weights, out)
            : stick(run, sticky, key, weights, out)),
          path,
          ...openPart(open),
        };
      const random = run.state.random();
      return {
        path,
        mode: 'loadbalance',
        picked: weights.pick(random, out),
        reason: isAllOpen ? 'all-open' : 'weight',
        random,
        ...openPart(open),
        ...(run.trace ? { scores: weights.shares } : {}),
      };
    };
    return {
      foresee: () => ({
        kind: 'shares',
        shares: weights.shares.flatMap((share, index) =>
          share > 0 ? [[index, share] as const] : [],
        ),
      }),
      // Who is remembered at a child is remembered by what the child is.
      sameAs: () =>
        JSON.stringify([weights.shares, sticky?.childIds ?? null, node.strategy?.sticky ?? null]),
      excluded: weights.zeroes,
      ...(sticky === undefined || sticky.isByPrompt ? {} : { stickyKey: sticky.key }),
      choose: (run, open) => follow(decide(run, open), children, run),
    };
  },
};

const noneOut: readonly number[] = [];

function follow(choice: Choice, children: readonly RouteNode[], run: PlanRun): PlanStep {
  run.choices.push(choice);
  return planNode(childAt(children, choice.picked), run);
}

function openPart(open: readonly number[]): { open?: readonly number[] } {
  return open.length === 0 ? {} : { open };
}

/**
 * The remembered child while it can be used. One that left the rotation is
 * replaced for good; one whose circuit is open only for this request, so that
 * its users come back to it.
 */
function stick(
  run: PlanRun,
  sticky: StickyRule,
  key: string,
  weights: Weights,
  out: readonly number[],
): Omit<Choice, 'path'> {
  const mode = 'loadbalance';
  const remembered = sticky.indexById.get(run.state.stickyChild(key) ?? '') ?? -1;
  const isInRotation = weights.weightOf(remembered) > 0;
  if (isInRotation && !out.includes(remembered))
    return { mode, picked: remembered, reason: 'sticky' };
  // Replicas that decide at the same time agree without talking, until the next period.
  const period = Math.floor(run.state.nowMs / sticky.ttlMs);
  const picked = weights.rendezvous(hash32(key, period), sticky.childSeeds, out);
  if (isInRotation) return { mode, picked, reason: 'sticky-away' };
  const child = sticky.childIds[picked];
  if (child !== undefined) run.sticky.push({ key, child, ttlMs: sticky.ttlMs });
  return { mode, picked, reason: 'sticky-new' };
}

/**
 * The child that the hash of the prompt finds, and while its circuit is open the
 * next by the same hash: nothing is remembered, so it is the same one in every
 * gateway, and again when the circuit has closed.
 */
function stickByPrompt(
  { trace }: PlanRun,
  { childSeeds }: StickyRule,
  key: string,
  weights: Weights,
  out: readonly number[],
): Omit<Choice, 'path'> {
  const hash = hash32(key, 0);
  const own = weights.rendezvous(hash, childSeeds, noneOut);
  const isAway = out.includes(own);
  return {
    mode: 'loadbalance',
    picked: isAway ? weights.rendezvous(hash, childSeeds, out) : own,
    reason: isAway ? 'prompt-away' : 'prompt',
    ...(trace ? { order: weights.ranking(hash, childSeeds) } : {}),
  };
}
