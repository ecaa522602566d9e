import {
  type ExternalAuthConfig,
  issuerLoginSecret,
  type McpRight,
  mcpRightsOf,
} from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import {
  checkClaims,
  IssuerKeys,
  invalidToken,
  isTokenShaped,
  type JsonRecord,
  nameToken,
  peekToken,
  readToken,
  TokenCache,
  verifySignature,
} from '@sluice/jwt';
import type { GuardedFetch } from '@sluice/outbound';
import type { ResolvedKey } from '../compiled/resolved-key.ts';
import type { ConfigSource } from '../held/config-source.ts';
import type { ConfigStore } from '../held/config-store.ts';
import type { McpIdentity } from './access-tokens.ts';
import { AccessFault } from './enter-server.ts';
import type { IssuedServer } from './issuers.ts';

export interface IssuerTokensOptions {
  readonly store: Pick<ConfigStore, 'heldLogin' | 'findLogin'>;
  readonly enter: ConfigSource['enterByIssuer'];
  readonly fetch: GuardedFetch;
  readonly now?: () => number;
}

/** Who brings a token, and where to. */
export interface BroughtTo {
  /** The address of the server that is called, as its metadata document names it. */
  readonly resource: string;
  readonly clientIp: string;
}

interface Verified {
  readonly payload: JsonRecord;
  readonly validUntilMs: number;
}

interface Issuer {
  readonly keys: IssuerKeys;
  readonly tokens: TokenCache<Verified>;
}

const issuersMax = 500;
const tokensMax = 2_000;
const toleranceSeconds = 5;
const everything: ReadonlySet<McpRight> = new Set(['list', 'read', 'call']);

/** Who says to have given a credential that looks like a token; nothing is checked. */
export function issuerNamedIn(credential: string): string | undefined {
  const issuer = isTokenShaped(credential) ? peekToken(credential)?.payload.iss : undefined;
  return typeof issuer === 'string' && issuer !== '' ? issuer : undefined;
}

/**
 * Access tokens of an organisation's own authorisation server (`external_auth_config`), verified here by its published keys. Whom one is
 * of the control plane says once; from then on they are held, and their end is heard of, as a key.
 */
export class IssuerTokens {
  readonly #options: Required<IssuerTokensOptions>;
  /** By what is verified: settings of two servers that say the same are one. */
  readonly #issuers = new Map<string, Issuer>();

  constructor(options: IssuerTokensOptions) {
    this.#options = { now: Date.now, ...options };
  }

  /**
   * @param servers  those that take the tokens of its issuer; more than one where an address is of several organisations
   * @throws GatewayError 401 `auth.invalid_token`, saying why; 503 `auth.issuer_unavailable`, `auth.unavailable`; AccessFault 403
   */
  async verify(
    token: string,
    servers: readonly [IssuedServer, ...IssuedServer[]],
    brought: BroughtTo,
  ): Promise<McpIdentity> {
    let fault: unknown;
    for (const each of servers)
      try {
        return await this.#verify(token, each, brought);
      } catch (error) {
        fault ??= error;
      }
    throw fault;
  }

  async #verify(
    token: string,
    { server, settings }: IssuedServer,
    brought: BroughtTo,
  ): Promise<McpIdentity> {
    const { payload, validUntilMs } = await this.#payloadOf(token, settings);
    // Kept by what was verified, which says nothing of whom it is for.
    expectAudience(payload, settings, brought.resource);
    const scope = scopeOf(payload);
    expectScope(scope, settings);
    const subject = textOf(payload, 'sub');
    const clientId = clientOf(payload);
    const { id: serverId } = server.source;
    const user = userOf(payload, settings);
    const login = { serverId, issuer: settings.issuer, subject, user };
    const secret = issuerLoginSecret(login);
    const key =
      this.#options.store.heldLogin(secret) ??
      (await this.#enter(secret, {
        ...login,
        ...{ clientId, scope },
        ...brought,
      }));
    const known = mcpRightsOf(scope);
    const rights = known.size === 0 ? everything : known;
    return { key, serverId, clientId, scope, rights, expiresAtMs: validUntilMs };
  }

  async #enter(
    secret: string,
    asked: Parameters<ConfigSource['enterByIssuer']>[0],
  ): Promise<ResolvedKey> {
    const { enter, store } = this.#options;
    const refused = await enter(asked).catch((error: unknown) => {
      throw new GatewayError('auth.unavailable', { cause: error, headers: { 'retry-after': '1' } });
    });
    if (refused !== '') throw new AccessFault(403, 'forbidden', refused);
    const key = await store.findLogin(secret);
    if (key === undefined) throw invalidToken('What the token was taken for has ended.');
    return key;
  }

  async #payloadOf(text: string, settings: ExternalAuthConfig): Promise<Verified> {
    const { now } = this.#options;
    const { keys, tokens } = this.#issuerOf(settings);
    const name = nameToken(text);
    const known = tokens.get(name, now());
    if (known !== undefined) return known;
    return tokens.load(name, async () => {
      const token = readToken(text);
      const payload = await verifySignature(token, keys, {
        algorithms: settings.algorithms ?? ['RS256'],
      });
      if (payload.iss !== settings.issuer) throw invalidToken('The token is of another issuer.');
      const claims = { clock_tolerance_s: toleranceSeconds };
      return { payload, validUntilMs: checkClaims(payload, claims, now()) };
    });
  }

  #issuerOf({ issuer, jwks_uri, algorithms }: ExternalAuthConfig): Issuer {
    const name = JSON.stringify([issuer, jwks_uri ?? null, algorithms ?? null]);
    const known = this.#issuers.get(name);
    if (known !== undefined) return known;
    const { fetch, now } = this.#options;
    const jwksUri = jwks_uri ?? undefined;
    const made = {
      keys: new IssuerKeys({ issuer, jwksUri, fetch, now }),
      tokens: new TokenCache<Verified>(tokensMax),
    };
    if (this.#issuers.size >= issuersMax)
      this.#issuers.delete(this.#issuers.keys().next().value as string);
    this.#issuers.set(name, made);
    return made;
  }
}

function expectAudience(
  { aud }: JsonRecord,
  { audience }: ExternalAuthConfig,
  resource: string,
): void {
  const accepted = audience == null ? [resource] : [audience].flat();
  if ([aud].flat().some((each) => typeof each === 'string' && accepted.includes(each))) return;
  throw invalidToken('The token is for another audience.');
}

/** With spaces between; some write a list, and some call it `scp`. */
function scopeOf({ scope, scp }: JsonRecord): string {
  return [scope ?? scp]
    .flat()
    .filter((each): each is string => typeof each === 'string')
    .join(' ');
}

function expectScope(has: string, { scope }: ExternalAuthConfig): void {
  const held = new Set(has.split(' '));
  if ((scope ?? '').split(' ').every((each) => each === '' || held.has(each))) return;
  throw new AccessFault(
    403,
    'insufficient_scope',
    'The token does not have the scopes that this MCP server asks for.',
    scope ?? '',
  );
}

/** RFC 9068 has `client_id`; others write `azp` or `cid`. */
function clientOf(payload: JsonRecord): string {
  const said = [payload.client_id, payload.azp, payload.cid].find(
    (each) => typeof each === 'string' && each !== '',
  );
  return typeof said === 'string' ? said : 'unnamed';
}

/** What the issuer calls the user. An address that it has not verified is one that anybody may have written. */
function userOf(payload: JsonRecord, { user_claim: claim }: ExternalAuthConfig): string {
  if (claim != null) return textOf(payload, claim);
  if (payload.email_verified !== true && payload.email_verified !== 'true')
    throw invalidToken(
      'The token does not say that the e-mail address of its user is verified (email, email_verified).',
    );
  return textOf(payload, 'email');
}

function textOf(payload: JsonRecord, name: string): string {
  const value = payload[name];
  if (typeof value !== 'string' || value === '' || value.length > 1_024)
    throw invalidToken(`The token has no claim ${name}.`);
  return value;
}
