import type { ConfigNode, StrategyMode } from '@sluice/contracts';
import type { QueryBudget } from './conditions.ts';
import type { Foresee } from './past/outlook.ts';
import type { Choice, PlanStep, RoutingFacts, RoutingState, StickyAssignment } from './plan.ts';
import type { ResolvedTarget } from './resolved-target.ts';

/** A config as planning walks it: targets at the leaves, strategies above. */
export type RouteNode = TargetNode | StrategyNode;

interface NodePlace {
  readonly path: string;
  readonly name: string | undefined;
  /** Position among its siblings in the document. */
  readonly index: number;
}

export interface TargetNode extends NodePlace {
  readonly kind: 'target';
  /** Just this target. */
  readonly leaves: readonly ResolvedTarget[];
  /** Made once: plans share it. */
  readonly step: PlanStep;
}

export interface StrategyNode extends NodePlace {
  readonly kind: 'strategy';
  readonly mode: StrategyMode;
  readonly children: readonly RouteNode[];
  /** Indexes of children that are never chosen, whatever happens. */
  readonly excluded: ReadonlySet<number>;
  readonly leaves: readonly ResolvedTarget[];
  /** Whether a circuit below can be open. */
  readonly hasBreakers: boolean;
  /** What it always decides while no circuit is open; undefined = that depends on the request. */
  readonly fixed: FixedDecision | undefined;
  readonly choose: Choose;
  /** Only where assignments are remembered. */
  readonly stickyKey: ((facts: RoutingFacts) => string | undefined) | undefined;
  readonly foresee: Foresee;
  readonly sameAs: () => string;
}

export interface FixedDecision {
  readonly step: PlanStep;
  readonly choices: readonly Choice[];
}

/** One planning of one request. */
export interface PlanRun {
  readonly facts: RoutingFacts;
  readonly state: RoutingState;
  readonly trace: boolean;
  readonly choices: Choice[];
  readonly sticky: StickyAssignment[];
  /** Indexes of the children whose circuits are open, ascending; undefined = none is open. */
  readonly open: ReadonlyMap<StrategyNode, readonly number[]> | undefined;
}

/** Decides for one request. `open` holds the indexes of children to leave out, ascending. */
export type Choose = (run: PlanRun, open: readonly number[]) => PlanStep;

/** A kind of strategy: its settings are read once, when a config is compiled. */
export interface Strategy {
  readonly mode: StrategyMode;
  compile(input: StrategyInput): CompiledStrategy;
}

export interface StrategyInput {
  readonly path: string;
  readonly node: ConfigNode;
  readonly children: readonly RouteNode[];
  readonly budget: QueryBudget;
}

export interface CompiledStrategy {
  readonly choose: Choose;
  readonly fixed?: FixedDecision | undefined;
  readonly excluded?: ReadonlySet<number>;
  readonly stickyKey?: (facts: RoutingFacts) => string | undefined;
  /** What it would have decided for a request of the past. */
  readonly foresee: Foresee;
  /** All that its choice depends on beside the request: of equal texts each request gets equal choices. */
  readonly sameAs: () => string;
}

/** Decides for a node and all below it. */
export function planNode(node: RouteNode, run: PlanRun): PlanStep {
  if (node.kind === 'target') return node.step;
  if (node.fixed !== undefined && (run.open === undefined || !node.hasBreakers)) {
    run.choices.push(...node.fixed.choices);
    return node.fixed.step;
  }
  return node.choose(run, run.open?.get(node) ?? noneOpen);
}

export const noneOpen: readonly number[] = [];

/** What a child always decides; a target always decides for itself. */
export function fixedDecision(node: RouteNode | undefined): FixedDecision | undefined {
  if (node === undefined) return undefined;
  return node.kind === 'target' ? { step: node.step, choices: [] } : node.fixed;
}

/** The child at an index that the strategy itself computed. */
export function childAt(children: readonly RouteNode[], index: number): RouteNode {
  const child = children[index];
  if (child === undefined) throw new Error(`a strategy chose child ${index} of ${children.length}`);
  return child;
}
