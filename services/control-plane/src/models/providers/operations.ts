import type { BodyOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { newId } from '../../kernel/names/ids.ts';
import { namedWorkspace, requireWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { rewarnHolder } from '../../limits/usage-limits/rewarn-holder.ts';
import { findGrant, findIntegration } from '../integrations/store.ts';
import { changedColumns, createdColumns } from './columns.ts';
import { refuseWhileNamed, type UsersOfProvider } from './in-use.ts';
import { presentProvider } from './present.ts';
import {
  findProviderRow,
  insertProvider,
  type ProviderRow,
  removeProvider,
  updateProvider,
} from './store.ts';

/** The provider a path names, in the caller's workspace or the one they name. */
export async function reachProvider(
  call: AdminRequest,
  db: Database,
  reference: string,
): Promise<ProviderRow> {
  const workspace = await requireWorkspace(db, call.caller, namedWorkspace(call.body, call.query));
  const provider = await findProviderRow(db, workspace.id, reference);
  if (provider === null) throw new GatewayError('admin.not_found');
  return provider;
}

export function createProvider(
  call: AdminRequest,
  body: BodyOf<'providers.create'>,
): Promise<{ id: string; slug: string }> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const workspace = await requireWorkspace(
      db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    const created = await insertProvider(db, {
      ...createdColumns(body, workspace, call.now),
      id: newId(),
      slug: body.slug ?? generateSlug('provider', body.name),
      integrationId: await usableIntegration(db, workspace, body.integration_id),
    });
    touchWorkspace(workspace.id);
    describe({
      resourceId: created.id,
      workspaceId: workspace.id,
      after: presentProvider(created, call.now),
    });
    return { id: created.id, slug: created.slug };
  });
}

export function changeProvider(
  call: AdminRequest,
  reference: string,
  body: BodyOf<'providers.update'>,
): Promise<{ id: string; slug: string }> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const before = await reachProvider(call, db, reference);
    const after = await updateProvider(db, before.id, changedColumns(before, body, call.now));
    await rewarnHolder(db, before.usageLimits, after.usageLimits);
    touchWorkspace(before.workspaceId);
    describe({
      resourceId: before.id,
      workspaceId: before.workspaceId,
      before: presentProvider(before, call.now),
      after: presentProvider(after, call.now),
    });
    return { id: before.id, slug: before.slug };
  });
}

export function deleteProvider(
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
      before: presentProvider(provider, call.now),
    });
  });
}

/** An active integration of the workspace itself, or one of the organisation that is open to it. */
async function usableIntegration(
  db: Database,
  workspace: { id: string; organisationId: string },
  reference: string,
): Promise<string> {
  const integration = await findIntegration(db, workspace.organisationId, reference);
  const refuse = (message: string) => invalidField('body.integration_id', message);
  if (
    integration === null ||
    (integration.workspaceId !== null && integration.workspaceId !== workspace.id)
  )
    throw refuse('is no integration of the workspace');
  if (
    integration.workspaceId === null &&
    (await findGrant(db, integration, workspace.id))?.enabled !== true
  )
    throw refuse('is not open to this workspace');
  if (integration.status !== 'active') throw refuse('is archived');
  return integration.id;
}
