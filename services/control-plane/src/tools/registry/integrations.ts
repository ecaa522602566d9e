import type { QueryOf, SecretMapping, SecretMappingBody } from '@sluice/contracts/admin';
import { GatewayError } from '@sluice/errors';
import { actorOf } from '../../kernel/access/caller.ts';
import type { Change } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { newId } from '../../kernel/names/ids.ts';
import { visibleLevel } from '../../kernel/tenancy/levels.ts';
import {
  isElsewhere,
  namedWorkspace,
  requireOwnOrganisation,
  targetWorkspace,
} from '../../kernel/tenancy/target-workspace.ts';
import { checkMappings } from '../../models/secret-references/mappings.ts';
import {
  configurationColumns,
  guardConfigurations,
  leadsToTheSame,
  mergeConfigurations,
  openConfigurations,
} from './configurations.ts';
import { isOpenTo } from './grants-store.ts';
import {
  findIntegration,
  insertIntegration,
  listIntegrations,
  removeIntegration,
  serversOf,
  updateIntegration,
} from './integrations-store.ts';
import { levelOf } from './present.ts';
import { type Registry, requireUsableIssuer, requireUsableUrl } from './registry.ts';
import type { RegistryKind } from './registry-kind.ts';
import type { Configurations, IntegrationRow, KindTypes } from './tables.ts';

/** What may be said of every integration, when it is made and later. */
interface IntegrationFields {
  name?: string | undefined;
  url?: string | undefined;
  auth_type?: string | undefined;
  description?: string | null | undefined;
  configurations?: Configurations | null | undefined;
  secret_mappings?: SecretMappingBody[] | null | undefined;
}

interface NewIntegrationFields extends IntegrationFields {
  name: string;
  url: string;
  slug?: string | undefined;
  organisation_id?: string | undefined;
}

/** The integration a path names, if it is in reach and of a level whose scopes the caller holds. */
export async function reachIntegration<K extends KindTypes>(
  call: AdminRequest,
  db: Database,
  kind: RegistryKind<K>,
  reference: string,
): Promise<IntegrationRow<K>> {
  const { caller } = call;
  const integration = await findIntegration(db, kind, caller.organisationId, reference);
  if (integration === null || isElsewhere(caller, integration))
    throw new GatewayError('admin.not_found');
  if (
    caller.workspaceId !== undefined &&
    !(await isOpenTo(db, kind, integration, caller.workspaceId))
  )
    throw new GatewayError('auth.missing_scope', {
      message: 'The integration is not in the workspace of this key.',
    });
  call.permit(levelOf(integration.workspaceId));
  return integration;
}

/** Own ones and granted ones of a workspace, or all of the organisation. */
export async function listReachable<K extends KindTypes>(
  call: AdminRequest,
  kind: RegistryKind<K>,
  query: QueryOf<'mcp-integrations.list'>,
) {
  requireOwnOrganisation(call.caller, query.organisation_id);
  const workspace = await targetWorkspace(
    call.db,
    call.caller,
    namedWorkspace(undefined, call.query),
  );
  const filter = {
    organisationId: call.caller.organisationId,
    workspaceId: workspace?.id,
    type: visibleLevel(call, query.type),
    search: query.search,
  };
  return listIntegrations(call.db, kind, filter, query);
}

/** @param own the columns that only this kind has. */
export function createIntegration<K extends KindTypes>(
  call: AdminRequest,
  registry: Registry<K>,
  body: NewIntegrationFields,
  own: K['created'],
  also: (change: Change, row: IntegrationRow<K>) => Promise<void> = async () => {},
): Promise<{ id: string; slug: string }> {
  const { kind, vault } = registry;
  requireOwnOrganisation(call.caller, body.organisation_id);
  requireUsableUrl(registry, body.url);
  requireUsableIssuer(registry, body.configurations);
  const configurations = mergeConfigurations({}, body.configurations);
  return call.change(async (change) => {
    const { db } = change;
    const workspace = await targetWorkspace(db, call.caller, namedWorkspace(call.body, call.query));
    call.permit(levelOf(workspace?.id));
    const id = newId();
    const owner = {
      organisationId: call.caller.organisationId,
      workspaceId: workspace?.id ?? null,
    };
    const row = await insertIntegration(db, kind, {
      ...own,
      ...owner,
      id,
      slug: body.slug ?? generateSlug(`${kind.name}-integration`, body.name),
      name: body.name,
      description: body.description ?? null,
      url: body.url,
      authType: kind.authTypeOf(body.auth_type, configurations) ?? 'none',
      ...configurationColumns(vault, kind, id, configurations),
      secretMappings: await checkedMappings(db, owner, body.secret_mappings ?? []),
      ownerId: actorOf(call.caller),
      createdAt: call.now,
      updatedAt: call.now,
    });
    await also(change, row);
    if (workspace !== undefined) change.touchWorkspace(workspace.id);
    change.describe({
      resourceId: id,
      workspaceId: workspace?.id,
      after: registry.kind.present(row),
    });
    return { id, slug: row.slug };
  });
}

export function changeIntegration<K extends KindTypes>(
  call: AdminRequest,
  registry: Registry<K>,
  reference: string,
  body: IntegrationFields,
  /** The columns that only this kind has. */
  own: (row: IntegrationRow<K>) => K['changed'],
  also: (change: Change, row: IntegrationRow<K>) => Promise<void> = async () => {},
): Promise<void> {
  const { kind, vault } = registry;
  if (body.url !== undefined) requireUsableUrl(registry, body.url);
  requireUsableIssuer(registry, body.configurations);
  return changeReached(call, registry, reference, async (change, row) => {
    const { db } = change;
    const before = openConfigurations(vault, kind, row);
    const configurations = mergeConfigurations(before, body.configurations);
    const stored = row.secretMappings as unknown as SecretMapping[];
    const mappings =
      body.secret_mappings === undefined
        ? stored
        : await checkedMappings(db, row, body.secret_mappings ?? []);
    const calling = { url: row.url, configurations: before, mappings: stored };
    const next = { url: body.url ?? row.url, configurations, mappings };
    guardConfigurations(calling, next, body);
    if (!leadsToTheSame(calling, next)) await kind.forgetSignIns(db, row.id);
    const changed = await updateIntegration(db, kind, row.id, {
      ...own(row),
      name: body.name,
      description: body.description,
      url: body.url,
      authType: kind.authTypeOf(body.auth_type, configurations),
      ...configurationColumns(vault, kind, row.id, configurations),
      secretMappings: mappings,
      updatedAt: call.now,
    });
    await also(change, changed);
    return changed;
  });
}

/** Goes with the servers made of it, in every workspace: nothing goes on using what it held. */
export function deleteIntegration<K extends KindTypes>(
  call: AdminRequest,
  registry: Registry<K>,
  reference: string,
  before: (row: IntegrationRow<K>) => Promise<void> = async () => {},
): Promise<void> {
  return changeReached(call, registry, reference, async ({ db, describe }, row) => {
    await before(row);
    const servers = await serversOf(db, registry.kind, row.id);
    await removeIntegration(db, registry.kind, row.id);
    describe({ detail: { slug: row.slug, servers: servers.map((server) => server.slug) } });
    return undefined;
  });
}

/**
 * A change of one integration, which answers with what it has become; every workspace that has a server of it hears of it.
 * @param show what the audit log says of it before and after
 */
export function changeReached<K extends KindTypes>(
  call: AdminRequest,
  registry: Registry<K>,
  reference: string,
  work: (change: Change, row: IntegrationRow<K>) => Promise<IntegrationRow<K> | undefined>,
  show: (db: Database, row: IntegrationRow<K>) => Promise<object> = async (_, row) =>
    registry.kind.present(row),
): Promise<void> {
  return call.change(async (change) => {
    const row = await reachIntegration(call, change.db, registry.kind, reference);
    // Asked before the work, which may remove the servers.
    for (const server of await serversOf(change.db, registry.kind, row.id))
      change.touchWorkspace(server.workspaceId);
    const before = await show(change.db, row);
    const changed = await work(change, row);
    change.describe({
      resourceId: row.id,
      workspaceId: row.workspaceId ?? undefined,
      before,
      after: changed && (await show(change.db, changed)),
    });
  });
}

function checkedMappings(
  db: Database,
  owner: { organisationId: string; workspaceId: string | null },
  mappings: readonly SecretMappingBody[],
) {
  const { organisationId, workspaceId } = owner;
  const holder = {
    organisationId,
    workspaceId,
    settings: 'configurations',
    hasKey: false,
  } as const;
  return checkMappings(db, holder, mappings);
}
