import { createHmac, randomBytes } from 'node:crypto';
import { mcpRightsOf, mcpScopes, readMcpPath } from '@sluice/contracts';
import type { GuardedFetch } from '@sluice/outbound';
import type { Logger } from '@sluice/telemetry';
import {
  type ClientMetadata,
  type Configuration,
  errors,
  interactionPolicy,
  type JWKS,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { Attempts } from './attempts.ts';
import { checkClientMetadata, newClientId } from './client-metadata.ts';
import type { Grants } from './grants.ts';
import { errorPage, plainName } from './pages.ts';
import { type Person, personOfSecret } from './person.ts';
import { type AdapterParts, createAdapter } from './record-adapter.ts';
import type { KeyRing, SigningKeys } from './signing-keys.ts';
import { findReachableServer } from './store.ts';
import { answerStructuredTokens } from './structured-tokens.ts';

export interface AuthorizationServerParts {
  client: DatabaseClient;
  vault: AdapterParts['vault'];
  fetch: GuardedFetch;
  keys: KeyRing;
  grants: Grants;
  /** Whether the person has to sign in at the server itself before anybody can use it for them. */
  isSignInMissing: (serverId: string, person: Person) => Promise<boolean>;
  masterKeys: readonly Buffer[];
  logger: Logger;
  now: () => Date;
}

const second = 1;
const minute = 60 * second;
const hour = 60 * minute;

/** How long each lasts, in seconds; docs/mcp-oauth.md says so. */
const lasts = {
  accessToken: hour,
  code: 10 * minute,
  refreshToken: 30 * 24 * hour,
  /** The pages of log-in and consent, from the request to the answer. */
  request: 30 * minute,
  /** The browser's log-in. */
  session: 8 * hour,
};

/** Of metadata documents: for all clients together, and for whoever asks from one address, so that nobody leaves none for others. */
const documentFetches = { max: 60, windowMs: 60_000 };
const ownDocumentFetches = { max: 20, windowMs: 60_000 };
const documentBytesMax = 5 * 1024;
/** Installations have one issuer; on a machine of a developer a few origins name it. */
const issuersMax = 4;

export const oauthPaths = {
  authorize: '/oauth/authorize',
  token: '/oauth/token',
  register: '/oauth/register',
  revoke: '/oauth/revoke',
  introspect: '/oauth/introspect',
  /** With the request's id behind it. */
  interaction: '/oauth/interaction',
  jwks: '/.well-known/jwks.json',
} as const;

/** What stands for the server while none is named: it is chosen on the page of consent. */
export const unchosenServer = (base: string) => `${base}/oauth/choose-a-server`;

/** The library with our rules, one for each issuer and set of keys. */
export class AuthorizationServer {
  readonly #parts: AuthorizationServerParts;
  readonly #providers = new Map<string, Provider>();
  readonly #mayFetch: (callerAddress: string) => boolean;

  constructor(parts: AuthorizationServerParts) {
    this.#parts = parts;
    const now = () => parts.now().getTime();
    const own = new Attempts({ ...ownDocumentFetches, now });
    const all = new Attempts({ ...documentFetches, now });
    this.#mayFetch = (address) => own.take(address) === 0 && all.take('all') === 0;
  }

  /** @param base  the issuer, an origin without a slash at its end */
  async at(base: string): Promise<Provider> {
    const keys = await this.#parts.keys.current();
    const name = `${base} ${keys.id}`;
    const known = this.#providers.get(name);
    if (known !== undefined) return known;
    const made = this.#make(base, keys);
    if (this.#providers.size >= issuersMax)
      this.#providers.delete(this.#providers.keys().next().value as string);
    this.#providers.set(name, made);
    return made;
  }

  #make(base: string, keys: SigningKeys): Provider {
    const { logger } = this.#parts;
    const provider = new Provider(base, configure(base, keys, this.#parts, this.#mayFetch));
    // What the address of a request is, we say: see `asCalled`.
    provider.proxy = true;
    provider.use(answerStructuredTokens(this.#parts, base));
    provider.on('authorization.success', (ctx, out) => {
      const asked = ctx.oidc.params?.sluice_issuer;
      // Begun at the address of one server, whose document names that as the issuer.
      if (typeof asked === 'string' && out !== undefined) out.iss = asked;
    });
    provider.on('server_error', (_ctx, error) =>
      logger.error({ err: error }, 'the authorisation server failed'),
    );
    return provider;
  }
}

function configure(
  base: string,
  keys: SigningKeys,
  parts: AuthorizationServerParts,
  mayFetch: (callerAddress: string) => boolean,
): Configuration {
  const { client, vault, grants, now } = parts;
  const endGrant = (id: string, reason: string) => grants.end(id, reason);
  return {
    adapter: createAdapter({ client, vault, now, endGrant }),
    jwks: { keys: [keys.jwk] } as JWKS,
    routes: {
      authorization: oauthPaths.authorize,
      token: oauthPaths.token,
      registration: oauthPaths.register,
      revocation: oauthPaths.revoke,
      introspection: oauthPaths.introspect,
      jwks: oauthPaths.jwks,
      end_session: '/oauth/session/end',
    },
    responseTypes: ['code'],
    extraParams: ['sluice_issuer'],
    scopes: [...mcpScopes],
    clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post'],
    clientDefaults: {
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'client_secret_basic',
    },
    // Nothing here is answered by who the browser is: other sites may call, and get no cookie to call with.
    clientBasedCORS: () => true,
    pkce: { required: () => true },
    extraClientMetadata: {
      properties: ['software_id'],
      validator: (_ctx, _key, _value, metadata) => checkClientMetadata(metadata as ClientMetadata),
    },
    cookies: {
      keys: parts.masterKeys.map((key) =>
        createHmac('sha256', key).update('sluice oauth cookies 1').digest('base64url'),
      ),
      names: {
        session: 'sluice_oauth_session',
        interaction: 'sluice_oauth_interaction',
        resume: 'sluice_oauth_resume',
      },
      long: { httpOnly: true, sameSite: 'lax', path: '/oauth' },
      short: { httpOnly: true, sameSite: 'lax' },
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
      registration: {
        enabled: true,
        issueRegistrationAccessToken: false,
        idFactory: newClientId,
        secretFactory: () => randomBytes(32).toString('base64url'),
      },
      clientIdMetadataDocument: {
        enabled: true,
        ack: 'draft-02',
        allowFetch: (ctx) => mayFetch(ctx.ip),
        cacheDuration: { min: 60, max: hour },
      },
      revocation: { enabled: true, allowedPolicy: (_ctx, owner, token) => ownsToken(owner, token) },
      introspection: {
        enabled: true,
        // Whoever registered may ask, so of their own tokens only, and with a secret.
        allowedPolicy: (_ctx, owner, token) =>
          owner.clientAuthMethod !== 'none' && ownsToken(owner, token),
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_ctx, _client, oneOf) => oneOf?.[0] ?? unchosenServer(base),
        useGrantedResource: () => true,
        getResourceServerInfo: (ctx, resource) => resourceServer(ctx, base, resource, keys),
      },
    },
    fetch: (url, options) => fetchDocument(parts.fetch, String(url), options),
    fetchResponseBodyLimits: { 'client_id metadata document': documentBytesMax },
    findAccount: async (_ctx, secretId) => {
      const person = await personOfSecret(client, secretId, now());
      return person && accountOf(person);
    },
    loadExistingGrant: (ctx) => grantOf(ctx, parts),
    interactions: {
      policy: policy(),
      url: (_ctx, { uid }) => `${oauthPaths.interaction}/${uid}`,
    },
    extraTokenClaims: async (ctx, token) => {
      const grantId = 'grantId' in token ? token.grantId : undefined;
      const person = personIn(ctx);
      if (typeof grantId !== 'string' || person === undefined)
        throw new errors.InvalidGrant('grant not found');
      await grants.useKey(grantId, keys);
      return {
        sluice_grant: grantId,
        organisation_id: person.organisationId,
        workspace_id: person.workspaceId,
        email: person.email,
      };
    },
    formats: {
      customizers: {
        jwt: (ctx, _token, { payload }) => {
          // To the library somebody is the secret that they logged in with; to others, a person.
          if (payload !== undefined) payload.sub = personIn(ctx)?.userId ?? '';
        },
      },
    },
    expiresWithSession: () => false,
    issueRefreshToken: (_ctx, of) => of.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: (ctx) => {
      expectGrantedResource(ctx);
      return true;
    },
    revokeGrantPolicy: () => true,
    ttl: {
      AccessToken: (ctx) => leftOf(personIn(ctx), lasts.accessToken, now()),
      AuthorizationCode: lasts.code,
      RefreshToken: lasts.refreshToken,
      Interaction: lasts.request,
      Session: lasts.session,
      Grant: lasts.refreshToken,
      IdToken: lasts.accessToken,
    },
    renderError: (ctx, out) => {
      const page = errorPage(out.error, out.error_description);
      ctx.type = 'html';
      for (const [name, value] of Object.entries(page.headers)) ctx.set(name, value);
      ctx.body = page.html;
    },
  };
}

/** No token outlives the key that somebody logged in with. In seconds. */
function leftOf(person: Person | undefined, most: number, now: Date): number {
  if (person?.endsAtMs === undefined) return most;
  return Math.max(1, Math.min(most, Math.floor((person.endsAtMs - now.getTime()) / 1000)));
}

function ownsToken(owner: { clientId: string }, token: { clientId?: string | undefined }): boolean {
  return token.clientId === owner.clientId;
}

type Account = { accountId: string; person: Person; claims: () => { sub: string } };

function accountOf(person: Person): Account {
  return { accountId: person.secretId, person, claims: () => ({ sub: person.userId }) };
}

function personIn(ctx: KoaContextWithOIDC | undefined): Person | undefined {
  return (ctx?.oidc.entities.Account as Account | undefined)?.person;
}

/** An audience of tokens: a server as it is addressed below the base, or the mark that none is chosen yet. */
function resourceServer(
  ctx: KoaContextWithOIDC,
  base: string,
  resource: string,
  { id }: SigningKeys,
) {
  const asked = ctx.oidc.params?.resource;
  if (Array.isArray(asked) && asked.length > 1)
    throw new errors.InvalidTarget('a token is for one server: only one resource can be asked for');
  if (resource !== unchosenServer(base) && addressOf(base, resource) === undefined)
    throw new errors.InvalidTarget(
      `resource must be the address of an MCP server here: ${base}/{server}/mcp or ${base}/{workspace}/{server}/mcp`,
    );
  return {
    scope: mcpScopes.join(' '),
    audience: resource,
    accessTokenFormat: 'jwt' as const,
    jwt: { sign: { alg: 'RS256' as const, kid: id } },
  };
}

/**
 * Before a refresh token is used up: the library looks at the address that is asked for only then, and whoever asked for another
 * would have lost the log-in. @throws errors.InvalidTarget
 */
function expectGrantedResource(ctx: KoaContextWithOIDC): void {
  const { params, entities } = ctx.oidc;
  const asked = params?.resource;
  if (asked !== undefined && asked !== entities.RefreshToken?.resource)
    throw new errors.InvalidTarget('the refresh token is for another resource');
}

/** The server that an address below the base names; undefined = it is none. */
export function addressOf(base: string, resource: string) {
  return resource.startsWith(`${base}/`) ? readMcpPath(resource.slice(base.length)) : undefined;
}

/** What somebody has just let the client do, or had before. Each log-in of a client has a grant of its own, so that one can end alone. */
async function grantOf(ctx: KoaContextWithOIDC, parts: AuthorizationServerParts) {
  const { client, params, provider, result } = ctx.oidc;
  const given = result?.consent?.grantId;
  if (given !== undefined) return provider.Grant.find(given);
  const person = personIn(ctx);
  if (person === undefined || client === undefined || params === undefined) return undefined;
  const { redirect_uri: redirectUri, resource, scope } = params;
  if (
    ctx.oidc.prompts.has('consent') ||
    typeof redirectUri !== 'string' ||
    typeof resource !== 'string' ||
    typeof scope !== 'string' ||
    // Whoever else runs on the person's machine could take such an answer for another app's (RFC 8252 §8.6).
    !redirectUri.startsWith('https://')
  )
    return undefined;
  const asked = { clientId: client.clientId, redirectUri, resource, scope };
  if (!(await parts.grants.isRemembered(person, asked))) return undefined;
  const address = addressOf(provider.issuer, resource);
  const server = await reachableServer(parts.client, person, address);
  if (server === undefined || (await parts.isSignInMissing(server.id, person))) return undefined;
  const consent = { ...asked, clientName: nameOf(client), serverId: server.id };
  const id = await parts.grants.make(person, consent, ctx.ip);
  return provider.Grant.find(id);
}

/** As it is shown and kept: what it calls itself, without what hides or turns text round. */
export function nameOf(client: { clientId: string; clientName?: string | undefined }): string {
  return plainName(client.clientName ?? client.clientId);
}

/** The server of that address, if it is in the person's workspace and there for them. */
export async function reachableServer(
  db: DatabaseClient,
  person: Person,
  address: ReturnType<typeof addressOf>,
) {
  if (address === undefined) return undefined;
  const { workspace, server } = address;
  if (workspace !== undefined && workspace !== person.workspaceSlug) return undefined;
  return findReachableServer(db, person, server);
}

/** Asked in this order: who is it, and do they let the client in. */
function policy() {
  const { base, Check, Prompt } = interactionPolicy;
  const prompts = base();
  prompts
    .get('login')
    ?.checks.add(
      new Check('account_gone', 'the key that was logged in with does not work any more', (ctx) =>
        ctx.oidc.session?.accountId !== undefined && ctx.oidc.account === undefined
          ? Check.REQUEST_PROMPT
          : Check.NO_NEED_TO_PROMPT,
      ),
    );
  prompts.remove('consent');
  prompts.add(
    new Prompt(
      { name: 'consent', requestable: true },
      new Check('scope_unknown', 'none of the scopes is known', (ctx) => {
        const { scope } = ctx.oidc.params ?? {};
        if (typeof scope !== 'string' || mcpRightsOf(scope).size === 0)
          throw new errors.InvalidScope('none of the scopes is known', String(scope ?? ''));
        return Check.NO_NEED_TO_PROMPT;
      }),
      new Check('consent_missing', 'nobody has let this client in', (ctx) =>
        ctx.oidc.grant?.jti === undefined ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT,
      ),
    ),
  );
  return prompts;
}

/** Documents of clients come by the guarded fetch and nothing else: an address is checked when it is written and when it is connected to. */
async function fetchDocument(
  fetch: GuardedFetch,
  url: string,
  options: RequestInit | undefined,
): Promise<Response> {
  const { status, headers, body } = await fetch(url, {
    headers: { accept: 'application/json' },
    timeoutMs: 2_500,
    bytesMax: documentBytesMax,
    field: 'client_id',
    by: 'caller',
    owner: 'client-documents',
    ...(options?.signal ? { signal: options.signal } : {}),
  });
  const known = ['cache-control', 'expires', 'content-type'].flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as [string, string]] : [];
  });
  return new Response(status === 204 || status === 304 ? null : new Uint8Array(body), {
    status: status < 200 || status > 599 ? 502 : status,
    headers: known,
  });
}
