import { type ConfigNode, parseConfigDocument } from '@sluice/contracts';
import {
  type CompiledConfig,
  type CompiledPolicy,
  type Counter,
  compileConfig,
  compilePolicies,
  entityCounters,
} from '@sluice/engine';
import { GatewayError } from '@sluice/errors';
import type { config } from '@sluice/proto-stubs';
import { findProvider, type ProviderEntry } from '@sluice/providers';

/** A workspace bundle made ready for requests: everything parsed, compiled and indexed once. */
export interface CompiledBundle {
  readonly source: config.Bundle;
  readonly configs: ReadonlyMap<string, SavedConfig>;
  readonly providers: ReadonlyMap<string, SavedProvider>;
  readonly policies: readonly CompiledPolicy[];
  readonly hasRequestPolicies: boolean;
  readonly hasTargetPolicies: boolean;
  readonly workspaceCounters: readonly Counter[];
}

export interface SavedConfig {
  readonly id: string;
  readonly slug: string;
  readonly versionId: string;
  readonly name: string;
  readonly node: ConfigNode | undefined;
  /** Compiled on first use; a GatewayError when this release cannot run it. */
  compiled: CompiledConfig | GatewayError | undefined;
}

export interface SavedProvider {
  readonly slug: string;
  readonly entry: ProviderEntry | undefined;
  readonly providerId: string;
  readonly status: string;
  readonly apiKey: string;
  readonly configurations: Readonly<Record<string, unknown>>;
  readonly customHost: string;
  readonly customHeaders: Readonly<Record<string, string>>;
  readonly allowAllModels: boolean;
  readonly models: ReadonlyMap<string, config.Model>;
  readonly expiresAtMs: number;
  readonly counters: readonly Counter[];
}

export function compileBundle(source: config.Bundle): CompiledBundle {
  const policies = compilePolicies(
    source.rateLimitsPolicies.map((policy) => ({
      id: policy.id,
      name: policy.name,
      type: policy.type,
      unit: policy.unit,
      value: Number(policy.value),
      conditions: policy.conditions,
      groupBy: policy.groupBy,
    })),
  );
  return {
    source,
    configs: new Map(source.configs.flatMap((saved) => configEntries(saved))),
    providers: new Map(
      source.providers.map((provider) => [
        provider.slug,
        savedProvider(provider, source.workspaceId),
      ]),
    ),
    policies,
    hasRequestPolicies: policies.some((policy) => policy.level === 'request'),
    hasTargetPolicies: policies.some((policy) => policy.level === 'target'),
    workspaceCounters: entityCounters(
      source.rateLimits.map(plainLimit),
      'workspace',
      source.workspaceId,
      source.workspaceSlug,
    ),
  };
}

export function plainLimit(limit: config.RateLimit): { type: string; unit: string; value: number } {
  return { type: limit.type, unit: limit.unit, value: Number(limit.value) };
}

/** The compiled form of a saved config. @throws GatewayError when it cannot be run. */
export function compiledConfig(saved: SavedConfig): CompiledConfig {
  saved.compiled ??= compileSaved(saved);
  if (saved.compiled instanceof GatewayError) throw saved.compiled;
  return saved.compiled;
}

function compileSaved(saved: SavedConfig): CompiledConfig | GatewayError {
  if (saved.node === undefined)
    return new GatewayError('config.invalid', {
      field: 'x-service-config',
      message: `The saved config "${saved.slug}" is not valid.`,
    });
  try {
    return compileConfig(saved.node);
  } catch (error) {
    if (error instanceof GatewayError) return error;
    throw error;
  }
}

/** Callers may name a config by slug or by id. */
function configEntries(saved: config.Config): [string, SavedConfig][] {
  const parsed = parseConfigDocument(parseJson(saved.bodyJson), 'ignore');
  const entry: SavedConfig = {
    id: saved.id,
    slug: saved.slug,
    versionId: saved.versionId,
    name: saved.name,
    node: parsed.ok ? parsed.config : undefined,
    compiled: undefined,
  };
  return [
    [saved.slug, entry],
    [saved.id, entry],
  ];
}

function savedProvider(provider: config.Provider, workspaceId: string): SavedProvider {
  const configurations = parseJson(provider.configurationsJson);
  return {
    slug: provider.slug,
    entry: findProvider(provider.provider),
    providerId: provider.provider,
    status: provider.status,
    apiKey: provider.apiKey,
    configurations:
      typeof configurations === 'object' && configurations !== null
        ? (configurations as Record<string, unknown>)
        : {},
    customHost: provider.customHost,
    customHeaders: lowerCased(provider.customHeaders),
    allowAllModels: provider.allowAllModels,
    models: new Map(provider.models.map((model) => [model.slug, model])),
    expiresAtMs: Number(provider.expiresAtMs),
    counters: entityCounters(
      provider.rateLimits.map(plainLimit),
      'virtual_key',
      `${workspaceId}:${provider.slug}`,
      provider.slug,
    ),
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
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
