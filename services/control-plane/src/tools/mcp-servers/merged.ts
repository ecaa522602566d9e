import type { BodyOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { McpServer, Prisma } from '../../generated/prisma/client.ts';
import { actorOf } from '../../kernel/access/caller.ts';
import type { Change } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { generateSlug } from '../../kernel/names/generate-slug.ts';
import { newId } from '../../kernel/names/ids.ts';
import { namedWorkspace, requireWorkspace } from '../../kernel/tenancy/target-workspace.ts';
import { mcpKind } from '../mcp-integrations/kind.ts';
import { checkedPolicy, requirePolicyGuardrails } from '../mcp-integrations/policy.ts';
import type { UserSignIns } from '../registry/registry.ts';
import { changeServer, createServer, reachServer, renameServer } from '../registry/servers.ts';
import { findServer, removeServer } from '../registry/servers-store.ts';

type Body = BodyOf<'mcp-servers.update'>;
type Member = NonNullable<Body['members']>[number];

/** Made of an integration, or of other servers of its workspace. */
export function createMcpServer(
  call: AdminRequest,
  body: BodyOf<'mcp-servers.create'>,
): Promise<{ id: string; slug: string }> {
  const { members, mcp_integration_id: integration } = body;
  if (members !== undefined) return createMerged(call, body, members);
  if (integration === undefined) throw invalidField('body.mcp_integration_id', 'is required');
  refuseFieldsOfMerged(body, undefined);
  const also = ({ db }: Change, id: string) => setOwn(db, id, body);
  return createServer(call, mcpKind, body, integration, also);
}

export function changeMcpServer(call: AdminRequest, reference: string, body: Body): Promise<void> {
  return renameServer(call, mcpKind, reference, body, async ({ db }, server) => {
    const isMerged = server.integrationId === null;
    if (!isMerged) refuseFieldsOfMerged(body, server.prefix);
    else if (body.members?.length === 0)
      throw invalidField('body.members', 'must name at least one server');
    await setOwn(db, server.id, body);
    if (isMerged && body.members !== undefined)
      await setMembers(db, server.id, await checkedMembers(call, db, server, body.members));
  });
}

function createMerged(
  call: AdminRequest,
  body: BodyOf<'mcp-servers.create'>,
  members: readonly Member[],
): Promise<{ id: string; slug: string }> {
  return call.change(async ({ db, describe, touchWorkspace }) => {
    const workspace = await requireWorkspace(
      db,
      call.caller,
      namedWorkspace(call.body, call.query),
    );
    const id = newId();
    const slug = body.slug ?? generateSlug('mcp-server', body.name);
    const { organisationId } = call.caller;
    const owner = { id, organisationId, workspaceId: workspace.id };
    await db.mcpServer.create({
      data: {
        ...owner,
        slug,
        name: body.name,
        description: body.description ?? null,
        members: await checkedMembers(call, db, owner, members),
        ownerId: actorOf(call.caller),
        createdAt: call.now,
        updatedAt: call.now,
      },
    });
    await setOwn(db, id, body);
    touchWorkspace(workspace.id);
    const made = await reachServer(call, db, mcpKind, id);
    describe({ resourceId: id, workspaceId: workspace.id, after: mcpKind.presentServer(made) });
    return { id, slug };
  });
}

/**
 * Of a server that is made of an integration, which shows no members and the prefix that all begin with.
 * @param shown the prefix that it shows
 * @throws 400 for what only a merged server has
 */
function refuseFieldsOfMerged(body: Body, shown: string | undefined): void {
  const isOfMerged = {
    members: (body.members?.length ?? 0) > 0,
    prefix: body.prefix !== undefined && body.prefix !== shown,
  };
  for (const field of ['members', 'prefix'] as const)
    if (isOfMerged[field])
      throw invalidField(`body.${field}`, 'is only for a server that is made of others');
}

async function setOwn(
  db: Database,
  id: string,
  { prefix, exposure, policy }: Pick<Body, 'prefix' | 'exposure' | 'policy'>,
): Promise<void> {
  if (prefix === undefined && exposure === undefined && policy === undefined) return;
  const data: Prisma.McpServerUpdateInput = {
    ...(prefix === undefined ? {} : { prefix }),
    ...(exposure === undefined ? {} : { exposure }),
    ...(policy === undefined ? {} : { policy: checkedPolicy(policy) as Prisma.InputJsonObject }),
  };
  const server = await db.mcpServer.update({ where: { id }, data });
  await requirePolicyGuardrails(db, server, policy);
}

/** Not while others are made of it: their callers would miss it without a word. @throws 400 that names them */
/** What users signed in with is revoked at the server that gave it. */
export async function deleteMcpServer(
  call: AdminRequest,
  connections: UserSignIns,
  reference: string,
): Promise<void> {
  let revoke = async () => {};
  await changeServer(call, mcpKind, reference, async ({ db }, server) => {
    const { id, workspaceId, integration } = server;
    const merged = await db.mcpServer.findMany({
      where: { workspaceId, members: { array_contains: [{ server_id: id }] } },
      select: { slug: true },
      orderBy: { slug: 'asc' },
      take: shownMax + 1,
    });
    if (merged.length > 0) {
      const slugs = merged.slice(0, shownMax).map(({ slug }) => slug);
      const names = `${slugs.join(', ')}${merged.length > shownMax ? ', …' : ''}`;
      throw new GatewayError('admin.refused', {
        message: `This server is a member of others: take it out of ${names} first.`,
      });
    }
    if (integration !== null) revoke = await connections.revocableOfAll(integration, id);
    await removeServer(db, mcpKind, id);
  });
  await revoke();
}

const shownMax = 10;

async function setMembers(db: Database, id: string, members: Prisma.InputJsonArray): Promise<void> {
  await db.mcpServer.update({ where: { id }, data: { members } });
}

/**
 * Members by their ids, in the order they were given. Servers that are merged
 * themselves are none, so that there are no rings.
 * @throws 400
 */
async function checkedMembers(
  { caller }: AdminRequest,
  db: Database,
  merged: Pick<McpServer, 'id' | 'workspaceId'>,
  members: readonly Member[],
): Promise<Prisma.InputJsonArray> {
  const ids = new Map<string, Member>();
  for (const [index, member] of members.entries()) {
    const field = `body.members[${index}].server_id`;
    const server = await findServer(db, mcpKind, caller.organisationId, member.server_id);
    if (server === null || server.workspaceId !== merged.workspaceId)
      throw invalidField(field, 'is no server of this workspace');
    if (server.integrationId === null)
      throw invalidField(field, 'is made of other servers itself: name those');
    if (ids.has(server.id)) throw invalidField(field, 'is a member already');
    ids.set(server.id, member);
  }
  return [...ids].map(([server_id, { tools = [] }]) => ({ server_id, tools }));
}

/** @throws 400 where only what is behind a server can answer */
export function requireIntegration<T>(integration: T | null): T {
  if (integration === null)
    throw new GatewayError('admin.refused', {
      message: 'This server is made of others: ask each of them.',
    });
  return integration;
}
