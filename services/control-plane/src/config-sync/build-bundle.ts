import { createHash } from 'node:crypto';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import type { McpIntegration } from '../generated/prisma/client.ts';
import { blocksInlineConfig, effectiveSettings } from '../kernel/tenancy/settings.ts';
import type { Credentials } from '../models/integrations/configurations.ts';
import type { BundleRows, ConfigBody, CoreRows } from './bundle-rows.ts';
import { enforcedGuardrails } from './enforced-guardrails.ts';
import type { GuardrailVersionBody } from './guardrail-rows.ts';
import {
  rateLimitMessages,
  rateLimitsPolicyMessage,
  usageLimitMessages,
  usageLimitsPolicyMessage,
} from './limit-messages.ts';
import { priceMultipliers } from './price-multipliers.ts';

type ProviderRow = BundleRows['providers'][number];
type IntegrationRow = ProviderRow['integration'];
type ModelRow = IntegrationRow['models'][number];

type SealedRow = Pick<McpIntegration, 'id' | 'sealedConfigurations'>;

/** The ways to the core of a bundle. */
type CoreOpeners = Pick<Openers, 'credentials' | 'modelSettings'>;

/** The ways to what is sealed in the rows. */
export interface Openers {
  credentials: (integration: IntegrationRow) => Credentials;
  modelSettings: (model: ModelRow) => Readonly<Record<string, unknown>>;
  document: (version: ConfigBody) => string;
  /** The checks of a guardrail with their secrets, JSON. */
  checks: (version: GuardrailVersionBody) => string;
  /** How integrations of tools are called, with secrets, JSON. */
  mcpConfigurations: (integration: SealedRow) => string;
  agentConfigurations: (integration: SealedRow) => string;
}

/**
 * Turns rows into the bundle that a gateway of the release before decides with,
 * without its configs and prompts: those follow in pieces. Pure: the same rows
 * give the same bytes, whatever order the database had them in, so the hash
 * changes only when something a gateway would do changes.
 */
export function buildBundle(rows: BundleRows, open: CoreOpeners): config.Bundle {
  const bundle = buildCore(rows, open);
  // They know of one list only.
  for (const { rateLimits, integrationRateLimits } of bundle.providers)
    rateLimits.push(...integrationRateLimits);
  bundle.hash = contentHash(bundle, rows);
  bundle.revision = rows.workspace.revision;
  return bundle;
}

/** All of a bundle but its sections, without revision and hash. */
export function buildCore(rows: CoreRows, open: CoreOpeners): config.Bundle {
  const { workspace } = rows;
  const { request_logging: logging, caching } = effectiveSettings(
    workspace.organisation.settings,
    workspace.settings,
  );
  return create(config.BundleSchema, {
    organisationId: workspace.organisationId,
    workspaceId: workspace.id,
    workspaceSlug: workspace.slug,
    workspaceName: workspace.name,
    providers: sorted(rows.providers.filter(isUsable), (row) => row.slug).map((row) =>
      provider(row, open),
    ),
    rateLimitsPolicies: policiesOf(rows, 'llm'),
    mcpToolsPolicies: policiesOf(rows, 'mcp_tools'),
    rateLimits: rateLimitMessages(workspace.rateLimits),
    usageLimits: usageLimitMessages(workspace.usageLimits),
    usageLimitsPolicies: sorted(rows.usagePolicies, (row) => row.id).map((row) =>
      usageLimitsPolicyMessage({ ...row, resets: sorted(row.resets, (reset) => reset.groupId) }),
    ),
    metadata: sortedText(workspace.metadata),
    blockInlineConfig: blocksInlineConfig(workspace),
    storedCredentialsAtCallersHosts: effectiveSettings(workspace.organisation.settings)
      .stored_credentials.allow_any_custom_host,
    defaultConfigSlug: rows.defaultConfigSlug,
    requestLogging: logging.mode,
    requestLoggingEnforced: logging.enforced,
    ...enforcedGuardrails(workspace),
    cacheMaxAgeS: caching.max_age ?? 0,
    cacheGenerations: workspace.cacheGenerations as { namespace: string; generation: string }[],
  });
}

function policiesOf({ policies }: CoreRows, target: 'llm' | 'mcp_tools') {
  const ofTarget = policies.filter((row) => row.target === target);
  return sorted(ofTarget, (row) => row.id).map(rateLimitsPolicyMessage);
}

/** Versions are never rewritten: which ones are in force says what is in them, and the documents need not be read. */
function contentHash(bundle: config.Bundle, rows: BundleRows): string {
  const hash = createHash('sha256').update(toBinary(config.BundleSchema, bundle));
  for (const row of rows.configs)
    hash.update(JSON.stringify([row.id, row.version, row.slug, row.name]));
  for (const row of [...rows.prompts, ...rows.partials, ...rows.guardrails])
    hash.update(JSON.stringify(sortedObject(row)));
  return hash.digest('hex');
}

/** An organisation's integration serves a workspace while it is open to it, one of a workspace until it is closed. */
function isUsable(row: ProviderRow): boolean {
  const { integration } = row;
  if (integration.status !== 'active') return false;
  if (integration.workspaceId !== null) return integration.grants.every((grant) => grant.enabled);
  return integration.grants.some((grant) => grant.enabled);
}

function provider(
  row: ProviderRow,
  open: CoreOpeners,
): MessageInitShape<typeof config.ProviderSchema> {
  const { integration } = row;
  const credentials = open.credentials(integration);
  const {
    custom_host: customHost,
    custom_headers: customHeaders,
    allowed_custom_hosts: allowedHosts,
    ...configurations
  } = credentials.configurations;
  return {
    slug: row.slug,
    name: row.name,
    provider: integration.aiProviderId,
    integrationSlug: integration.slug,
    // Not whether it has expired, or is used up: that follows from what stands below, and a bundle must not change by the clock.
    status: 'active',
    apiKey: credentials.key ?? '',
    configurationsJson: JSON.stringify(sortedObject(configurations)),
    customHost: typeof customHost === 'string' ? customHost : '',
    customHeaders: sortedText(customHeaders),
    allowedCustomHosts: Array.isArray(allowedHosts) ? allowedHosts.map(String).sort() : [],
    allowAllModels: integration.allowAllModels,
    models: sorted(integration.models, (model) => model.slug).map((model) =>
      modelOf(model, open.modelSettings(model)),
    ),
    priceMultipliers: priceMultipliers(integration.pricingAdjustments),
    expiresAtMs: BigInt(row.expiresAt?.getTime() ?? 0),
    id: row.id,
    rateLimits: rateLimitMessages(row.rateLimits),
    usageLimits: usageLimitMessages(row.usageLimits),
    integrationRateLimits: integration.grants.flatMap((grant) =>
      rateLimitMessages(grant.rateLimits),
    ),
    integrationUsageLimits: integration.grants.flatMap((grant) =>
      usageLimitMessages(grant.usageLimits),
    ),
  };
}

function modelOf(
  row: ModelRow,
  settings: Readonly<Record<string, unknown>>,
): MessageInitShape<typeof config.ModelSchema> {
  const prices = (
    row.pricingConfig as { pay_as_you_go?: Record<string, { price?: number }> } | null
  )?.pay_as_you_go;
  return {
    slug: row.slug,
    enabled: row.enabled,
    isCustom: row.isCustom,
    requestTokenPrice: decimal(prices?.request_token?.price),
    responseTokenPrice: decimal(prices?.response_token?.price),
    pricesJson: row.pricingConfig === null ? '' : JSON.stringify(sortedDeep(row.pricingConfig)),
    baseModelSlug: row.baseModelSlug ?? '',
    customHost: typeof settings.custom_host === 'string' ? settings.custom_host : '',
    customHeaders: sortedText(settings.custom_headers),
  };
}

/** Without an exponent: prices are tiny, and not every reader of decimals knows `1e-7`. */
export function decimal(value: number | undefined): string {
  if (value === undefined) return '';
  const text = String(value);
  const match = /^(\d)(?:\.(\d+))?e-(\d+)$/.exec(text);
  if (match === null) return text;
  return `0.${'0'.repeat(Number(match[3]) - 1)}${match[1]}${match[2] ?? ''}`;
}

function sorted<T>(list: readonly T[], by: (item: T) => string): T[] {
  return [...list].sort((a, b) => (by(a) < by(b) ? -1 : 1));
}

/** JSON comes from the database in an order of its own. */
function sortedDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedDeep);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(sortedObject(value)).map(([name, inner]) => [name, sortedDeep(inner)]),
  );
}

function sortedObject(value: object): Record<string, unknown> {
  return Object.fromEntries(sorted(Object.entries(value), ([name]) => name));
}

/** Maps are written in the order of their keys: made the same, they are the same bytes. */
function sortedText(value: unknown): Record<string, string> {
  if (typeof value !== 'object' || value === null) return {};
  return Object.fromEntries(
    Object.entries(sortedObject(value)).map(([name, text]) => [name, String(text)]),
  );
}
