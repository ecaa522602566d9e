import { type OperationId, operations } from '@sluice/contracts';
import type { CompiledConfig } from '../compile-config.ts';
import type { RequestFacts } from '../facts.ts';
import type { PastRequest, UnknownReason } from '../past/past-request.ts';
import type { ResolvedTarget } from '../resolved-target.ts';
import { childAt, type RouteNode, type StrategyNode } from '../route-node.ts';

/** What would be done with a request: a plan in which what nobody can know has its place. */
export type ForeseenStep =
  | { readonly kind: 'target'; readonly target: ResolvedTarget }
  | {
      readonly kind: 'fallback';
      readonly onStatusCodes: ReadonlySet<number> | undefined;
      readonly steps: readonly ForeseenStep[];
      /** It stood there then as it does now: what it was not asked to go on to then, it is not now. */
      readonly stoodThen: boolean;
    }
  /** No condition matched. */
  | { readonly kind: 'refusal'; readonly path: string }
  | { readonly kind: 'unknown'; readonly reason: UnknownReason };

/** One of the ways that a request may take, and how many of a request's likes take it. */
export interface Way {
  readonly share: number;
  readonly step: ForeseenStep;
}

const waysMax = 64;

/** A config, and the strategies in it that choose as those of another did at the same places. */
export interface ReplayedConfig {
  readonly config: CompiledConfig;
  /** Paths of strategies whose recorded choices hold. */
  readonly standing: ReadonlySet<string>;
  /** The targets of then, by path; undefined = what held then is not known. */
  readonly targetsThen: ReadonlyMap<string, ResolvedTarget> | undefined;
}

/** @param then what held when the requests were made; undefined = nobody knows */
export function replayedConfig(
  config: CompiledConfig,
  then: CompiledConfig | undefined,
): ReplayedConfig {
  const known = new Map(
    then === undefined ? [] : strategiesIn(then.root).map((node) => [node.path, node]),
  );
  const stands = (node: StrategyNode) => {
    const before = known.get(node.path);
    return before?.mode === node.mode && before.sameAs() === node.sameAs();
  };
  return {
    config,
    standing: new Set(
      strategiesIn(config.root)
        .filter(stands)
        .map(({ path }) => path),
    ),
    targetsThen: then && new Map(then.targets.map((target) => [target.path, target])),
  };
}

function strategiesIn(node: RouteNode): StrategyNode[] {
  return node.kind === 'target' ? [] : [node, ...node.children.flatMap(strategiesIn)];
}

/**
 * Every way that a request of the past may have taken with a config. A choice that was made then is made again
 * where the strategy is the same; of others, by weight, only the shares are known.
 */
export function foreseeRoutes({ config, standing }: ReplayedConfig, past: PastRequest): Way[] {
  const [prompting] = config.prompting;
  if (prompting !== undefined && asksNoPrompt(past.request))
    return [{ share: 1, step: { kind: 'refusal', path: prompting.path } }];
  return waysOf(config.root, past, standing);
}

/** What is asked of no saved prompt has no variables to make a request from one: a fault, where it is counted. */
function asksNoPrompt({ promptSlug, endpoint }: RequestFacts): boolean {
  if (promptSlug !== undefined) return false;
  return !(
    Object.hasOwn(operations, endpoint) && operations[endpoint as OperationId].spends === 'nothing'
  );
}

function waysOf(node: RouteNode, past: PastRequest, standing: ReadonlySet<string>): Way[] {
  if (node.kind === 'target')
    return [{ share: 1, step: { kind: 'target', target: node.leaves[0]! } }];
  const stood = standing.has(node.path);
  const recorded = stood ? past.choices.get(node.path) : undefined;
  const outlook = node.foresee(past);
  const refusal = { kind: 'refusal', path: node.path } as const;
  if (outlook.kind === 'order') {
    const open = new Set(recorded?.reason === 'all-open' ? [] : recorded?.open);
    const asked = node.children.filter(({ index }) => !open.has(index));
    return combined(
      asked.map((child) => waysOf(child, past, standing)),
      (steps) => ({
        kind: 'fallback',
        onStatusCodes: outlook.onStatusCodes,
        steps,
        stoodThen: stood,
      }),
    );
  }
  if (recorded !== undefined) {
    if (recorded.picked < 0) return [{ share: 1, step: refusal }];
    return waysOf(childAt(node.children, recorded.picked), past, standing);
  }
  if (outlook.kind === 'refusal') return [{ share: 1, step: refusal }];
  if (outlook.kind === 'unknown') return [{ share: 1, step: outlook }];
  const ways = outlook.shares.flatMap(([index, share]) =>
    waysOf(childAt(node.children, index), past, standing).map((way) => ({
      share: way.share * share,
      step: way.step,
    })),
  );
  return ways.length > waysMax ? tooMany : ways;
}

/** Each way of each with each of the others'. */
function combined(
  each: readonly (readonly Way[])[],
  join: (steps: readonly ForeseenStep[]) => ForeseenStep,
): Way[] {
  let rows: { share: number; steps: readonly ForeseenStep[] }[] = [{ share: 1, steps: [] }];
  for (const ways of each) {
    if (rows.length * ways.length > waysMax) return tooMany;
    rows = rows.flatMap(({ share, steps }) =>
      ways.map((way) => ({ share: share * way.share, steps: [...steps, way.step] })),
    );
  }
  return rows.map(({ share, steps }) => ({ share, step: join(steps) }));
}

const tooMany: Way[] = [{ share: 1, step: { kind: 'unknown', reason: 'too_many_ways' } }];
