import { type ConfigNode, credentialKeys } from '@sluice/contracts';
import type { Author } from './author.ts';
import type { BreakerRule } from './breaker.ts';
import { type DropPath, parseDropPath } from './drop-params.ts';
import {
  enforcedHooks,
  type HookList,
  type HookReading,
  joinHooks,
  noHooks,
  ownHooks,
} from './hooks.ts';
import type { CachePrefixRule, CacheRule, HedgeRule, ResolvedTarget } from './resolved-target.ts';
import { type RetryRule, retriedByDefault } from './retry.ts';

/**
 * What a node hands down to its targets. Parameters are merged key by key,
 * paths to drop and enforced guardrails add up; of everything else the nearest
 * word holds, as a whole.
 */
export interface Inherited {
  readonly customHost: string | undefined;
  /** Who named the host. */
  readonly customHostBy: Author;
  readonly requestTimeoutMs: number | undefined;
  readonly firstByteTimeoutMs: number | undefined;
  readonly idleTimeoutMs: number | undefined;
  readonly forwardHeaders: readonly string[] | undefined;
  readonly forwardHeadersBy: Author;
  readonly strictOpenAiCompliance: boolean | undefined;
  readonly strictParams: boolean | undefined;
  readonly adapts: boolean | undefined;
  readonly endsOnContentFilter: boolean;
  readonly recoversStreams: boolean | undefined;
  readonly asksStreamUsage: boolean | undefined;
  readonly readsOn: boolean | undefined;
  readonly cachePrefix: CachePrefixRule | undefined;
  readonly overrideParams: Readonly<Record<string, unknown>> | undefined;
  readonly defaultParams: Readonly<Record<string, unknown>> | undefined;
  readonly dropParams: readonly DropPath[] | undefined;
  readonly retry: RetryRule | undefined;
  readonly cache: CacheRule | undefined;
  readonly hedge: HedgeRule | undefined;
  readonly breaker: BreakerRule | undefined;
  readonly beforeRequest: HookList;
  readonly afterRequest: HookList;
  readonly enforcedBefore: HookList;
  readonly enforcedAfter: HookList;
  readonly latencyPaths: readonly string[];
}

export const nothingInherited: Inherited = {
  customHost: undefined,
  customHostBy: 'caller',
  requestTimeoutMs: undefined,
  firstByteTimeoutMs: undefined,
  idleTimeoutMs: undefined,
  forwardHeaders: undefined,
  forwardHeadersBy: 'caller',
  strictOpenAiCompliance: undefined,
  strictParams: undefined,
  adapts: undefined,
  endsOnContentFilter: false,
  recoversStreams: undefined,
  asksStreamUsage: undefined,
  readsOn: undefined,
  cachePrefix: undefined,
  overrideParams: undefined,
  defaultParams: undefined,
  dropParams: undefined,
  retry: undefined,
  cache: undefined,
  hedge: undefined,
  breaker: undefined,
  beforeRequest: noHooks,
  afterRequest: noHooks,
  enforcedBefore: noHooks,
  enforcedAfter: noHooks,
  latencyPaths: [],
};

/**
 * @param author who wrote the node: an inline config may lead into a saved one
 * @throws GatewayError `config.invalid` for hooks and paths that cannot be read
 */
export function inherit(
  parent: Inherited,
  node: ConfigNode,
  path: string,
  hooks: Omit<HookReading, 'by'>,
  author: Author,
): Inherited {
  const circuit = node.strategy?.cb_config ?? node.cb_config;
  const reading = { ...hooks, by: author };
  const enforced = (side: 'input' | 'output') => enforcedHooks(node, side, path, reading);
  return {
    customHost: node.custom_host ?? parent.customHost,
    customHostBy: node.custom_host === undefined ? parent.customHostBy : author,
    requestTimeoutMs: node.request_timeout ?? parent.requestTimeoutMs,
    firstByteTimeoutMs: node.first_byte_timeout ?? parent.firstByteTimeoutMs,
    idleTimeoutMs: node.idle_timeout ?? parent.idleTimeoutMs,
    forwardHeaders: node.forward_headers ?? parent.forwardHeaders,
    forwardHeadersBy: node.forward_headers === undefined ? parent.forwardHeadersBy : author,
    strictOpenAiCompliance: node.strict_open_ai_compliance ?? parent.strictOpenAiCompliance,
    strictParams: node.strict_params ?? parent.strictParams,
    adapts: node.adapt ?? parent.adapts,
    endsOnContentFilter:
      node.fallback_on_content_filter === undefined
        ? parent.endsOnContentFilter
        : !node.fallback_on_content_filter,
    recoversStreams:
      node.stream_recovery === undefined
        ? parent.recoversStreams
        : node.stream_recovery === 'continue',
    asksStreamUsage: node.ask_stream_usage ?? parent.asksStreamUsage,
    readsOn: node.read_on ?? parent.readsOn,
    cachePrefix:
      node.prompt_cache === undefined ? parent.cachePrefix : cachePrefixRule(node.prompt_cache),
    overrideParams: merged(parent.overrideParams, node.override_params),
    defaultParams: merged(parent.defaultParams, node.default_params),
    dropParams: withDropPaths(parent.dropParams, node.drop_params, path),
    retry: node.retry === undefined ? parent.retry : retryRule(node.retry),
    cache: node.cache === undefined ? parent.cache : cacheRule(node.cache),
    hedge: node.hedge === undefined ? parent.hedge : hedgeRule(node.hedge),
    breaker: circuit === undefined ? parent.breaker : breakerRule(circuit),
    beforeRequest: ownHooks(node, 'input', path, reading) ?? parent.beforeRequest,
    afterRequest: ownHooks(node, 'output', path, reading) ?? parent.afterRequest,
    enforcedBefore: joinHooks(parent.enforcedBefore, enforced('input') ?? noHooks),
    enforcedAfter: joinHooks(parent.enforcedAfter, enforced('output') ?? noHooks),
    latencyPaths: parent.latencyPaths,
  };
}

/** A leaf with all it inherits; `inherited` includes the leaf's own words. */
export function resolveLeaf(
  leaf: ConfigNode,
  inherited: Inherited,
  place: { index: number; path: string; name: string | undefined; by: Author },
): ResolvedTarget {
  const before = joinHooks(inherited.beforeRequest, inherited.enforcedBefore);
  const after = joinHooks(inherited.afterRequest, inherited.enforcedAfter);
  const hasHooks = before.hooks.length > 0 || after.hooks.length > 0;
  return {
    ...place,
    provider:
      leaf.virtual_key === undefined ? leaf.provider : `@${leaf.virtual_key.replace(/^@/, '')}`,
    passthrough: leaf.passthrough === true,
    promptId: leaf.prompt_id,
    apiKey: leaf.api_key,
    customHost: inherited.customHost,
    customHostBy: inherited.customHostBy,
    requestTimeoutMs: inherited.requestTimeoutMs,
    firstByteTimeoutMs: inherited.firstByteTimeoutMs,
    idleTimeoutMs: inherited.idleTimeoutMs,
    forwardHeaders: inherited.forwardHeaders,
    forwardHeadersBy: inherited.forwardHeadersBy,
    strictOpenAiCompliance: inherited.strictOpenAiCompliance,
    strictParams: inherited.strictParams,
    adapts: inherited.adapts,
    endsOnContentFilter: inherited.endsOnContentFilter,
    recoversStreams: inherited.recoversStreams,
    asksStreamUsage: inherited.asksStreamUsage,
    readsOn: inherited.readsOn,
    cachePrefix: inherited.cachePrefix,
    overrideParams: inherited.overrideParams,
    defaultParams: inherited.defaultParams,
    dropParams: inherited.dropParams,
    configurations: configurationsOf(leaf),
    retry: inherited.retry,
    cache: inherited.cache,
    hedge: inherited.hedge,
    breaker: inherited.breaker,
    hooks: hasHooks ? { beforeRequest: before.hooks, afterRequest: after.hooks } : undefined,
    latencyPaths: inherited.latencyPaths,
    unavailable: before.unavailable ?? after.unavailable,
  };
}

/** Spreading defines keys, so that one called `__proto__` stays an ordinary key. */
function merged(
  parent: Readonly<Record<string, unknown>> | undefined,
  own: Readonly<Record<string, unknown>> | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (own === undefined) return parent;
  return parent === undefined ? own : { ...parent, ...own };
}

function withDropPaths(
  parent: readonly DropPath[] | undefined,
  own: readonly string[] | undefined,
  path: string,
): readonly DropPath[] | undefined {
  if (own === undefined) return parent;
  const paths = own.map((text, index) => parseDropPath(text, `${path}.drop_params[${index}]`));
  return parent === undefined ? paths : [...parent, ...paths];
}

function retryRule(retry: NonNullable<ConfigNode['retry']>): RetryRule {
  return {
    attempts: retry.attempts,
    statusCodes:
      retry.on_status_codes === undefined ? retriedByDefault : new Set(retry.on_status_codes),
    usesWaitHints: retry.use_retry_after_headers ?? retry.use_retry_after_header ?? false,
  };
}

function cachePrefixRule({
  breakpoints,
  ttl = '5m',
}: NonNullable<ConfigNode['prompt_cache']>): CachePrefixRule | undefined {
  return breakpoints === 'auto' ? { ttl } : undefined;
}

function cacheRule(cache: NonNullable<ConfigNode['cache']>): CacheRule {
  const { mode, max_age, similarity_threshold, embedding, shadow } = cache;
  return {
    maxAgeS: max_age,
    semantic:
      mode === 'semantic'
        ? { threshold: similarity_threshold, embedding, isShadow: shadow === true }
        : undefined,
  };
}

const hedgeBudgetPercentage = 5;

function hedgeRule(hedge: NonNullable<ConfigNode['hedge']>): HedgeRule {
  return {
    delayMs: hedge.delay,
    budgetPercentage: hedge.budget_percentage ?? hedgeBudgetPercentage,
  };
}

function breakerRule(rule: NonNullable<ConfigNode['cb_config']>): BreakerRule {
  return {
    failureThreshold: rule.failure_threshold,
    failurePercentage: rule.failure_threshold_percentage,
    minimumRequests: rule.minimum_requests ?? 1,
    cooldownMs: rule.cooldown_interval,
    failureStatusCodes:
      rule.failure_status_codes === undefined ? undefined : new Set(rule.failure_status_codes),
  };
}

/** Provider-specific settings; the API key has a field of its own. */
const configurationKeys = [
  ...credentialKeys.filter((key) => key !== 'api_key'),
  'vertex_service_account_json',
  'deployments',
] as const;

const noConfigurations: Readonly<Record<string, unknown>> = Object.freeze({});

function configurationsOf(leaf: ConfigNode): Readonly<Record<string, unknown>> {
  let configurations: Record<string, unknown> | undefined;
  for (const key of configurationKeys) {
    const value = leaf[key];
    if (value === undefined) continue;
    configurations ??= {};
    configurations[key] = value;
  }
  return configurations ?? noConfigurations;
}
