import { type Counter, PolicyIndex } from '@sluice/engine';
import { parseText } from '@sluice/json';
import type { TlsIdentity } from '@sluice/outbound';
import { readTlsIdentity } from '@sluice/outbound';
import type { CustomPrices, Multipliers } from '@sluice/pricing';
import type { config } from '@sluice/proto-stubs';
import { findProvider, type ProviderEntry } from '@sluice/providers';
import { type CompiledAgentServer, findAgentServer } from './agent-servers.ts';
import { type AllowedHost, readAllowedHosts } from './allowed-hosts.ts';
import { compileMultipliers, compilePrices } from './compile-prices.ts';
import { type EnforcedGuardrails, enforcedGuardrails } from './enforced-guardrails.ts';
import { EventPolicies } from './event-policies.ts';
import { holdsCredential } from './holds-credential.ts';
import { type CompiledMcpServer, findMcpServer } from './mcp-servers.ts';
import { modelKey } from './model-key.ts';
import { countersOf, policiesOf } from './read-bundle-limits.ts';
import type { WholeBundle } from './tables.ts';

/**
 * A workspace bundle made ready for requests: parsed and indexed once. Its
 * configs are compiled when they are asked for (`ConfigCompiler`): there may be
 * 100,000 of them, and few are in use.
 */
export interface CompiledBundle extends WholeBundle {
  readonly providers: ReadonlyMap<string, SavedProvider>;
  /** Policies of the workspace that need no target, and those that do. */
  readonly requestPolicies: PolicyIndex;
  readonly targetPolicies: PolicyIndex;
  /** Those that calls of MCP servers and of agents meet. */
  readonly eventPolicies: EventPolicies;
  readonly workspaceCounters: readonly Counter[];
  /** Some of its requests are limited, whoever makes them. */
  readonly hasLimits: boolean;
  /** Of the cache's namespaces that were emptied, "" = all, what was drawn then. */
  readonly cacheGenerations: ReadonlyMap<string, string>;
  /** What every request must pass; undefined = nothing. */
  readonly enforced: EnforcedGuardrails | undefined;
  /** By slug or id; undefined = the workspace has no such server. */
  mcpServer(slugOrId: string): CompiledMcpServer | undefined;
  agentServer(slugOrId: string): CompiledAgentServer | undefined;
}

/** What is known of a saved config beside its document. */
export interface SavedConfig {
  readonly id: string;
  readonly slug: string;
  readonly versionId: string;
  readonly name: string;
}

export interface SavedProvider {
  readonly slug: string;
  readonly entry: ProviderEntry | undefined;
  readonly providerId: string;
  readonly status: string;
  readonly apiKey: string;
  readonly configurations: Readonly<Record<string, unknown>>;
  /** Of lists of what stays there a workspace sees what it made. */
  readonly narrowsLists: boolean;
  /** For private upstreams; only ever from what admins saved. */
  readonly tls: TlsIdentity | undefined;
  readonly customHost: string;
  readonly customHeaders: Readonly<Record<string, string>>;
  /** Any of the above is a secret, or says which credential of the gateway's own is used. */
  readonly holdsCredential: boolean;
  /** Where else the credential may go, when a request asks for it. */
  readonly allowedHosts: readonly AllowedHost[];
  readonly allowAllModels: boolean;
  readonly models: ReadonlyMap<string, config.Model>;
  /** What administrators set for models, by their slugs. */
  readonly prices: ReadonlyMap<string, CustomPrices>;
  /** What they multiply every price by; undefined = by nothing. */
  readonly multipliers: Multipliers | undefined;
  /** Some models may not be asked for: a request whose model cannot be read is refused. */
  readonly limitsModels: boolean;
  /** The models that are switched off, by `modelKey`. */
  readonly modelsOff: ReadonlySet<string>;
  readonly expiresAtMs: number;
  readonly counters: readonly Counter[];
}

/** @param before the same workspace as it was compiled last */
export function compileBundle(bundle: WholeBundle, before?: CompiledBundle): CompiledBundle {
  const { source } = bundle;
  const { models, tools, budgets } = policiesOf(source);
  const policies = [...models, ...budgets];
  const workspaceCounters = countersOf(
    { kind: 'workspace', name: source.workspaceSlug, workspaceId: source.workspaceId },
    `workspace:${source.workspaceId}`,
    source,
  );
  const providers = source.providers.map((provider) => savedProvider(provider, source.workspaceId));
  return {
    ...bundle,
    providers: new Map(providers.map((provider) => [provider.slug, provider])),
    requestPolicies: new PolicyIndex(policies, 'request'),
    targetPolicies: new PolicyIndex(policies, 'target'),
    eventPolicies: new EventPolicies(tools, budgets),
    workspaceCounters,
    hasLimits:
      policies.length > 0 ||
      workspaceCounters.length > 0 ||
      providers.some(({ counters }) => counters.length > 0),
    cacheGenerations: new Map(
      source.cacheGenerations.map(({ namespace, generation }) => [namespace, generation]),
    ),
    enforced: enforcedGuardrails(bundle, before?.enforced),
    ...serversOf(bundle),
  };
}

/** The same workspace after a change of nothing but its tables: all else stays compiled. */
export function withTables(before: CompiledBundle, bundle: WholeBundle): CompiledBundle {
  const enforced = enforcedGuardrails(bundle, before.enforced);
  return { ...before, ...bundle, enforced, ...serversOf(bundle) };
}

/** Compiled when they are asked for, and once. */
function serversOf({
  mcpServers,
  agentServers,
}: WholeBundle): Pick<CompiledBundle, 'mcpServer' | 'agentServer'> {
  return {
    mcpServer: (slugOrId) => findMcpServer(mcpServers, slugOrId),
    agentServer: (slugOrId) => findAgentServer(agentServers, slugOrId),
  };
}

function savedProvider(provider: config.Provider, workspaceId: string): SavedProvider {
  const parsed = parseJson(provider.configurationsJson);
  // What is ours to do is no setting of the provider's.
  const { lists, ...configurations } =
    typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  const off = provider.models.filter(({ enabled }) => !enabled);
  const tls = readTlsIdentity(configurations);
  const customHeaders = lowerCased(provider.customHeaders);
  return {
    slug: provider.slug,
    entry: findProvider(provider.provider),
    providerId: provider.provider,
    status: provider.status,
    apiKey: provider.apiKey,
    configurations,
    narrowsLists: lists === 'own',
    tls,
    customHost: provider.customHost,
    customHeaders,
    holdsCredential:
      provider.apiKey !== '' ||
      tls !== undefined ||
      Object.keys(customHeaders).length > 0 ||
      provider.models.some((model) => Object.keys(model.customHeaders).length > 0) ||
      holdsCredential(configurations),
    allowedHosts: readAllowedHosts(provider.allowedCustomHosts),
    allowAllModels: provider.allowAllModels,
    models: new Map(provider.models.map((model) => [model.slug, model])),
    prices: compilePrices(provider.models),
    multipliers: compileMultipliers(provider.priceMultipliers),
    limitsModels: !provider.allowAllModels || off.length > 0,
    modelsOff: new Set(off.map(({ slug }) => modelKey(slug))),
    expiresAtMs: Number(provider.expiresAtMs),
    counters: [
      ...countersOf(
        { kind: 'virtual_key', name: provider.slug, workspaceId },
        // Ids are of now; the release before had only the slug.
        `virtual_key:${workspaceId}:${provider.slug}`,
        provider,
      ),
      ...countersOf(
        { kind: 'integration', name: provider.integrationSlug, workspaceId },
        `integration:${workspaceId}:${provider.integrationSlug}`,
        {
          rateLimits: provider.integrationRateLimits,
          usageLimits: provider.integrationUsageLimits,
        },
      ),
    ],
  };
}

/** Names in one case, so that a header of an admin replaces ours instead of standing beside it. */
export function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function parseJson(text: string): unknown {
  try {
    return parseText(text);
  } catch {
    return undefined;
  }
}
