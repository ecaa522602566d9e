import type { BodyOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import { actorOf } from '../../kernel/access/caller.ts';
import type { CredentialVault } from '../../kernel/credentials/envelope.ts';
import type { Database } from '../../kernel/database/client.ts';
import { noJson } from '../../kernel/database/no-json.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { newId } from '../../kernel/names/ids.ts';
import { findWorkspace } from '../../kernel/tenancy/find-workspace.ts';
import { requireOwnOrganisation } from '../../kernel/tenancy/target-workspace.ts';
import { authConfigColumns, mergedAuthConfig, presentSettings } from './auth-config.ts';
import { presentSecretReferenceDetail } from './present.ts';
import {
  countUses,
  findSecretReference,
  insertSecretReference,
  isSlugTaken,
  listAllowedWorkspaces,
  removeSecretReference,
  replaceAllowedWorkspaces,
  type SecretReferenceRow,
  updateSecretReference,
} from './store.ts';

/** The reference a path names, among those of the caller's organisation. */
export async function reachSecretReference(
  call: AdminRequest,
  db: Database,
  reference: string,
): Promise<SecretReferenceRow> {
  const row = await findSecretReference(db, call.caller.organisationId, reference);
  if (row === null) throw new GatewayError('admin.not_found');
  return row;
}

export function createSecretReference(
  call: AdminRequest,
  body: BodyOf<'secret-references.create'>,
  vault: CredentialVault,
): Promise<SecretReferenceRow> {
  requireOwnOrganisation(call.caller, body.organisation_id);
  const { organisationId } = call.caller;
  return call.change(async ({ db, describe }) => {
    const workspaces = await workspaceIds(db, organisationId, body.allowed_workspaces);
    // Published as a fault of the request, not as a conflict.
    if (body.slug !== undefined && (await isSlugTaken(db, organisationId, body.slug)))
      throw invalidField('body.slug', 'is the slug of another secret reference');
    const id = newId();
    const row = await insertSecretReference(db, {
      id,
      organisationId,
      slug: body.slug ?? generateSlug('secret-reference', body.name),
      name: body.name,
      description: body.description ?? null,
      managerType: body.manager_type,
      ...authConfigColumns(vault, id, presentSettings(body.auth_config)),
      secretPath: body.secret_path,
      secretKey: body.secret_key ?? null,
      allowAllWorkspaces: workspaces === undefined,
      tags: body.tags ?? noJson,
      createdBy: actorOf(call.caller),
      createdAt: call.now,
      updatedAt: call.now,
    });
    await replaceAllowedWorkspaces(db, id, workspaces ?? [], call.now);
    describe({ resourceId: id, after: await detailOf(db, row) });
    return row;
  });
}

export function changeSecretReference(
  call: AdminRequest,
  reference: string,
  body: BodyOf<'secret-references.update'>,
  vault: CredentialVault,
): Promise<void> {
  return call.change(async ({ db, describe }) => {
    const row = await reachSecretReference(call, db, reference);
    const before = await detailOf(db, row);
    const workspaces = await workspaceIds(db, row.organisationId, body.allowed_workspaces);
    if (body.allow_all_workspaces === false && row.allowAllWorkspaces && workspaces === undefined)
      throw invalidField(
        'body.allowed_workspaces',
        'is required when allow_all_workspaces becomes false',
      );
    const changed = await updateSecretReference(db, row.id, {
      name: body.name,
      description: body.description,
      ...(body.auth_config === undefined
        ? {}
        : authConfigColumns(vault, row.id, mergedAuthConfig(vault, row, body.auth_config))),
      secretPath: body.secret_path,
      secretKey: body.secret_key,
      allowAllWorkspaces: workspaces === undefined ? body.allow_all_workspaces : false,
      tags: body.tags === null ? noJson : body.tags,
      updatedAt: call.now,
    });
    if (workspaces !== undefined || changed.allowAllWorkspaces)
      await replaceAllowedWorkspaces(db, row.id, workspaces ?? [], call.now);
    describe({ resourceId: row.id, before, after: await detailOf(db, changed) });
  });
}

/** Refused while something takes a value from it: that would stop working without a word. */
export function deleteSecretReference(call: AdminRequest, reference: string): Promise<void> {
  return call.change(async ({ db, describe }) => {
    const row = await reachSecretReference(call, db, reference);
    const uses = await countUses(db, row);
    if (Object.values(uses).some((count) => count > 0))
      throw new GatewayError('admin.refused', {
        message: `The secret reference is in use by ${uses.integrations} integrations, ${uses.mcpIntegrations} MCP integrations and ${uses.agentIntegrations} agent integrations.`,
      });
    const before = await detailOf(db, row);
    await removeSecretReference(db, row.id);
    describe({ resourceId: row.id, before });
  });
}

export async function detailOf(db: Database, row: SecretReferenceRow) {
  return presentSecretReferenceDetail(row, await listAllowedWorkspaces(db, row.id));
}

/** Ids of the workspaces named, without repetitions; undefined when none is asked for. */
async function workspaceIds(
  db: Database,
  organisationId: string,
  references: readonly string[] | undefined,
): Promise<string[] | undefined> {
  if (references === undefined) return undefined;
  const ids = new Set<string>();
  for (const [index, reference] of references.entries()) {
    const workspace = await findWorkspace(db, organisationId, reference);
    if (workspace === null)
      throw invalidField(
        `body.allowed_workspaces[${index}]`,
        'is no workspace of this organisation',
      );
    ids.add(workspace.id);
  }
  return [...ids];
}
