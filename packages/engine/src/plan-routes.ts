import type { CompiledConfig } from './compile-config.ts';
import { openChildren } from './open-nodes.ts';
import type { RoutePlan, RoutingFacts, RoutingState, StickyAssignment } from './plan.ts';
import { type PlanRun, planNode } from './route-node.ts';

export interface PlanOptions {
  /** Also record every comparison and score. Decides nothing differently. */
  trace?: boolean;
}

/** Makes every choice of a request before the first call. What is left open are answers of upstreams. */
export function planRoutes(
  config: CompiledConfig,
  facts: RoutingFacts,
  state: RoutingState,
  options: PlanOptions = {},
): RoutePlan {
  if (config.staticPlan !== undefined) return config.staticPlan;
  const run: PlanRun = {
    facts,
    state,
    trace: options.trace === true,
    choices: [],
    sticky: [],
    open: openChildren(config, state.openTargets),
  };
  return { root: planNode(config.root, run), choices: run.choices, sticky: run.sticky };
}

/** Keys whose assignments `RoutingState.stickyChild` must know, to be fetched before planning. */
export function stickyKeys(config: CompiledConfig, facts: RoutingFacts): readonly StickyKey[] {
  if (config.stickyNodes.length === 0) return noKeys;
  return config.stickyNodes.flatMap((node) => {
    const key = node.stickyKey?.(facts);
    return key === undefined ? [] : [{ key, nodePath: node.path }];
  });
}

export interface StickyKey {
  readonly key: StickyAssignment['key'];
  readonly nodePath: string;
}

const noKeys: readonly StickyKey[] = [];
