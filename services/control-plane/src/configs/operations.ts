import {
  type CreateConfigBody,
  parseConfigDocument,
  type UpdateConfigBody,
} from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { actorOf } from '../authentication/caller.ts';
import type { Database } from '../database/client.ts';
import type { AdminCall } from '../http/operation.ts';
import { invalidField } from '../http/parse-input.ts';
import { namedWorkspace, requireWorkspace, targetWorkspace } from '../http/target-workspace.ts';
import { generateSlug } from '../slugs/generate-slug.ts';
import {
  appendVersion,
  type ConfigRow,
  clearDefault,
  countUses,
  currentVersion,
  findConfig,
  findConfigsOfOrganisation,
  insertConfig,
  removeConfig,
} from './store.ts';

/** The config a path names. An organisation key may leave out the workspace while the slug is unambiguous. */
export async function reachConfig(
  call: AdminCall,
  db: Database,
  reference: string,
): Promise<ConfigRow> {
  const workspace = await targetWorkspace(db, call.caller, namedWorkspace(call.body, call.query));
  if (workspace !== undefined) {
    const config = await findConfig(db, workspace.id, reference);
    if (config === null) throw new GatewayError('admin.not_found');
    return config;
  }
  const [config, another] = await findConfigsOfOrganisation(
    db,
    call.caller.organisationId,
    reference,
  );
  if (config === undefined) throw new GatewayError('admin.not_found');
  if (another !== undefined)
    throw invalidField(
      'query.workspace_id',
      'is required: several workspaces have a config with this slug',
    );
  return config;
}

export function createConfig(
  call: AdminCall,
  body: CreateConfigBody,
): Promise<{ id: string; slug: string; versionId: string }> {
  const document = checkedDocument(body.config);
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const workspace = await requireWorkspace(
      db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    const isDefault = body.isDefault ?? body.is_default ?? false;
    if (isDefault) await clearDefault(db, workspace.id);
    const { config, versionId } = await insertConfig(
      db,
      {
        organisationId: workspace.organisationId,
        workspaceId: workspace.id,
        slug: generateSlug('config', body.name),
        isDefault,
      },
      {
        name: body.name,
        status: 'active',
        body: document,
        actor: actorOf(call.caller),
        now: call.now,
      },
    );
    touchWorkspace(workspace.id);
    describe({
      resourceId: config.id,
      workspaceId: workspace.id,
      detail: { slug: config.slug, version_id: versionId },
    });
    return { id: config.id, slug: config.slug, versionId };
  });
}

/** Every change is a version; what the body leaves out is taken from the one before. */
export function changeConfig(
  call: AdminCall,
  reference: string,
  body: UpdateConfigBody,
): Promise<string> {
  const document = body.config === undefined ? undefined : checkedDocument(body.config);
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const config = await reachConfig(call, db, reference);
    const before = await currentVersion(db, config);
    const isDefault = body.isDefault ?? body.is_default ?? config.isDefault;
    if (isDefault && !config.isDefault) await clearDefault(db, config.workspaceId);
    const versionId = await appendVersion(db, config, isDefault, {
      name: body.name ?? config.name,
      status: body.status ?? config.status,
      body: document ?? before.body,
      actor: actorOf(call.caller),
      now: call.now,
    });
    touchWorkspace(config.workspaceId);
    describe({
      resourceId: config.id,
      workspaceId: config.workspaceId,
      detail: { slug: config.slug, version_id: versionId },
    });
    return versionId;
  });
}

/** A key or workspace that names the config would silently lose what it enforces, so it is refused while one does. */
export function deleteConfig(call: AdminCall, reference: string): Promise<void> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const config = await reachConfig(call, db, reference);
    const uses = await countUses(db, config.id);
    if (uses.workspaces > 0)
      throw new GatewayError('admin.refused', {
        message: 'The config is the default of its workspace’s user keys.',
      });
    if (uses.keys > 0)
      throw new GatewayError('admin.refused', {
        message: `The config is the default of ${uses.keys} API key(s).`,
      });
    await removeConfig(db, config.id);
    touchWorkspace(config.workspaceId);
    describe({
      resourceId: config.id,
      workspaceId: config.workspaceId,
      detail: { slug: config.slug },
    });
  });
}

function checkedDocument(document: Record<string, unknown>): string {
  const result = parseConfigDocument(document, 'refuse');
  if (!result.ok)
    throw new GatewayError('admin.validation', {
      message: `The config is not valid: ${result.faults[0] ?? ''}`,
      field: `body.${result.field}`,
      faults: result.faults,
    });
  return JSON.stringify(document);
}
