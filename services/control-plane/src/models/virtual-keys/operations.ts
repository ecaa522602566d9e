import type { BodyOf, SecretMapping } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { keepMasked } from '../../kernel/credentials/secret-fields.ts';
import type { Change } from '../../kernel/database/change.ts';
import { warnOfAddresses } from '../../kernel/http/check-address.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { newId } from '../../kernel/names/ids.ts';
import { namedWorkspace, requireWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { rewarnHolder } from '../../limits/usage-limits/rewarn-holder.ts';
import { mergeConfigurations } from '../integrations/configurations.ts';
import { credentialColumns, openCredentials } from '../integrations/credentials.ts';
import { guardIntegration } from '../integrations/guard-credentials.ts';
import { knownProvider } from '../integrations/known-provider.ts';
import { checkSettings, nothingKept } from '../integrations/known-settings.ts';
import type { IntegrationParts } from '../integrations/operations.ts';
import {
  findIntegration,
  insertIntegration,
  updateIntegration,
  workspacesUsing,
} from '../integrations/store.ts';
import { changedColumns, createdColumns } from '../providers/columns.ts';
import { refuseWhileNamed, type UsersOfProvider } from '../providers/in-use.ts';
import { reachProvider } from '../providers/operations.ts';
import {
  findProviderRow,
  insertProvider,
  type ProviderRow,
  removeProvider,
  updateProvider,
} from '../providers/store.ts';
import { checkMappings } from '../secret-references/mappings.ts';
import { bodyFieldOf, toConfigurations, toIntegrationMapping } from './model-config.ts';
import { presentVirtualKey } from './present.ts';

/** A virtual key is an integration of the workspace and its provider, made in one step. */
export function createVirtualKey(
  call: AdminRequest,
  body: BodyOf<'virtual-keys.create'>,
  parts: IntegrationParts,
): Promise<string> {
  const aiProviderId = knownProvider(parts, 'body.provider', body.provider);
  warnOfAddresses(call.notes, body, 'body', parts.hostRules);
  const credentials = {
    key: keepMasked(null, body.key ?? null, 'body.key'),
    configurations: mergeConfigurations({}, toConfigurations(body), bodyFieldOf),
  };
  return call.change(async (change) => {
    const { db } = change;
    const workspace = await requireWorkspace(
      db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    const mappings = await mappingsOf(change, workspace.organisationId, workspace.id, body);
    checkSettings(
      aiProviderId,
      { before: nothingKept, after: { ...credentials, mappings } },
      bodyFieldOf,
      call.notes,
    );
    const slug = generateSlug('provider', body.name);
    const id = newId();
    const integration = await insertIntegration(db, {
      id,
      organisationId: workspace.organisationId,
      workspaceId: workspace.id,
      slug,
      aiProviderId,
      name: body.name,
      ...credentialColumns(parts.vault, id, credentials),
      secretMappings: mappings,
      createdAt: call.now,
      updatedAt: call.now,
    });
    const created = await insertProvider(db, {
      ...createdColumns(body, workspace, call.now),
      id: newId(),
      slug,
      integrationId: integration.id,
      ownsIntegration: true,
    });
    change.touchWorkspace(workspace.id);
    change.describe({
      resourceId: created.id,
      workspaceId: workspace.id,
      after: presentVirtualKey(created, call.now),
    });
    return slug;
  });
}

export function changeVirtualKey(
  call: AdminRequest,
  reference: string,
  body: BodyOf<'virtual-keys.update'>,
  parts: IntegrationParts,
): Promise<void> {
  warnOfAddresses(call.notes, body, 'body', parts.hostRules);
  return call.change(async (change) => {
    const { db } = change;
    const before = await reachProvider(call, db, reference);
    await changeCredentials(call, change, before, body, parts);
    const changed = await updateProvider(db, before.id, changedColumns(before, body, call.now));
    await rewarnHolder(db, before.usageLimits, changed.usageLimits);
    change.touchWorkspace(before.workspaceId);
    const after = await findProviderRow(db, before.workspaceId, before.id);
    change.describe({
      resourceId: before.id,
      workspaceId: before.workspaceId,
      before: presentVirtualKey(before, call.now),
      after: after === null ? undefined : presentVirtualKey(after, call.now),
    });
  });
}

export function deleteVirtualKey(
  call: AdminRequest,
  reference: string,
  whileNamed: { force: boolean; usersOf: UsersOfProvider },
): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const provider = await reachProvider(call, db, reference);
    await refuseWhileNamed(call, db, provider, whileNamed);
    await removeProvider(db, provider);
    touchWorkspace(provider.workspaceId);
    describe({
      resourceId: provider.id,
      workspaceId: provider.workspaceId,
      before: presentVirtualKey(provider, call.now),
    });
  });
}

/** Key and settings stand in the integration; one that serves others too is changed by its own name. */
async function changeCredentials(
  call: AdminRequest,
  change: Change,
  provider: ProviderRow,
  body: BodyOf<'virtual-keys.update'>,
  parts: IntegrationParts,
): Promise<void> {
  const settings = toConfigurations(body);
  const { key, secret_mappings: sentMappings } = body;
  if (key === undefined && sentMappings === undefined && Object.keys(settings).length === 0) return;
  const { db } = change;
  const { organisationId, workspaceId, integrationId } = provider;
  const integration = await findIntegration(db, organisationId, integrationId);
  if (!provider.ownsIntegration || integration === null)
    throw new GatewayError('admin.refused', {
      message: `Its credentials belong to the integration ${provider.integration.slug}: change them there.`,
    });
  const credentials = openCredentials(parts.vault, integration);
  const stored = integration.secretMappings as unknown as SecretMapping[];
  const mappings =
    sentMappings === undefined
      ? stored
      : await mappingsOf(change, organisationId, workspaceId, body);
  const after = {
    key: key === undefined ? credentials.key : keepMasked(credentials.key, key, 'body.key'),
    configurations: mergeConfigurations(credentials.configurations, settings, bodyFieldOf),
  };
  const kept = {
    before: { ...credentials, mappings: stored },
    after: { ...after, mappings },
  };
  checkSettings(integration.aiProviderId, kept, bodyFieldOf, call.notes);
  await guardIntegration(db, parts.vault, integration.id, {
    ...kept,
    sent: body,
    nameOf: bodyFieldOf,
  });
  await updateIntegration(db, integration.id, {
    ...credentialColumns(parts.vault, integration.id, after),
    secretMappings: mappings,
    updatedAt: call.now,
  });
  for (const id of await workspacesUsing(db, integration.id)) change.touchWorkspace(id);
}

async function mappingsOf(
  { db }: Change,
  organisationId: string,
  workspaceId: string,
  body: BodyOf<'virtual-keys.update'>,
) {
  const checked = await checkMappings(
    db,
    { organisationId, workspaceId, settings: 'model_config', hasKey: true },
    body.secret_mappings ?? [],
  );
  return checked.map(toIntegrationMapping);
}
