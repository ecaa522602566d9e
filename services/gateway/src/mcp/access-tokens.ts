import { type McpRight, mcpRightsOf } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { invalidToken, mcpTokenKeys, peekMcpToken, verifyMcpToken } from '@sluice/jwt';
import { isUuid } from '@sluice/usage';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type { ConfigStore } from '../held/config-store.ts';

/** Who a client of MCP acts for, by an access token of ours, and what it may do. */
export interface McpIdentity {
  /** Of the person, by whose key they logged in: its workspace, user, limits and metadata hold. */
  readonly key: ResolvedKey;
  /** The one server that the token is for. */
  readonly serverId: string;
  readonly clientId: string;
  /** As the token has it, with spaces between. */
  readonly scope: string;
  readonly rights: ReadonlySet<McpRight>;
  /** When the token ends, Unix ms. */
  readonly expiresAtMs: number;
}

export interface AccessTokensOptions {
  readonly store: Pick<ConfigStore, 'heldGrant' | 'findGrant'>;
  readonly now?: () => number;
  readonly tokensMax?: number;
}

/** Named in tokens, so never longer than a UUID. */
const grantIdLength = 36;

/**
 * Access tokens that the control plane gave to clients of MCP, verified here: the grant of a token is held like the secret of a key,
 * with what its signatures are checked by, and its end is heard of like that of a key. What was found good is remembered for as long as
 * that grant is held unchanged and the token lasts.
 */
export class AccessTokens {
  readonly #options: Required<AccessTokensOptions>;
  readonly #verified = new Map<string, McpIdentity>();

  constructor(options: AccessTokensOptions) {
    this.#options = { now: Date.now, tokensMax: 5_000, ...options };
  }

  get size(): number {
    return this.#verified.size;
  }

  /** Whether a credential says to be a token of this issuer; nothing is checked. */
  isOurs(credential: string, base: string): boolean {
    return this.#verified.has(credential) || peekMcpToken(credential)?.issuer === base;
  }

  /**
   * @param resource  the address of the server that is called, as its metadata document names it
   * @throws GatewayError 401 `auth.invalid_token`, saying why; 503 `auth.unavailable` when the grant is not held and cannot be asked for
   */
  async verify(token: string, base: string, resource: string): Promise<McpIdentity> {
    const grantId = peekMcpToken(token)?.grantId;
    if (grantId === undefined || grantId.length !== grantIdLength || !isUuid(grantId))
      throw invalidToken('The token names no grant.');
    const { store, now } = this.#options;
    const key = store.heldGrant(grantId) ?? (await store.findGrant(grantId));
    const grant = key?.source.mcpGrant;
    if (key === undefined || grant?.id !== grantId.toLowerCase())
      throw invalidToken('What the token was given for has ended.');
    const known = this.#verified.get(token);
    if (known?.key === key && known.expiresAtMs > now()) {
      expectResource(grant.resource, resource);
      return known;
    }
    const { scope, audience, issuer, subject, clientId, expiresAtMs } = await verifyMcpToken(
      token,
      mcpTokenKeys(grant.keysJson),
      now(),
    );
    if (issuer !== base) throw invalidToken('The token is of another issuer.');
    expectResource(audience, resource);
    if (audience !== grant.resource || clientId !== grant.clientId || subject !== key.source.userId)
      throw invalidToken('The token says something else than what it was given for.');
    const identity = { key, serverId: grant.serverId, clientId, scope, expiresAtMs };
    return this.#remember(token, { ...identity, rights: mcpRightsOf(scope) });
  }

  #remember(token: string, identity: McpIdentity): McpIdentity {
    if (this.#verified.size >= this.#options.tokensMax)
      this.#verified.delete(this.#verified.keys().next().value as string);
    this.#verified.set(token, identity);
    return identity;
  }
}

function expectResource(audience: string, resource: string): void {
  if (audience === resource) return;
  throw new GatewayError('auth.invalid_token', {
    message: 'The token is for another MCP server, or for another address of this one.',
  });
}
