import { hashServiceKey, issuerLoginSecret } from '@sluice/contracts';
import type { config } from '@sluice/proto-stubs';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { isUuid } from '../kernel/names/ids.ts';
import type { Grants } from './grants.ts';
import { personOfUser } from './person.ts';
import { findIssuedServer, findUserNamed, listServersAt } from './store.ts';

export interface IssuerLoginParts {
  client: DatabaseClient;
  grants: Grants;
  pepper: Buffer;
  now: () => Date;
}

/** Of one address; who needs more names the workspace. */
export const serversAtMax = 20;
const textMax = 2_048;

/** People whom an organisation's own authorisation server knows (`external_auth_config`), as gateways tell of them: their tokens are verified there. */
export class IssuerLogins {
  readonly #parts: IssuerLoginParts;

  constructor(parts: IssuerLoginParts) {
    this.#parts = parts;
  }

  async servers({ workspaceSlug, serverSlug }: config.FindIssuerServersRequest) {
    const workspace = workspaceSlug === '' ? undefined : workspaceSlug;
    const at = { workspace, server: serverSlug };
    const rows = await listServersAt(this.#parts.client, at, serversAtMax);
    return {
      servers: rows.map(({ serverId, workspaceId, issuer, scope }) => ({
        serverId,
        workspaceId,
        issuer: issuer ?? '',
        scope: scope ?? '',
      })),
    };
  }

  /** What is refused is an answer. No user and no key is made. */
  async enter(asked: config.EnterByIssuerRequest): Promise<{ refused: string }> {
    const { client, grants, pepper, now } = this.#parts;
    const { serverId, issuer, subject, user, clientId, resource, scope, clientIp } = asked;
    const texts = [issuer, subject, user, clientId, resource, scope];
    const server = isUuid(serverId) ? await findIssuedServer(client, serverId) : undefined;
    if (server?.issuer !== issuer || texts.some((text) => text.length > textMax))
      return { refused: 'This MCP server takes no tokens of this issuer.' };
    const { organisationId, workspaceId } = server;
    const userId = await findUserNamed(client, organisationId, user);
    if (userId === undefined)
      return {
        refused:
          'The token is of nobody whom the organisation of this MCP server has as a user: an administrator can invite them.',
      };
    const person = await personOfUser(client, { userId, workspaceId }, now());
    if (person === undefined)
      return {
        refused:
          'The user of this token has no user key of the workspace with the scope mcp.invoke, by which they could use its MCP servers: an administrator can make one.',
      };
    const hash = hashServiceKey(issuerLoginSecret(asked), pepper);
    const of = { clientId, resource, serverId: server.serverId, scope, issuer };
    await grants.enter(person, of, hash, clientIp);
    return { refused: '' };
  }
}
