import type { AnswerOf, BodyOf, QueryOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { Change } from '../../kernel/database/change.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { instant } from '../../kernel/http/shapes.ts';
import { listActiveWorkspaces } from '../../kernel/tenancy/list-active-workspaces.ts';
import { type GrantRow, globalAccessColumn, listGrants, setGrants } from './grants-store.ts';
import { changeReached, reachIntegration } from './integrations.ts';
import { updateIntegration } from './integrations-store.ts';
import { presentGlobalAccess } from './present.ts';
import type { Registry } from './registry.ts';
import type { RegistryKind } from './registry-kind.ts';
import type { IntegrationRow, KindTypes } from './tables.ts';

/** Where an integration may be used. A workspace does not learn who else uses it. */
export async function listWorkspaces(
  call: AdminRequest,
  kind: RegistryKind,
  reference: string,
  query: QueryOf<'mcp-integrations.workspaces.list'>,
): Promise<AnswerOf<'mcp-integrations.workspaces.list'>> {
  const row = await reachIntegration(call, call.db, kind, reference);
  const { workspaceId, namedWorkspaceId } = call.caller;
  const found = await listGrants(call.db, kind, row, workspaceId ?? namedWorkspaceId, query);
  // Published: organisation keys know workspaces by id here, their own keys by slug.
  const data = found.rows.map((grant) =>
    presentGrant(grant, workspaceId === undefined ? grant.workspaceId : grant.workspace.slug),
  );
  const global_workspace_access = presentGlobalAccess(row);
  return query.version === undefined
    ? { workspaces: data, global_workspace_access }
    : { data, total: found.total, global_workspace_access };
}

function presentGrant(grant: GrantRow, id: string) {
  return {
    id,
    enabled: grant.enabled,
    status: grant.enabled ? 'active' : 'archived',
    created_at: instant(grant.createdAt),
    last_updated_at: instant(grant.updatedAt),
  };
}

/**
 * Opens and closes an organisation's integration to workspaces. With
 * `override_existing_workspace_access` all others get what new ones get.
 */
export function changeWorkspaces<K extends KindTypes>(
  call: AdminRequest,
  registry: Registry<K>,
  reference: string,
  body: BodyOf<'mcp-integrations.workspaces.update'>,
): Promise<void> {
  const work = async (change: Change, row: IntegrationRow<K>) => {
    if (row.workspaceId !== null)
      throw new GatewayError('admin.refused', {
        message: 'This integration belongs to one workspace.',
      });
    const changed = await updateIntegration(change.db, registry.kind, row.id, {
      globalAccess: globalAccessColumn(body.global_workspace_access),
      updatedAt: call.now,
    });
    await openAndClose(change, registry.kind, changed, body, call.now);
    change.describe({ detail: { slug: row.slug, workspaces: body.workspaces } });
    return changed;
  };
  return changeReached(call, registry, reference, work, async (db, row) => {
    const { rows } = await listGrants(db, registry.kind, row, undefined, {
      currentPage: 0,
      pageSize: 1000,
    });
    return {
      global_workspace_access: presentGlobalAccess(row),
      workspaces: rows.map((grant) => presentGrant(grant, grant.workspaceId)),
    };
  });
}

async function openAndClose(
  { db, touchWorkspace }: Change,
  kind: RegistryKind,
  integration: IntegrationRow,
  body: BodyOf<'mcp-integrations.workspaces.update'>,
  now: Date,
): Promise<void> {
  const workspaces = await listActiveWorkspaces(db, integration.organisationId);
  const wanted = new Map<string, boolean>();
  if (body.override_existing_workspace_access) {
    const enabled = presentGlobalAccess(integration)?.enabled === true;
    for (const { id } of workspaces) wanted.set(id, enabled);
  }
  const taken = new Set<string>();
  for (const [index, { id: reference, enabled }] of body.workspaces.entries()) {
    const named = workspaces.find(
      ({ id, slug }) => [id, slug].includes(reference.toLowerCase()) || slug === reference,
    );
    if (named === undefined)
      throw invalidField(`body.workspaces[${index}].id`, 'is no workspace of this organisation');
    if (taken.has(named.id)) throw invalidField(`body.workspaces[${index}].id`, 'is named twice');
    taken.add(named.id);
    wanted.set(named.id, enabled);
  }
  for (const enabled of [true, false]) {
    const ids = [...wanted].filter(([, value]) => value === enabled).map(([id]) => id);
    await setGrants(db, kind, integration.id, ids, { enabled, now });
  }
  for (const id of wanted.keys()) touchWorkspace(id);
}
