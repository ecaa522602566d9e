import {
  type AnswerOf,
  type BodyOf,
  idleGrantLimits,
  type SecretMapping,
} from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { GuardedFetch, HostRules } from '@sluice/outbound';
import { Prisma } from '../../generated/prisma/client.ts';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import { keepMasked } from '../../kernel/credentials/secret-fields.ts';
import type { Database } from '../../kernel/database/client.ts';
import { warnOfAddresses } from '../../kernel/http/check-address.ts';
import { idleLines } from '../../kernel/http/idle-warnings.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { newId } from '../../kernel/names/ids.ts';
import { findWorkspace } from '../../kernel/tenancy/find-workspace.ts';
import { namedWorkspace, targetWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import type { UsersOfProvider } from '../providers/in-use.ts';
import { provisionProvider } from '../providers/provision.ts';
import { checkMappings } from '../secret-references/mappings.ts';
import { mergeConfigurations } from './configurations.ts';
import { credentialColumns, openCredentials } from './credentials.ts';
import { changeGrants } from './grants.ts';
import { guardIntegration, inConfigurations } from './guard-credentials.ts';
import { knownProvider } from './known-provider.ts';
import { checkSettings, nothingKept } from './known-settings.ts';
import { presentGlobalAccess, presentGrant, presentIntegrationDetail } from './present.ts';
import { changeReached, reachIntegration } from './reach.ts';
import {
  countGrants,
  type IntegrationRow,
  insertIntegration,
  listGrants,
  providersOf,
  removeIntegration,
  updateIntegration,
} from './store.ts';
import { testIntegration } from './test-integration.ts';

export interface IntegrationParts {
  vault: CredentialVault;
  /** The catalogue's id of a provider, whichever of its names is given. */
  catalogueId: (name: string) => string | undefined;
  usersOfProvider: UsersOfProvider;
  fetch: GuardedFetch;
  hostRules: HostRules;
}

export function createIntegration(
  call: AdminRequest,
  body: BodyOf<'integrations.create'>,
  parts: IntegrationParts,
): Promise<{ id: string; slug: string }> {
  knownProvider(parts, 'body.ai_provider_id', body.ai_provider_id);
  warnOfAddresses(call.notes, body, 'body', parts.hostRules);
  const credentials = {
    key: keepMasked(null, body.key ?? null, 'body.key'),
    configurations: mergeConfigurations({}, body.configurations, inConfigurations),
  };
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const workspace = await targetWorkspace(db, call.caller, namedWorkspace(call.body, call.query));
    call.permit(workspace === undefined ? 'organisation' : 'workspace');
    const id = newId();
    const { organisationId } = call.caller;
    const mappings = await mappingsOf(
      db,
      { organisationId, workspaceId: workspace?.id ?? null },
      body,
    );
    checkSettings(
      body.ai_provider_id,
      { before: nothingKept, after: { ...credentials, mappings } },
      inConfigurations,
      call.notes,
    );
    const integration = await insertIntegration(db, {
      id,
      organisationId,
      workspaceId: workspace?.id,
      slug: body.slug ?? generateSlug('integration', body.name),
      aiProviderId: body.ai_provider_id,
      name: body.name,
      description: body.description ?? null,
      ...credentialColumns(parts.vault, id, credentials),
      secretMappings: mappings,
      pricingAdjustments: nullable(body.pricing_adjustments ?? null),
      tags: nullable(body.tags ?? null),
      createdAt: call.now,
      updatedAt: call.now,
    });
    if (workspace !== undefined) {
      if (body.create_default_provider)
        await provisionProvider(db, integration, workspace.id, {
          slug: body.default_provider_slug,
          now: call.now,
        });
      else if (body.default_provider_slug !== undefined)
        call.notes.warnings.push(
          'body.default_provider_slug: does nothing: create_default_provider is false',
        );
      touchWorkspace(workspace.id);
    } else if (body.default_provider_slug !== undefined)
      call.notes.warnings.push(
        `body.default_provider_slug: does nothing, because no workspace has the integration yet; PUT /integrations/${integration.slug}/workspaces takes it where access is given`,
      );
    describe({
      resourceId: id,
      workspaceId: workspace?.id,
      after: presentIntegrationDetail(integration, 0),
      detail: { slug: integration.slug },
    });
    return { id, slug: integration.slug };
  });
}

export function changeIntegration(
  call: AdminRequest,
  reference: string,
  body: BodyOf<'integrations.update'>,
  parts: IntegrationParts,
): Promise<void> {
  warnOfAddresses(call.notes, body, 'body', parts.hostRules);
  return changeReached(call, reference, showDetail, async ({ db }, integration) => {
    const { key, configurations } = openCredentials(parts.vault, integration);
    const stored = integration.secretMappings as unknown as SecretMapping[];
    const mappings =
      body.secret_mappings === undefined ? stored : await mappingsOf(db, integration, body);
    const credentials = {
      key: body.key === undefined ? key : keepMasked(key, body.key, 'body.key'),
      configurations: mergeConfigurations(configurations, body.configurations, inConfigurations),
    };
    const change = {
      before: { key, configurations, mappings: stored },
      after: { ...credentials, mappings },
    };
    checkSettings(integration.aiProviderId, change, inConfigurations, call.notes);
    await guardIntegration(db, parts.vault, integration.id, {
      ...change,
      sent: body,
      nameOf: inConfigurations,
    });
    await updateIntegration(db, integration.id, {
      ...credentialColumns(parts.vault, integration.id, credentials),
      name: body.name,
      description: body.description,
      secretMappings: mappings,
      pricingAdjustments:
        body.pricing_adjustments === undefined ? undefined : nullable(body.pricing_adjustments),
      tags: body.tags === undefined ? undefined : nullable(body.tags),
      updatedAt: call.now,
    });
  });
}

/**
 * Goes with the providers made from it, in every workspace, so that no copy of
 * the credential stays in use: a leaked one is ended at once, and the answer
 * lists what names a provider that went with it.
 */
export function deleteIntegration(
  call: AdminRequest,
  reference: string,
  { usersOfProvider }: IntegrationParts,
): Promise<void> {
  return changeReached(call, reference, showDetail, async ({ db }, integration) => {
    for (const { slug, workspaceId, workspace } of await providersOf(db, integration.id)) {
      const users = await usersOfProvider(db, { slug, workspaceId });
      if (users.length === 0) continue;
      call.notes.warnings.push(
        `The provider @${slug} of the workspace ${workspace.slug} went with it, which is named by ${users.join(', ')}.`,
      );
    }
    await removeIntegration(db, integration.id);
  });
}

/** What the provider answers, and that it was asked. */
export async function tryIntegration(
  call: AdminRequest,
  reference: string,
  { vault, fetch }: IntegrationParts,
): Promise<AnswerOf<'integrations.test'>> {
  const integration = await reachIntegration(call, call.db, reference);
  const tested = await testIntegration(
    integration,
    openCredentials(vault, integration),
    fetch,
    call.signal,
  );
  await call.change(async ({ describe }) =>
    describe({
      resourceId: integration.id,
      workspaceId: integration.workspaceId ?? undefined,
      detail: { slug: integration.slug, reachable: tested.reachable, cause: tested.cause ?? null },
    }),
  );
  return tested;
}

export function changeWorkspaces(
  call: AdminRequest,
  reference: string,
  body: BodyOf<'integrations.workspaces.update'>,
): Promise<void> {
  const show = (db: Database, row: IntegrationRow) => showAccess(db, row, call.now);
  return changeReached(call, reference, show, async (change, integration) => {
    if (integration.workspaceId !== null) await onlyItsOwn(change.db, integration, body);
    if (body.workspaces === undefined && body.global_workspace_access === undefined)
      throw invalidField(
        'body.workspaces',
        'is required without global_workspace_access; it may be empty',
      );
    call.notes.warnings.push(...idleLines(idleGrantLimits(body)));
    await changeGrants(change, integration, body, call.now);
    await updateIntegration(change.db, integration.id, {
      globalAccess:
        body.global_workspace_access === undefined
          ? undefined
          : nullable(body.global_workspace_access),
      updatedAt: call.now,
    });
  });
}

/** One that belongs to a workspace is opened, limited and closed there, and nowhere else. */
async function onlyItsOwn(
  db: Database,
  integration: IntegrationRow,
  body: BodyOf<'integrations.workspaces.update'>,
): Promise<void> {
  const others = await Promise.all(
    (body.workspaces ?? []).map(async ({ id }) => {
      const workspace = await findWorkspace(db, integration.organisationId, id);
      return workspace?.id !== integration.workspaceId;
    }),
  );
  if (others.includes(true) || body.global_workspace_access?.enabled === true)
    throw new GatewayError('admin.refused', {
      message: 'This integration belongs to one workspace, and serves no other.',
    });
}

function mappingsOf(
  db: Database,
  { organisationId, workspaceId }: Pick<IntegrationRow, 'organisationId' | 'workspaceId'>,
  body: BodyOf<'integrations.update'>,
) {
  return checkMappings(
    db,
    { organisationId, workspaceId, settings: 'configurations', hasKey: true },
    body.secret_mappings ?? [],
  );
}

async function showDetail(db: Database, integration: IntegrationRow) {
  return presentIntegrationDetail(integration, await countGrants(db, integration.id));
}

async function showAccess(db: Database, integration: IntegrationRow, now: Date) {
  const page = { currentPage: 0, pageSize: 1000 };
  const { rows } = await listGrants(db, integration, undefined, page);
  return {
    global_workspace_access_settings: presentGlobalAccess(integration),
    workspaces: rows.map((row) => presentGrant(row, now)),
  };
}

function nullable(value: object | null): Prisma.InputJsonValue | typeof Prisma.DbNull {
  return value === null ? Prisma.DbNull : (value as Prisma.InputJsonValue);
}
