import type { BodyOf } from '@sluice/contracts/admin';
import { GatewayError, invalidField } from '@sluice/errors';
import type { Prisma } from '../../generated/prisma/client.ts';
import type { Change } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import type { AdminRequest } from '../../kernel/http/operation.ts';
import { mcpKind } from '../mcp-integrations/kind.ts';
import { checkedPolicy } from '../mcp-integrations/policy.ts';
import { createServer, renameServer } from '../registry/servers.ts';

type Body = BodyOf<'mcp-servers.update'>;

/** Made of an integration: of other servers is what no gateway serves yet. */
export async function createMcpServer(
  call: AdminRequest,
  body: BodyOf<'mcp-servers.create'>,
): Promise<{ id: string; slug: string }> {
  requireServed(body);
  const { mcp_integration_id: integration } = body;
  if (integration === undefined) throw invalidField('body.mcp_integration_id', 'is required');
  const also = ({ db }: Change, id: string) => setPolicy(db, id, body);
  return createServer(call, mcpKind, body, integration, also);
}

export async function changeMcpServer(
  call: AdminRequest,
  reference: string,
  body: Body,
): Promise<void> {
  requireServed(body);
  return renameServer(call, mcpKind, reference, body, ({ db }, { id }) => setPolicy(db, id, body));
}

/** @throws 400 for what would be stored and done by nobody */
function requireServed({ members, prefix, exposure }: Body): void {
  const field =
    members !== undefined
      ? 'members'
      : prefix !== undefined
        ? 'prefix'
        : exposure === 'search'
          ? 'exposure'
          : undefined;
  if (field === undefined) return;
  throw new GatewayError('admin.not_served', {
    field: `body.${field}`,
    message:
      field === 'exposure'
        ? 'body.exposure: lists that are searched are not served in this release; "all" is.'
        : `body.${field}: merged servers are not served in this release.`,
  });
}

async function setPolicy(
  db: Database,
  id: string,
  { policy }: Pick<Body, 'policy'>,
): Promise<void> {
  if (policy === undefined) return;
  const data = { policy: checkedPolicy(policy) as Prisma.InputJsonObject };
  await db.mcpServer.update({ where: { id }, data });
}

/** @throws 400 where only what is behind a server can answer */
export function requireIntegration<T>(integration: T | null): T {
  if (integration === null)
    throw new GatewayError('admin.refused', {
      message: 'This server is made of others: ask each of them.',
    });
  return integration;
}
