import { type ConfigCaps, type ConfigNode, configCaps, fanOutFault } from '@sluice/contracts';
import type { Author } from './author.ts';
import { newQueryBudget, type QueryBudget } from './conditions.ts';
import { configFault } from './config-fault.ts';
import type { HookReading } from './hooks.ts';
import { type Inherited, inherit, nothingInherited, resolveLeaf } from './inheritance.ts';
import type { RoutePlan } from './plan.ts';
import type { ResolvedTarget } from './resolved-target.ts';
import { fixedDecision, type RouteNode, type StrategyNode, type TargetNode } from './route-node.ts';
import { strategies } from './strategies/index.ts';

/**
 * A config made ready for requests: its targets with everything they inherit,
 * its strategies with their settings read. Computed once per version of a
 * config; planning a request only walks it.
 */
export interface CompiledConfig {
  readonly root: RouteNode;
  /** Every target, depth first; `index` is the position here. */
  readonly targets: readonly ResolvedTarget[];
  /** Of these, those that name a saved prompt of their own. */
  readonly prompting: readonly ResolvedTarget[];
  /** Of the root; `single` for a config without targets. */
  readonly strategyMode: string;
  /** False when only hooks, retries and the like are configured and the request names the provider. */
  readonly namesProvider: boolean;
  /** The plan of every request, when nothing depends on requests; nothing is allocated for it. */
  readonly staticPlan: RoutePlan | undefined;
  /** Some target has a circuit breaker. */
  readonly hasBreakers: boolean;
  /** Strategies with remembered assignments, see `stickyKeys`. */
  readonly stickyNodes: readonly StrategyNode[];
  /** Some strategy asks for `costNanoUsd`. */
  readonly needsCosts: boolean;
  readonly fetchIntegratedModels: boolean;
  /** Responses and conversations are kept by the service, whoever answers. */
  readonly keepsResponses: boolean;
  /** Paths of keys that nobody knows and that were left out of the document. */
  readonly ignored: readonly string[];
  /** For each target with a circuit breaker, by path: the strategies above it, innermost first. */
  readonly lines: ReadonlyMap<string, readonly RouteNode[]>;
}

export interface CompileOptions {
  /** Looks up the configs of the workspace for `config` references. Absent = there are none. */
  findConfig?: ((slug: string) => ConfigNode | undefined) | undefined;
  /** Slug of the document itself, so that a reference to it is found at once. Absent = nobody saved it: a caller's own. */
  slug?: string | undefined;
  /** Tighter caps than the document was parsed with. */
  caps?: ConfigCaps | undefined;
  /** Ids of the checks that can be run; absent = all. */
  knownChecks?: ReadonlySet<string> | undefined;
  /** The saved guardrails of the workspace. Absent = there are none. */
  findGuardrail?: HookReading['findGuardrail'];
  /** Checks that are refused without credentials. Absent = none are. */
  needsCredentials?: HookReading['needsCredentials'];
  /** What was left out of the document when it was parsed. */
  ignored?: readonly string[] | undefined;
}

/**
 * Compiles a document that `parseConfigDocument` accepted.
 * @throws GatewayError `config.invalid` with the path of what cannot be run
 */
export function compileConfig(root: ConfigNode, options: CompileOptions = {}): CompiledConfig {
  const caps = options.caps ?? configCaps;
  const tooLarge = options.caps === undefined ? undefined : fanOutFault(root, caps);
  if (tooLarge !== undefined) throw configFault(tooLarge.field, tooLarge.message);
  const compiler = new Compiler(options, caps);
  const chain = options.slug === undefined ? [] : [options.slug];
  const tree = compiler.node(root, 'config', 0, nothingInherited, chain, 0);
  const { targets, strategyNodes } = compiler;
  const hasBreakers = targets.some(({ breaker }) => breaker !== undefined);
  const fixed = fixedDecision(tree);
  return {
    root: tree,
    targets,
    prompting: targets.filter(({ promptId }) => promptId !== undefined),
    strategyMode: tree.kind === 'target' ? 'single' : tree.mode,
    namesProvider: namesProvider(root),
    staticPlan:
      fixed === undefined || (hasBreakers && tree.kind === 'strategy')
        ? undefined
        : { root: fixed.step, choices: fixed.choices, sticky: [] },
    hasBreakers,
    stickyNodes: strategyNodes.filter(({ stickyKey }) => stickyKey !== undefined),
    needsCosts: strategyNodes.some(({ mode }) => mode === 'lowest-cost'),
    fetchIntegratedModels: root.fetch_integrated_models === true,
    keepsResponses: compiler.responsesStore === 'gateway',
    ignored: options.ignored ?? [],
    lines: hasBreakers ? linesOf(tree) : new Map(),
  };
}

/** A config that says where to send requests wins over the headers that do. */
function namesProvider(root: ConfigNode): boolean {
  return (
    root.targets !== undefined ||
    root.provider !== undefined ||
    root.virtual_key !== undefined ||
    root.config !== undefined
  );
}

class Compiler {
  readonly targets: ResolvedTarget[] = [];
  readonly strategyNodes: StrategyNode[] = [];
  /** Of the document itself, or of the one it refers to as a whole. */
  responsesStore: ConfigNode['responses_store'];
  readonly #options: CompileOptions;
  readonly #caps: ConfigCaps;
  readonly #hooks: Omit<HookReading, 'by'>;
  readonly #budget: QueryBudget = newQueryBudget();

  constructor(options: CompileOptions, caps: ConfigCaps) {
    this.#options = options;
    this.#caps = caps;
    const { knownChecks, findGuardrail, needsCredentials } = options;
    this.#hooks = { knownChecks, findGuardrail, needsCredentials };
  }

  /**
   * @param node the target's document, whose name and place hold also when it refers to a config
   * @param chain slugs of the configs that led here, outermost first
   */
  node(
    node: ConfigNode,
    path: string,
    index: number,
    parent: Inherited,
    chain: readonly string[],
    depth: number,
  ): RouteNode {
    if (depth > this.#caps.depthMax)
      throw configFault(path, `must not be nested deeper than ${this.#caps.depthMax} levels`);
    if (depth === 0) this.responsesStore = node.responses_store;
    else if (node.responses_store !== undefined)
      throw configFault(
        `${path}.responses_store`,
        'is said once for the whole document, at its top: what one target keeps another one could not go on with',
      );
    let inherited = inherit(parent, node, path, this.#hooks, authorOf(chain));
    let document = node;
    let slugs = chain;
    while (document.config !== undefined) {
      slugs = this.#extended(slugs, document.config, path);
      document = this.#find(document.config, path);
      if (depth === 0) this.responsesStore ??= document.responses_store;
      inherited = inherit(inherited, document, path, this.#hooks, authorOf(slugs));
    }
    const place = { path, index, name: node.name };
    return document.targets === undefined
      ? this.#target(document, { ...place, by: authorOf(slugs) }, inherited)
      : this.#strategy(document, document.targets, place, inherited, slugs, depth);
  }

  #target(
    document: ConfigNode,
    place: { path: string; index: number; name: string | undefined; by: Author },
    inherited: Inherited,
  ): TargetNode {
    if (this.targets.length >= this.#caps.targetsMax)
      throw configFault(
        place.path,
        `must not bring the config to more than ${this.#caps.targetsMax} targets altogether`,
      );
    const target = resolveLeaf(document, inherited, { ...place, index: this.targets.length });
    this.targets.push(target);
    const { path, index, name } = place;
    const step = { kind: 'target', target } as const;
    return { path, index, name, kind: 'target', leaves: [target], step };
  }

  #strategy(
    document: ConfigNode,
    targets: readonly ConfigNode[],
    place: { path: string; index: number; name: string | undefined },
    inherited: Inherited,
    chain: readonly string[],
    depth: number,
  ): StrategyNode {
    const { path } = place;
    const mode = document.strategy?.mode ?? 'single';
    const children = targets.map((target, index) => {
      const childPath = `${path}.targets[${index}]`;
      const handedDown =
        mode === 'least-latency'
          ? { ...inherited, latencyPaths: [...inherited.latencyPaths, childPath] }
          : inherited;
      return this.node(target, childPath, index, handedDown, chain, depth + 1);
    });
    const compiled = strategies[mode].compile({
      path,
      node: document,
      children,
      budget: this.#budget,
    });
    const leaves = children.flatMap((child) => child.leaves);
    const node: StrategyNode = {
      ...place,
      kind: 'strategy',
      mode,
      children,
      excluded: compiled.excluded ?? noneExcluded,
      leaves,
      hasBreakers: leaves.some(({ breaker }) => breaker !== undefined),
      fixed: compiled.fixed,
      choose: compiled.choose,
      stickyKey: compiled.stickyKey,
      foresee: compiled.foresee,
      sameAs: compiled.sameAs,
    };
    this.strategyNodes.push(node);
    return node;
  }

  #extended(chain: readonly string[], slug: string, path: string): readonly string[] {
    if (chain.length > this.#caps.depthMax)
      throw configFault(
        `${path}.config`,
        `must not lead through more than ${this.#caps.depthMax} configs`,
      );
    if (chain.includes(slug))
      throw configFault(
        `${path}.config`,
        `must not lead back to a config it came from: ${[...chain, slug].join(' → ')}`,
      );
    return [...chain, slug];
  }

  #find(slug: string, path: string): ConfigNode {
    const found = this.#options.findConfig?.(slug);
    if (found === undefined)
      throw configFault(
        `${path}.config`,
        `must be the slug of a config of this workspace; none is called "${slug.slice(0, 80)}"`,
      );
    return found;
  }
}

/** What a slug leads to was saved by an admin; a document without one came with the request. */
function authorOf(chain: readonly string[]): Author {
  return chain.length === 0 ? 'caller' : 'admin';
}

const noneExcluded: ReadonlySet<number> = new Set();

/** A target that its load balancer never chooses does not keep the strategies above it from being open. */
function linesOf(root: RouteNode): Map<string, readonly RouteNode[]> {
  const lines = new Map<string, readonly RouteNode[]>();
  const visit = (node: RouteNode, line: readonly RouteNode[]): void => {
    const extended = [node, ...line];
    if (node.kind === 'target') lines.set(node.path, extended);
    else for (const child of node.children) visit(child, extended);
  };
  visit(root, []);
  return lines;
}

/** Requests without any config: everything comes from the request. */
export const directConfig: CompiledConfig = compileConfig({});
