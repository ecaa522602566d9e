import type { CreateWorkspaceBody, UpdateWorkspaceBody } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { insertDefaultCollection } from '../collections/store.ts';
import { findConfig } from '../configs/store.ts';
import { newId } from '../database/ids.ts';
import type { AdminCall } from '../http/operation.ts';
import { invalidField } from '../http/parse-input.ts';
import { grantGlobalIntegrations } from '../integrations/grants.ts';
import { grantGlobalAccess } from '../registries/grants-store.ts';
import { generateSlug } from '../slugs/generate-slug.ts';
import {
  countContents,
  findWorkspaceOfAnyStatus,
  insertMembers,
  insertWorkspace,
  knownUserIds,
  removeContents,
  updateWorkspace,
  type WorkspaceRow,
} from './store.ts';

/** Creates a workspace and gives it what the organisation gives every new one. */
export function createWorkspace(call: AdminCall, body: CreateWorkspaceBody): Promise<WorkspaceRow> {
  return call.change(async ({ db, describe, touchOrganisation }) => {
    const { organisationId } = call.caller;
    const users = body.users ?? [];
    const known = await knownUserIds(
      db,
      organisationId,
      users.map((user) => user.id),
    );
    const stranger = users.findIndex((user) => !known.has(user.id));
    if (stranger >= 0)
      throw invalidField(`body.users[${stranger}]`, 'is no user of this organisation');
    const workspace = await insertWorkspace(db, {
      id: newId(),
      organisationId,
      slug: generateSlug('workspace', body.name),
      name: body.name,
      description: body.description ?? null,
      metadata: textMetadata(body.defaults?.metadata),
      usageLimits: body.usage_limits ?? [],
      rateLimits: body.rate_limits ?? [],
      createdAt: call.now,
      updatedAt: call.now,
    });
    await insertMembers(db, workspace.id, users);
    await insertDefaultCollection(db, workspace, call.now);
    await grantGlobalIntegrations(db, workspace, call.now);
    await grantGlobalAccess(db, workspace, call.now);
    touchOrganisation();
    describe({ resourceId: workspace.id, workspaceId: workspace.id });
    return workspace;
  });
}

/** The workspace a path names, if the caller may look at it. Archived ones are shown to organisation keys. */
export async function reachWorkspace(call: AdminCall, db: AdminCall['db'], reference: string) {
  const { caller } = call;
  const workspace = await findWorkspaceOfAnyStatus(db, caller.organisationId, reference);
  if (workspace === null) throw new GatewayError('admin.not_found');
  if (caller.workspaceId !== undefined && workspace.id !== caller.workspaceId)
    throw new GatewayError('auth.missing_scope', {
      message: 'This key belongs to another workspace.',
    });
  return workspace;
}

export function changeWorkspace(
  call: AdminCall,
  reference: string,
  body: UpdateWorkspaceBody,
): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const workspace = await reachActive(call, db, reference);
    const defaults = body.defaults ?? {};
    refuseGuardrails('body.defaults.input_guardrails', defaults.input_guardrails);
    refuseGuardrails('body.defaults.output_guardrails', defaults.output_guardrails);
    await updateWorkspace(db, workspace.id, {
      name: body.name,
      description: body.description,
      metadata:
        body.defaults === null || defaults.metadata === null
          ? {}
          : defaults.metadata && textMetadata(defaults.metadata),
      userApiKeyConfigId: await configId(db, workspace, defaults.user_api_key_config),
      inputGuardrails: defaults.input_guardrails === undefined ? undefined : [],
      outputGuardrails: defaults.output_guardrails === undefined ? undefined : [],
      usageLimits: body.usage_limits === null ? [] : body.usage_limits,
      rateLimits: body.rate_limits === null ? [] : body.rate_limits,
      updatedAt: call.now,
    });
    touchWorkspace(workspace.id);
    describe({ resourceId: workspace.id, workspaceId: workspace.id });
  });
}

/** Archives the workspace; everything people built in it must be gone before. */
export function deleteWorkspace(call: AdminCall, reference: string): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace, touchKey, touchOrganisation }) => {
    const workspace = await reachActive(call, db, reference);
    if (workspace.isDefault)
      throw new GatewayError('admin.refused', {
        message: 'The default workspace cannot be deleted.',
      });
    const contents = Object.entries(await countContents(db, workspace.id)).filter(
      ([, count]) => count > 0,
    );
    if (contents.length > 0)
      throw new GatewayError('admin.refused', {
        message: `The workspace still holds ${contents.map(([kind, count]) => `${count} ${kind}`).join(' and ')}.`,
      });
    for (const key of await removeContents(db, workspace.id, call.now)) touchKey(key);
    await updateWorkspace(db, workspace.id, { status: 'archived', updatedAt: call.now });
    touchWorkspace(workspace.id);
    touchOrganisation();
    describe({ resourceId: workspace.id, workspaceId: workspace.id });
  });
}

async function reachActive(call: AdminCall, db: AdminCall['db'], reference: string) {
  const workspace = await reachWorkspace(call, db, reference);
  if (workspace.status !== 'active') throw new GatewayError('admin.not_found');
  return workspace;
}

async function configId(
  db: AdminCall['db'],
  workspace: WorkspaceRow,
  reference: string | null | undefined,
) {
  if (reference === undefined || reference === null) return reference;
  const config = await findConfig(db, workspace.id, reference);
  if (config === null)
    throw invalidField('body.defaults.user_api_key_config', 'is no config of this workspace');
  return config.id;
}

/** There are no guardrails yet, so none can be a default. */
function refuseGuardrails(field: string, list: readonly string[] | null | undefined): void {
  if (list !== undefined && list !== null && list.length > 0)
    throw invalidField(`${field}[0]`, 'is no guardrail of this workspace');
}

/** Metadata travels in headers, where everything is text. */
export function textMetadata(
  metadata: Readonly<Record<string, unknown>> | null | undefined,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata ?? {}).map(([key, value]) => [key, String(value)]),
  );
}
