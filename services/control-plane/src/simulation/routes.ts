import { type ConfigCaps, type ConfigNode, storedConfigCaps } from '@sluice/contracts';
import { GatewayError, invalidField } from '@sluice/errors';
import { parseText } from '@sluice/json';
import { isUuid } from '@sluice/usage';
import { priceMultipliers } from '../config-sync/price-multipliers.ts';
import { checkRuns, findReferences, parseDocument } from '../documents/configs/check-document.ts';
import { findConfig, findVersions } from '../documents/configs/store.ts';
import type { Database } from '../kernel/database/client.ts';
import { implementAll } from '../kernel/http/implement.ts';
import type { AdminRequest } from '../kernel/http/operation.ts';
import { nearestAdvice } from '../kernel/names/nearest.ts';
import { namedWorkspace, requireWorkspace } from '../kernel/tenancy/target-workspace.ts';
import { findKeptDays } from '../ledger/logs/store.ts';
import type { CatalogueIds } from '../limits/named-conditions.ts';
import { namedLimits } from './named-limits.ts';
import type { Simulator } from './simulator.ts';
import type { Asked, ChangedConfig, ConfigDocument, FindVersions, ProviderOfTask } from './task.ts';

/** Gateways wait a minute for an answer. */
const timeMsMax = 50_000;

/**
 * @param caps  what a config may have that is to be tried: as one that is to be saved
 * @param ids  providers of the catalogue
 */
export function simulationOperations(
  simulator: Pick<Simulator, 'run'>,
  caps: ConfigCaps,
  ids: CatalogueIds,
) {
  return implementAll('simulations', {
    create: async (call, { body }) => {
      const { db, caller, now } = call;
      const workspace = await requireWorkspace(db, caller, namedWorkspace(call.body, call.query));
      const scope = { organisationId: workspace.organisationId, workspaceId: workspace.id };
      const providers = await findProviders(db, workspace.id);
      requireProviders(body.allowed_models ?? [], providers);
      const task = {
        reader: readerOf(call),
        organisationId: workspace.organisationId,
        workspaceId: workspace.id,
        fromMs: body.time_of_generation_min.getTime(),
        toMs: body.time_of_generation_max.getTime(),
        nowMs: now.getTime(),
        keptDays: await findKeptDays(db, workspace.organisationId),
        requestsMax: body.requests_max,
        timeMsMax,
        config: await readConfig(db, workspace.id, body, caps),
        rateLimits: await namedLimits(call, body.rate_limits ?? [], {
          field: 'rate_limits',
          target: 'llm',
          scope,
          ids,
        }),
        usageLimits: await namedLimits(call, body.usage_limits ?? [], {
          field: 'usage_limits',
          target: 'usage',
          scope,
          ids,
        }),
        allowedModels: body.allowed_models ?? [],
        providers,
      };
      return simulator.run(task, versionsOf(db, workspace.id), call.signal);
    },
  });
}

/** @throws 400 for a list of models of nobody, or a second one of a provider */
function requireProviders(
  lists: NonNullable<Asked['allowed_models']>,
  providers: readonly ProviderOfTask[],
): void {
  const slugs = providers.map(({ slug }) => slug);
  for (const [index, { provider }] of lists.entries()) {
    const field = `body.allowed_models[${index}].provider`;
    if (!slugs.includes(provider))
      throw invalidField(
        field,
        `names no provider of the workspace, "${provider}"${nearestAdvice(provider, slugs)}`,
      );
    if (lists.findIndex((each) => each.provider === provider) < index)
      throw invalidField(field, 'names a provider a second time');
  }
}

/** What of the caller decides whether bodies may be looked into. */
function readerOf({ caller }: AdminRequest) {
  const { organisationId, workspaceId, keyId, userId, scopes, seesOwnDataOnly } = caller;
  return { organisationId, workspaceId, keyId, userId, scopes, seesOwnDataOnly };
}

/** The config that is to be tried, checked as one that is to be saved. */
async function readConfig(
  db: Database,
  workspaceId: string,
  { config, config_slug: reference }: Asked,
  caps: ConfigCaps,
): Promise<ChangedConfig | undefined> {
  if (config === undefined) return undefined;
  const node = parseDocument(config, caps);
  const replaced = reference === undefined ? null : await findConfig(db, workspaceId, reference);
  if (reference !== undefined && replaced === null)
    throw new GatewayError('admin.not_found', {
      field: 'body.config_slug',
      message: 'The workspace has no such config.',
    });
  const slug = replaced?.slug ?? '';
  await checkRuns(db, workspaceId, slug, node);
  return {
    slug,
    node,
    references: await findReferences(db, workspaceId, slug, node),
    replaces: replaced?.id,
  };
}

async function findProviders(db: Database, workspaceId: string): Promise<ProviderOfTask[]> {
  const rows = await db.provider.findMany({
    where: { workspaceId },
    include: { integration: { include: { models: true } } },
  });
  return rows.map(({ slug, integration }) => ({
    slug,
    id: integration.aiProviderId,
    models: integration.models.map((model) => ({
      slug: model.slug,
      prices: model.pricingConfig,
      base: model.baseModelSlug,
    })),
    multipliers: priceMultipliers(integration.pricingAdjustments),
  }));
}

/** The documents as they may be shown: a simulation asks nobody, and needs no credentials. */
function versionsOf(db: Database, workspaceId: string): FindVersions {
  return async (ids) => {
    const documents = new Map<string, ConfigDocument>();
    for (const { id, slug, body } of await findVersions(db, workspaceId, ids.filter(isUuid))) {
      const node = parsed(body);
      if (node === undefined) continue;
      const references = await findReferences(db, workspaceId, slug, node).catch(() => new Map());
      documents.set(id, { slug, node, references });
    }
    return documents;
  };
}

/** One of an earlier release may be none today. */
function parsed(body: string): ConfigNode | undefined {
  try {
    return parseDocument(parseText(body) as Record<string, unknown>, storedConfigCaps);
  } catch (error) {
    if (error instanceof GatewayError) return undefined;
    throw error;
  }
}
