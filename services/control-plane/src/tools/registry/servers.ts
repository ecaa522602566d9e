import type { QueryOf } from '@sluice/contracts/admin';
import { invalidField } from '@sluice/errors';
import { actorOf } from '../../kernel/access/caller.ts';
import type { Change } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { newId } from '../../kernel/names/ids.ts';
import {
  namedWorkspace,
  requireReach,
  requireWorkspace,
  targetWorkspace,
} from '../../kernel/tenancy/target-workspace.ts';
import { isOpenTo } from './grants-store.ts';
import { findIntegration } from './integrations-store.ts';
import type { RegistryKind } from './registry-kind.ts';
import {
  findServer,
  insertServer,
  listServers,
  removeServer,
  updateServer,
} from './servers-store.ts';
import type { FoundServer, KindTypes } from './tables.ts';

/** The server a path names, if it is in reach. */
export async function reachServer<K extends KindTypes>(
  call: AdminRequest,
  db: Database,
  kind: RegistryKind<K>,
  reference: string,
): Promise<FoundServer<K>> {
  const server = await findServer(db, kind, call.caller.organisationId, reference);
  requireReach(call.caller, server);
  return server as FoundServer<K>;
}

export async function listReachableServers<K extends KindTypes>(
  call: AdminRequest,
  kind: RegistryKind<K>,
  query: QueryOf<'mcp-servers.list'>,
) {
  const workspace = await targetWorkspace(
    call.db,
    call.caller,
    namedWorkspace(undefined, call.query),
  );
  const filter = {
    organisationId: call.caller.organisationId,
    workspaceId: workspace?.id,
    references: query.id,
    search: query.search,
  };
  return listServers(call.db, kind, filter, query);
}

/** What is said of every server, whatever it is made of. */
export interface NewServerFields {
  readonly name: string;
  readonly slug?: string | undefined;
  readonly description?: string | null | undefined;
}

/**
 * Puts an integration into a workspace, which it must be open to.
 * @param also in the same change, with the id of the server
 */
export function createServer<K extends KindTypes>(
  call: AdminRequest,
  kind: RegistryKind<K>,
  body: NewServerFields,
  integration: string,
  also: (change: Change, id: string) => Promise<void> = async () => {},
): Promise<{ id: string; slug: string }> {
  return call.change(async (change) => {
    const { db, describe, touchWorkspace } = change;
    const { organisationId } = call.caller;
    const workspace = await requireWorkspace(
      db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    const found = await findIntegration(db, kind, organisationId, integration);
    if (found?.status !== 'active' || !(await isOpenTo(db, kind, found, workspace.id)))
      throw invalidField(
        `body.${kind.name}_integration_id`,
        'is no integration that is open to this workspace',
      );
    const id = newId();
    const slug = body.slug ?? generateSlug(`${kind.name}-server`, body.name);
    await insertServer(db, kind, {
      id,
      organisationId,
      workspaceId: workspace.id,
      integrationId: found.id,
      slug,
      name: body.name,
      description: body.description ?? null,
      ownerId: actorOf(call.caller),
      createdAt: call.now,
      updatedAt: call.now,
    });
    await also(change, id);
    touchWorkspace(workspace.id);
    const made = await reachServer(call, db, kind, id);
    describe({ resourceId: id, workspaceId: workspace.id, after: kind.presentServer(made) });
    return { id, slug };
  });
}

/** @param also in the same change */
export function renameServer<K extends KindTypes>(
  call: AdminRequest,
  kind: RegistryKind<K>,
  reference: string,
  body: Partial<NewServerFields>,
  also: (change: Change, server: FoundServer<K>) => Promise<void> = async () => {},
): Promise<void> {
  return changeServer(call, kind, reference, async (change, server) => {
    const { db, describe } = change;
    const { name, description } = body;
    await updateServer(db, kind, server.id, { name, description, updatedAt: call.now });
    await also(change, server);
    describe({ after: kind.presentServer(await reachServer(call, db, kind, server.id)) });
  });
}

export function deleteServer(
  call: AdminRequest,
  kind: RegistryKind,
  reference: string,
): Promise<void> {
  return changeServer(call, kind, reference, ({ db }, server) => removeServer(db, kind, server.id));
}

/** A change of one server, of which its workspace hears. */
export function changeServer<K extends KindTypes>(
  call: AdminRequest,
  kind: RegistryKind<K>,
  reference: string,
  work: (change: Change, server: FoundServer<K>) => Promise<void>,
): Promise<void> {
  return call.change(async (change) => {
    const server = await reachServer(call, change.db, kind, reference);
    change.touchWorkspace(server.workspaceId);
    change.describe({
      resourceId: server.id,
      workspaceId: server.workspaceId,
      before: kind.presentServer(server),
    });
    await work(change, server);
  });
}
