import { invalidToken } from '@sluice/jwt';
import type { Exchange } from '../exchange/exchange.ts';
import type { ConfigStore } from '../held/config-store.ts';
import { admit } from '../pipeline/stages/authenticate.ts';
import type { AccessTokens, McpIdentity } from './access-tokens.ts';
import type { McpAddress } from './address.ts';

export interface AuthenticateCallerParts {
  /** For keys and JWTs of organisations. */
  readonly letIn: (exchange: Exchange) => void | Promise<void>;
  readonly store: Pick<ConfigStore, 'bundle'>;
  readonly tokens: AccessTokens;
}

/**
 * Who calls an MCP server: by a key, a JWT of their organisation, or an access token that a client was given for this very server.
 * Fills in the exchange's key, bundle and metadata.
 * @returns what a token allows; undefined = a key or a JWT, which the scopes of MCP do not narrow
 */
export type AuthenticateCaller = (
  exchange: Exchange,
  at: AskedAt,
) => Promise<McpIdentity | undefined> | undefined;

interface AskedAt {
  readonly base: string | undefined;
  readonly address: McpAddress;
}

export function authenticateCaller(parts: AuthenticateCallerParts): AuthenticateCaller {
  const { letIn, store, tokens } = parts;
  return (exchange, { base, address }) => {
    const secret = exchange.arrival.caller.serviceKey;
    if (secret !== undefined && base !== undefined && tokens.isOurs(secret, base))
      return byToken(exchange, secret, base, address);
    return letIn(exchange)?.then(() => undefined);
  };

  async function byToken(exchange: Exchange, secret: string, base: string, address: McpAddress) {
    const identity = await tokens.verify(secret, base, `${base}${address.path}`);
    await admit(exchange, identity.key, store);
    const server = exchange.bundle?.mcpServer(address.server);
    // A slug may have been given to another server since.
    if (server !== undefined && server.source.id !== identity.serverId)
      throw invalidToken('The token is for the MCP server that had this name before.');
    return identity;
  }
}
