import { invalidToken } from '@sluice/jwt';
import type { Exchange } from '../exchange/exchange.ts';
import type { ConfigStore } from '../held/config-store.ts';
import { admit } from '../pipeline/stages/authenticate.ts';
import type { AccessTokens, McpIdentity } from './access-tokens.ts';
import type { McpAddress } from './address.ts';
import { type IssuerTokens, issuerNamedIn } from './issuer-tokens.ts';
import { type IssuedServer, type Issuers, issuerOf } from './issuers.ts';

export interface AuthenticateCallerParts {
  /** For keys and JWTs of organisations. */
  readonly letIn: (exchange: Exchange) => void | Promise<void>;
  readonly store: Pick<ConfigStore, 'bundle'>;
  readonly tokens: AccessTokens;
  readonly issuers: Pick<Issuers, 'at'>;
  readonly issued: IssuerTokens;
}

/**
 * Who calls an MCP server: by a key, a JWT of their organisation, or an access token that a client was given for this very server, by us
 * or by the authorisation server that it has of its own.
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
  const { letIn, store, tokens, issuers, issued } = parts;
  return (exchange, { base, address }) => {
    const secret = exchange.arrival.caller.serviceKey;
    if (secret !== undefined && base !== undefined && tokens.isOurs(secret, base))
      return byToken(exchange, secret, base, address);
    const issuer = secret === undefined ? undefined : issuerNamedIn(secret);
    if (secret !== undefined && base !== undefined && issuer !== undefined)
      return byIssuer(exchange, { secret, issuer }, base, address);
    return letIn(exchange)?.then(() => undefined);
  };

  async function byIssuer(
    exchange: Exchange,
    { secret, issuer }: { secret: string; issuer: string },
    base: string,
    address: McpAddress,
  ) {
    const [first, ...others] = await issuers.at(address, issuer);
    if (first === undefined) {
      // A JWT of the organisation, or of nobody.
      await letIn(exchange);
      return undefined;
    }
    const servers: [IssuedServer, ...IssuedServer[]] = [first, ...others];
    const brought = {
      resource: `${base}${address.path}`,
      clientIp: exchange.arrival.callerAddress(),
    };
    const identity = await issued.verify(secret, servers, brought);
    await admit(exchange, identity.key, store);
    return identity;
  }

  async function byToken(exchange: Exchange, secret: string, base: string, address: McpAddress) {
    const identity = await tokens.verify(secret, base, `${base}${address.path}`);
    await admit(exchange, identity.key, store);
    const server = exchange.bundle?.mcpServer(address.server);
    // A slug may have been given to another server since.
    if (server !== undefined && server.source.id !== identity.serverId)
      throw invalidToken('The token is for the MCP server that had this name before.');
    const other = server && issuerOf(server);
    if (other !== undefined)
      throw invalidToken(`Tokens for this MCP server are given by ${other.issuer}.`);
    return identity;
  }
}
