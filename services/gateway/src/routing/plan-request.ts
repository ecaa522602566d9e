import { createHash } from 'node:crypto';
import {
  type CompiledConfig,
  directConfig,
  planRoutes,
  type ResolvedTarget,
  type RoutePlan,
  type RoutingFacts,
  type RoutingState,
  stickyKeys,
} from '@sluice/engine';
import type { JsonObject } from '@sluice/providers';
import type { ModelExchange } from '../exchange/exchange.ts';
import type { CircuitBreakers } from './state/circuit-breakers.ts';
import type { Latencies } from './state/latencies.ts';
import type { StickyChildren } from './state/sticky-children.ts';

/** What earlier requests have taught, as far as strategies look at it. */
export interface PlanDeps {
  breakers: CircuitBreakers;
  latencies: Latencies;
  sticky: StickyChildren;
  /**
   * What the request is likely to use at a target.
   * @throws GatewayError when the target cannot be resolved
   */
  estimateUse: (exchange: ModelExchange, planned: ResolvedTarget) => LikelyUse;
}

/** What is likely, and within what it lies. */
export interface LikelyUse extends UseAndCost {
  readonly low: UseAndCost;
  /** What limits hold for it. */
  readonly high: UseAndCost;
  /** Of the price book; undefined = no price is known. */
  readonly price: { readonly layer: string; readonly version: string } | undefined;
  /** Of the tools that are asked for those without a price, as price lists name them. */
  readonly unpricedUnits: readonly string[];
}

export interface UseAndCost {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Undefined = no price is known. */
  readonly costNanoUsd: number | undefined;
}

export interface PlanOptions {
  /** Every condition and every score, for explain. */
  trace?: boolean;
  /** Nothing is remembered of this plan. */
  dryRun?: boolean;
}

/**
 * All choices for one request, made at once. Waits only where a sticky
 * assignment may be known to another gateway and not yet to this one.
 */
export function planRequest(
  exchange: ModelExchange,
  deps: PlanDeps,
  options: PlanOptions = {},
): RoutePlan | Promise<RoutePlan> {
  const config = exchange.config?.compiled ?? directConfig;
  if (config.staticPlan !== undefined && options.trace !== true) return config.staticPlan;
  const facts = routingFacts(exchange);
  const keys = stickyKeys(config, facts);
  const loading =
    keys.length === 0
      ? undefined
      : deps.sticky.load(
          organisationOf(exchange),
          keys.map(({ key }) => key),
        );
  return loading === undefined
    ? decide(exchange, config, facts, deps, options)
    : loading.then(() => decide(exchange, config, facts, deps, options));
}

function decide(
  exchange: ModelExchange,
  config: CompiledConfig,
  facts: RoutingFacts,
  deps: PlanDeps,
  options: PlanOptions,
): RoutePlan {
  const { scope } = facts;
  const savedId = exchange.config?.saved?.id;
  const state: RoutingState = {
    nowMs: exchange.arrival.startedAtMs,
    random: Math.random,
    openTargets:
      config.hasBreakers && savedId !== undefined ? deps.breakers.openTargets(savedId) : undefined,
    latencyMs: (path) => deps.latencies.averageMs(scope, path),
    costNanoUsd: costEstimator(exchange, deps),
    stickyChild: (key) => deps.sticky.get(key),
  };
  const plan = planRoutes(config, facts, state, { trace: options.trace === true });
  if (options.dryRun !== true)
    for (const { key, child, ttlMs } of plan.sticky)
      deps.sticky.put(organisationOf(exchange), key, child, ttlMs);
  return plan;
}

/** Whose assignments lie together in Redis. */
function organisationOf(exchange: ModelExchange): string {
  return exchange.key?.source.organisationId ?? '';
}

/** Only asked when a strategy wants to know what a target would cost. */
function costEstimator(exchange: ModelExchange, deps: PlanDeps): RoutingState['costNanoUsd'] {
  return (planned: ResolvedTarget) => {
    try {
      return deps.estimateUse(exchange, planned).costNanoUsd;
    } catch {
      // A target that cannot be resolved has no price; asking it will say why.
      return undefined;
    }
  };
}

export function routingFacts(exchange: ModelExchange): RoutingFacts {
  const { metadataValues } = exchange.arrival.caller;
  return {
    scope: scopeOf(exchange),
    // What an admin set wins, and is text; the caller's own values keep their types.
    metadata:
      metadataValues === exchange.metadata
        ? metadataValues
        : typed(metadataValues, exchange.arrival.caller.metadata, exchange.metadata),
    params: exchange.subject.json ?? noParams,
    headers: exchange.arrival.headers,
    pathname: exchange.subject.pathname,
  };
}

function typed(
  values: Readonly<Record<string, string | number | boolean>>,
  sent: Readonly<Record<string, string>>,
  merged: Readonly<Record<string, string>>,
): Record<string, string | number | boolean> {
  const result: Record<string, string | number | boolean> = { ...merged };
  for (const [name, value] of Object.entries(values))
    if (merged[name] === sent[name]) result[name] = value;
  return result;
}

const noParams: JsonObject = Object.freeze({});

/** Whose averages and assignments these are: a saved config's, or those of the very text of an inline one. */
export function scopeOf(exchange: ModelExchange): string {
  const { config } = exchange;
  const workspaceId = exchange.bundle?.source.workspaceId ?? '';
  if (config === undefined) return workspaceId;
  return `${workspaceId}:${config.saved?.id ?? inlineId(config.compiled, exchange.arrival.caller.config ?? '')}`;
}

/** The same in every gateway. Made once for a compiled document, which is kept while it is in use. */
function inlineId(compiled: CompiledConfig, text: string): string {
  let id = inlineIds.get(compiled);
  if (id === undefined) {
    id = createHash('sha256').update(text).digest('base64url');
    inlineIds.set(compiled, id);
  }
  return id;
}

const inlineIds = new WeakMap<CompiledConfig, string>();
