import { GatewayError } from '@sluice/errors';
import {
  invalidToken,
  maskToken,
  nameToken,
  organisationOf,
  peekToken,
  type RefusalLog,
  TokenCache,
  tokenLengthMax,
  tokenNotAccepted,
  userOf,
} from '@sluice/jwt';
import type { ArrivedRequest } from '../exchange/arrived-request.ts';
import { type HeldOrganisation, workspaceOf } from '../held/held-organisation.ts';
import type { Organisations } from '../held/organisations.ts';
import { type TokenKey, tokenKey } from './token-key.ts';

export interface TokenKeysOptions {
  organisations: Organisations;
  refusals: RefusalLog;
  /** Whose tokens are taken; undefined = of everybody the control plane knows. */
  listed: readonly string[] | undefined;
  /** For tokens that name no scopes, of organisations that set none. */
  defaultScopes: readonly string[];
  tokensMax?: number;
}

/** JWTs as keys: validated here, by what the gateway holds of their organisation. */
export class TokenKeys {
  readonly #options: TokenKeysOptions;
  readonly #cache: TokenCache<TokenKey>;

  constructor(options: TokenKeysOptions) {
    this.#options = options;
    this.#cache = new TokenCache(options.tokensMax);
    options.organisations.onChange = (id) =>
      this.#cache.dropWhere((key) => key.source.organisationId === id);
  }

  get size(): number {
    return this.#cache.size;
  }

  /** The key of a token that was seen before: no waiting. */
  held(token: string, nowMs: number): TokenKey | undefined {
    return this.#cache.get(nameToken(token), nowMs);
  }

  /**
   * The key of a token; undefined for one that is not meant for us.
   * @throws GatewayError 401, 403, or 503 when who vouches for it cannot be asked
   */
  async find(token: string, request: ArrivedRequest): Promise<TokenKey | undefined> {
    const payload = peekToken(token)?.payload;
    const named = payload && organisationOf(payload);
    // In our own header every token is ours; elsewhere it may be a provider's, and is nobody's business.
    if (named === undefined && request.headers['x-service-api-key'] !== token) return undefined;
    if (token.length > tokenLengthMax) throw invalidToken('The token is too long.');
    const id = this.#organisationId(named);
    const organisation = await this.#options.organisations.find(id);
    if (organisation === undefined)
      throw invalidToken('The organisation of the token does not exist.');
    try {
      return await this.#cache.load(nameToken(token), () =>
        this.#resolve(token, organisation, request.callerAddress()),
      );
    } catch (error) {
      if (error instanceof GatewayError && (error.status === 401 || error.status === 403))
        this.#report(token, id, error, request);
      throw error;
    }
  }

  /** The organisation that a token names, else the only one that is served. */
  #organisationId(named: string | undefined): string {
    const { listed } = this.#options;
    const id = named ?? (listed?.length === 1 ? listed[0] : undefined);
    if (id === undefined) throw invalidToken('The token names no organisation.');
    if (listed !== undefined && !listed.includes(id))
      throw tokenNotAccepted('The organisation of the token is not served by this gateway.');
    return id;
  }

  async #resolve(token: string, held: HeldOrganisation, from: string): Promise<TokenKey> {
    const { source, settings, authority } = held;
    if (authority === undefined)
      throw tokenNotAccepted('The organisation has not set up how its tokens are validated.');
    const verified = await authority.verify(token, from);
    const { claims } = verified;
    // An introspection endpoint may answer for somebody else than was asked about.
    if (claims.organisation !== undefined && claims.organisation !== source.id)
      throw invalidToken('The token is for another organisation.');
    const workspace = workspaceOf(held, claims.workspace);
    if (workspace === undefined)
      throw tokenNotAccepted('The workspace of the token does not exist.');
    const defaultScopes = settings?.default_scopes ?? this.#options.defaultScopes;
    const organisationId = source.id;
    const { identity } = nameToken(token);
    return tokenKey({ token, identity, verified, organisationId, workspace, defaultScopes });
  }

  #report(
    token: string,
    organisationId: string,
    error: GatewayError,
    request: ArrivedRequest,
  ): void {
    const peeked = peekToken(token);
    this.#options.refusals.add(organisationId, {
      token: maskToken(token),
      reason: error.message,
      status: error.status,
      subject: (peeked && userOf(peeked.payload)) ?? '',
      method: request.method,
      path: request.pathname.slice(0, 2048),
      requestId: request.requestIdText,
      clientIp: request.callerAddress(),
    });
  }
}
