import type { CreateProviderBody, UpdateProviderBody } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { Database } from '../database/client.ts';
import { newId } from '../database/ids.ts';
import type { AdminCall } from '../http/operation.ts';
import { invalidField } from '../http/parse-input.ts';
import { namedWorkspace, requireWorkspace } from '../http/target-workspace.ts';
import { findGrant, findIntegration } from '../integrations/store.ts';
import { generateSlug } from '../slugs/generate-slug.ts';
import { noJson } from '../workspaces/store.ts';
import {
  findProviderRow,
  insertProvider,
  type ProviderRow,
  removeProvider,
  updateProvider,
} from './store.ts';

/** The provider a path names, in the caller's workspace or the one they name. */
export async function reachProvider(
  call: AdminCall,
  db: Database,
  reference: string,
): Promise<ProviderRow> {
  const workspace = await requireWorkspace(db, call.caller, namedWorkspace(call.body, call.query));
  const provider = await findProviderRow(db, workspace.id, reference);
  if (provider === null) throw new GatewayError('admin.not_found');
  return provider;
}

export function createProvider(
  call: AdminCall,
  body: CreateProviderBody,
): Promise<{ id: string; slug: string }> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const workspace = await requireWorkspace(
      db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    const integrationId = await usableIntegration(db, workspace, body.integration_id);
    const created = { id: newId(), slug: body.slug ?? generateSlug('provider', body.name) };
    await insertProvider(db, {
      ...created,
      organisationId: workspace.organisationId,
      workspaceId: workspace.id,
      integrationId,
      name: body.name,
      note: body.note ?? null,
      usageLimits: body.usage_limits ?? noJson,
      rateLimits: body.rate_limits ?? [],
      expiresAt: body.expires_at ?? null,
      createdAt: call.now,
      updatedAt: call.now,
    });
    touchWorkspace(workspace.id);
    describe({ resourceId: created.id, workspaceId: workspace.id, detail: { slug: created.slug } });
    return created;
  });
}

/** What a field leaves out stays; an explicit null clears. */
export function changeProvider(
  call: AdminCall,
  reference: string,
  body: UpdateProviderBody,
): Promise<{ id: string; slug: string }> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const provider = await reachProvider(call, db, reference);
    const creditBefore =
      (provider.usageLimits as { credit_limit?: number } | null)?.credit_limit ??
      Number.POSITIVE_INFINITY;
    const reactivates =
      body.reset_usage === true ||
      body.usage_limits === null ||
      (body.usage_limits?.credit_limit ?? 0) > creditBefore;
    await updateProvider(db, provider.id, {
      name: body.name,
      note: body.note,
      usageLimits: body.usage_limits === null ? noJson : body.usage_limits,
      rateLimits: body.rate_limits === null ? [] : body.rate_limits,
      expiresAt: body.expires_at,
      status: reactivates ? 'active' : undefined,
      lastResetAt: body.reset_usage === true ? call.now : undefined,
      updatedAt: call.now,
    });
    touchWorkspace(provider.workspaceId);
    describe({
      resourceId: provider.id,
      workspaceId: provider.workspaceId,
      detail: { slug: provider.slug },
    });
    return { id: provider.id, slug: provider.slug };
  });
}

export function deleteProvider(call: AdminCall, reference: string): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const provider = await reachProvider(call, db, reference);
    await removeProvider(db, provider.id);
    touchWorkspace(provider.workspaceId);
    describe({
      resourceId: provider.id,
      workspaceId: provider.workspaceId,
      detail: { slug: provider.slug },
    });
  });
}

/** An integration of the workspace itself, or one of the organisation that is open to it. */
async function usableIntegration(
  db: Database,
  workspace: { id: string; organisationId: string },
  reference: string,
): Promise<string> {
  const integration = await findIntegration(db, workspace.organisationId, reference);
  if (
    integration === null ||
    (integration.workspaceId !== null && integration.workspaceId !== workspace.id)
  )
    throw invalidField('body.integration_id', 'is no integration of the workspace');
  if (
    integration.workspaceId === null &&
    (await findGrant(db, integration.id, workspace.id))?.enabled !== true
  )
    throw invalidField('body.integration_id', 'is not open to this workspace');
  return integration.id;
}
