import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Issuer } from './issuer.ts';
import { keepAliveMs } from './keep-alive.ts';

/** How an authorisation server of ours behaves; may be changed while it runs. */
export interface OauthServerSettings {
  /** Path of the issuer. */
  path: string;
  /** Where its metadata is. */
  metadata: 'oauth' | 'oidc-inserted' | 'oidc-appended' | 'none';
  /** Instead of its own, in the metadata. */
  issuer: string | undefined;
  /** Instead of its own, in the metadata. */
  tokenEndpoint: string | undefined;
  /** Of an access token. */
  lastsSeconds: number;
  /** The token endpoint answers this, and nothing else. */
  tokenStatus: number;
  tokenDelayMs: number;
  /** Some refuse what RFC 8707 has clients send. */
  refusesResource: boolean;
  /** Where the protected resource says that its metadata is; undefined = at the well-known place, and its refusal does not say. */
  prm: 'challenge' | 'path' | 'root' | 'none';
  /** In the metadata of the resource, instead of the server's own. */
  resource: string | undefined;
  scopes: string[];
  /** What the server that is protected wants a token to have; empty = any will do. */
  neededScope: string;
  /** Where clients may register by themselves. */
  registers: boolean;
  /** Ways for clients to prove who they are, as its metadata says. */
  authMethods: string[];
  /** Undefined: its metadata does not say that it takes PKCE. */
  pkce: string[] | undefined;
  /** `iss` in answers of people's sign-ins: its own, none, or this. */
  iss: 'own' | 'none' | (string & {});
  /** Its metadata says that answers have `iss`. */
  promisesIss: boolean;
  /** What a sign-in is answered with in place of a code. */
  refusal: { error: string; error_description: string } | undefined;
  /** Instead of its own, in the metadata. */
  authorizationEndpoint: string | undefined;
  /** Each refresh token is used once: whoever sends one again loses all that came of that sign-in. */
  rotates: boolean;
  /** It is an OpenID provider: its tokens are JWTs, signed here. */
  signer: Pick<Issuer, 'jwksUrl' | 'sign'> | undefined;
  /** What its tokens say of whoever signed in, beside `sub`. */
  claimsOf: (account: string) => Record<string, unknown>;
  /** What the token endpoint writes, without an end, before it answers. */
  tokenFlood: boolean;
}

/** What an access token stands for. */
export interface GivenToken {
  /** Who signed in; undefined = the client itself. */
  readonly account: string | undefined;
  readonly clientId: string;
  readonly scope: string;
}

export interface OauthServer {
  readonly origin: string;
  readonly issuer: string;
  readonly settings: OauthServerSettings;
  /** Clients by id. */
  readonly clients: Map<
    string,
    { secret: string | undefined; redirectUris: string[]; method?: string }
  >;
  /** Of an access token that was given, whether it still works or not. */
  readonly tokens: ReadonlyMap<string, GivenToken>;
  /** Refresh tokens that came a second time. */
  readonly replayed: string[];
  /** What clients said of themselves. */
  readonly registrations: Record<string, unknown>[];
  /** What people were sent with. */
  readonly authorizations: URLSearchParams[];
  /** Refresh tokens that work no more, as after a change of the password. */
  endSignIns(): void;
  /** What came to the token endpoint. */
  readonly tokenRequests: { form: Record<string, string>; authorization: string | undefined }[];
  /** Paths of all requests. */
  readonly paths: string[];
  /** Every access token that was given. */
  readonly given: string[];
  /** Tokens that work no more. */
  readonly revoked: Set<string>;
  /** Where all tokens have to be for. */
  resource: string;
  /**
   * For the server that is protected: answers what is about its protection, and refuses who has no token of ours for it.
   * True = the request is answered.
   */
  guard(req: IncomingMessage, res: ServerResponse): boolean;
  close(): Promise<void>;
}

/** An authorisation server, and what protects a resource by it; strict where real ones are. */
export async function startOauthServer(
  changes: Partial<OauthServerSettings> = {},
): Promise<OauthServer> {
  const settings: OauthServerSettings = {
    path: '',
    metadata: 'oauth',
    issuer: undefined,
    tokenEndpoint: undefined,
    lastsSeconds: 3600,
    tokenStatus: 200,
    tokenDelayMs: 0,
    refusesResource: false,
    prm: 'challenge',
    resource: undefined,
    scopes: ['tools'],
    neededScope: '',
    registers: true,
    authMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    pkce: ['S256'],
    iss: 'own',
    promisesIss: true,
    refusal: undefined,
    authorizationEndpoint: undefined,
    rotates: true,
    signer: undefined,
    claimsOf: () => ({}),
    tokenFlood: false,
    ...changes,
  };
  const access = new Map<string, Access>();
  const codes = new Map<string, Code>();
  const refreshes = new Map<string, Refresh>();
  const tokensGiven = new Map<string, GivenToken>();
  const paths: string[] = [];
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (req, res) => {
    paths.push(req.url ?? '');
    void answer(req, res).catch((error: unknown) => send(res, 500, { error: String(error) }));
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const self: OauthServer = {
    origin,
    get issuer() {
      return `${origin}${settings.path}`;
    },
    settings,
    clients: new Map(),
    tokens: tokensGiven,
    replayed: [],
    registrations: [],
    authorizations: [],
    endSignIns: () => refreshes.clear(),
    tokenRequests: [],
    paths,
    given: [],
    revoked: new Set(),
    resource: '',
    guard,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<unknown> {
    const { pathname } = new URL(req.url ?? '/', origin);
    const { path, metadata } = settings;
    const places = {
      oauth: `/.well-known/oauth-authorization-server${path}`,
      'oidc-inserted': `/.well-known/openid-configuration${path}`,
      'oidc-appended': `${path}/.well-known/openid-configuration`,
      none: undefined,
    };
    if (pathname === places[metadata]) return send(res, 200, document());
    if (pathname === `${path}/token` && req.method === 'POST') return token(req, res);
    if (pathname === `${path}/authorize` && req.method === 'GET') return authorize(req, res);
    if (pathname === `${path}/register` && req.method === 'POST') return register(req, res);
    if (pathname === `${path}/revoke` && req.method === 'POST') return revoke(req, res);
    return send(res, 404, {});
  }

  /** A person who is signed in as the header says, and agrees to all. */
  function authorize(req: IncomingMessage, res: ServerResponse): unknown {
    const asked = new URL(req.url ?? '/', origin).searchParams;
    self.authorizations.push(asked);
    const of = (name: string) => asked.get(name) ?? '';
    const client = self.clients.get(of('client_id'));
    const redirectUri = of('redirect_uri');
    // Nobody is sent anywhere that was not registered.
    if (client === undefined || !client.redirectUris.includes(redirectUri))
      return send(res, 400, { error: 'invalid_request', error_description: 'no such client' });
    const back = new URL(redirectUri);
    const answer = (values: Record<string, string>) => {
      const iss = settings.iss === 'own' ? self.issuer : settings.iss;
      const all = { ...values, state: of('state'), ...(iss === 'none' ? {} : { iss }) };
      for (const [name, value] of Object.entries(all)) back.searchParams.set(name, value);
      res.writeHead(302, { location: back.href }).end();
    };
    const doubled = [...asked.keys()].some((name) => asked.getAll(name).length > 1);
    const scopes = of('scope').split(' ').filter(Boolean);
    if (settings.refusal !== undefined) return answer(settings.refusal);
    if (doubled || of('response_type') !== 'code' || of('state') === '')
      return answer({ error: 'invalid_request' });
    if (of('code_challenge_method') !== 'S256' || !/^[\w-]{43}$/.test(of('code_challenge')))
      return answer({ error: 'invalid_request' });
    if (settings.refusesResource ? asked.has('resource') : of('resource') !== self.resource)
      return answer({ error: 'invalid_target' });
    if (!scopes.every((each) => settings.scopes.includes(each)))
      return answer({ error: 'invalid_scope' });
    const code = randomBytes(16).toString('base64url');
    codes.set(code, {
      clientId: of('client_id'),
      redirectUri,
      challenge: of('code_challenge'),
      audience: asked.get('resource') ?? undefined,
      nonce: asked.get('nonce') ?? undefined,
      scope: of('scope'),
      account: String(req.headers['x-account'] ?? 'somebody'),
      family: randomBytes(8).toString('hex'),
      isUsed: false,
    });
    return answer({ code });
  }

  async function register(req: IncomingMessage, res: ServerResponse): Promise<void> {
    if (!settings.registers) return send(res, 404, {});
    const said = JSON.parse(await textOf(req)) as Record<string, unknown>;
    self.registrations.push(said);
    const method = String(said.token_endpoint_auth_method ?? 'client_secret_basic');
    const redirectUris = said.redirect_uris;
    if (!settings.authMethods.includes(method) || !Array.isArray(redirectUris))
      return send(res, 400, { error: 'invalid_client_metadata' });
    const id = `client-${randomBytes(6).toString('hex')}`;
    const secret = method === 'none' ? undefined : randomBytes(12).toString('hex');
    self.clients.set(id, { secret, redirectUris, method });
    return send(res, 201, { ...said, client_id: id, client_secret: secret });
  }

  async function revoke(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { token = '' } = Object.fromEntries(new URLSearchParams(await textOf(req)));
    const family = refreshes.get(token)?.family ?? access.get(sha256(token))?.family;
    if (family !== undefined) endFamily(family);
    res.writeHead(200).end();
  }

  function endFamily(family: string): void {
    for (const [name, each] of refreshes) if (each.family === family) refreshes.delete(name);
    for (const [name, each] of access) if (each.family === family) access.delete(name);
  }

  function document() {
    const { issuer } = self;
    return {
      issuer: settings.issuer ?? issuer,
      authorization_endpoint: settings.authorizationEndpoint ?? `${issuer}/authorize`,
      token_endpoint: settings.tokenEndpoint ?? `${issuer}/token`,
      revocation_endpoint: `${issuer}/revoke`,
      ...(settings.signer && { jwks_uri: settings.signer.jwksUrl }),
      ...(settings.registers && { registration_endpoint: `${issuer}/register` }),
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
      token_endpoint_auth_methods_supported: settings.authMethods,
      code_challenge_methods_supported: settings.pkce,
      authorization_response_iss_parameter_supported: settings.promisesIss,
    };
  }

  async function token(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const form = Object.fromEntries(new URLSearchParams(await textOf(req)));
    self.tokenRequests.push({ form, authorization: req.headers.authorization });
    if (settings.tokenDelayMs > 0)
      await new Promise((resolve) => setTimeout(resolve, settings.tokenDelayMs));
    if (settings.tokenFlood) {
      res.writeHead(200, { 'content-type': 'application/json' });
      const flood = setInterval(() => res.write(`{"access_token":"${'x'.repeat(8_192)}`), 5);
      res.once('close', () => clearInterval(flood));
      return;
    }
    if (settings.tokenStatus !== 200) {
      res.writeHead(settings.tokenStatus, { location: `${origin}/elsewhere` }).end('<html>');
      return;
    }
    const [id, secret] = credentialsOf(req, form);
    const client = self.clients.get(id);
    const isBasic = req.headers.authorization !== undefined;
    const sent = isBasic
      ? 'client_secret_basic'
      : secret === undefined
        ? 'none'
        : 'client_secret_post';
    const { method = sent } = client ?? {};
    if (client === undefined || client.secret !== secret || method !== sent)
      return send(res, 401, { error: 'invalid_client', error_description: `no ${secret}` });
    if (settings.refusesResource && form.resource !== undefined)
      return send(res, 400, { error: 'invalid_request' });
    if (!settings.refusesResource && form.resource !== self.resource)
      return send(res, 400, { error: 'invalid_target' });
    switch (form.grant_type) {
      case 'client_credentials':
        return send(res, 200, await accessToken(id, form.scope ?? '', form.resource));
      case 'authorization_code': {
        const code = codes.get(form.code ?? '');
        const challenge = createHash('sha256')
          .update(form.code_verifier ?? '')
          .digest('base64url');
        if (code?.isUsed === true) endFamily(code.family);
        if (
          code === undefined ||
          code.isUsed ||
          code.clientId !== id ||
          code.redirectUri !== form.redirect_uri ||
          code.challenge !== challenge ||
          code.audience !== form.resource
        )
          return send(res, 400, { error: 'invalid_grant', error_description: form.code });
        code.isUsed = true;
        return send(res, 200, await signInTokens(code));
      }
      case 'refresh_token': {
        const token = form.refresh_token ?? '';
        const known = refreshes.get(token);
        if (known?.isUsed === true) {
          self.replayed.push(token);
          endFamily(known.family);
        }
        if (known === undefined || known.isUsed || known.clientId !== id)
          return send(res, 400, { error: 'invalid_grant', error_description: token });
        if (!settings.rotates) {
          const { refresh_token: _, ...rest } = await signInTokens(known);
          return send(res, 200, rest);
        }
        known.isUsed = true;
        return send(res, 200, await signInTokens(known));
      }
      default:
        return send(res, 400, { error: 'unsupported_grant_type' });
    }
  }

  async function signInTokens({ clientId, scope, audience, account, family, nonce }: SignIn) {
    const refresh = randomBytes(24).toString('base64url');
    refreshes.set(refresh, { clientId, scope, audience, account, family, isUsed: false });
    return {
      ...(await accessToken(clientId, scope, audience, { account, family })),
      refresh_token: refresh,
      ...(settings.signer && {
        id_token: await settings.signer.sign({
          ...{ iss: self.issuer, aud: clientId, sub: account, nonce },
          ...settings.claimsOf(account),
        }),
      }),
    };
  }

  async function accessToken(
    clientId: string,
    scope: string,
    audience: string | undefined,
    of: { account?: string; family?: string } = {},
  ) {
    const account = of.account ?? clientId;
    const value =
      (await settings.signer?.sign({
        ...{ iss: self.issuer, aud: audience, sub: account, client_id: clientId, scope },
        ...settings.claimsOf(account),
      })) ?? randomBytes(24).toString('base64url');
    const expiresAtMs = Date.now() + settings.lastsSeconds * 1000;
    access.set(sha256(value), { audience, expiresAtMs, scope, family: of.family });
    tokensGiven.set(value, { account: of.account, clientId, scope });
    self.given.push(value);
    return {
      access_token: value,
      token_type: 'Bearer',
      expires_in: settings.lastsSeconds,
      ...(scope !== '' && { scope }),
    };
  }

  function guard(req: IncomingMessage, res: ServerResponse): boolean {
    const { pathname, origin: own } = new URL(req.url ?? '/', `http://${req.headers.host}`);
    const { prm, resource, scopes } = settings;
    const { pathname: guarded } = new URL(self.resource);
    const wellKnown = '/.well-known/oauth-protected-resource';
    const place = {
      challenge: '/a-place',
      path: `${wellKnown}${guarded}`,
      root: wellKnown,
      none: '',
    };
    if (pathname === place[prm]) {
      send(res, 200, {
        resource: resource ?? self.resource,
        authorization_servers: [self.issuer],
        scopes_supported: scopes,
      });
      return true;
    }
    if (pathname !== guarded) {
      send(res, 404, {});
      return true;
    }
    const [, value = ''] = /^Bearer (.+)$/.exec(req.headers.authorization ?? '') ?? [];
    const found = access.get(sha256(value));
    const isAudience =
      found?.audience === self.resource || (settings.refusesResource && found !== undefined);
    if (
      found !== undefined &&
      isAudience &&
      found.expiresAtMs > Date.now() &&
      !self.revoked.has(value)
    ) {
      const { neededScope } = settings;
      if (neededScope === '' || found.scope.split(' ').includes(neededScope)) return false;
      res.setHeader(
        'www-authenticate',
        `Bearer error="insufficient_scope", scope="${neededScope}", error_description="more"`,
      );
      send(res, 403, { error: 'insufficient_scope' });
      return true;
    }
    const named = prm === 'challenge' ? ` resource_metadata="${own}/a-place"` : '';
    res.setHeader('www-authenticate', `Bearer${named}`);
    send(res, 401, { error: 'invalid_token' });
    return true;
  }

  return self;
}

interface SignIn {
  readonly clientId: string;
  readonly scope: string;
  readonly audience: string | undefined;
  readonly account: string;
  readonly nonce?: string | undefined;
  /** All that came of one sign-in. */
  readonly family: string;
}

interface Code extends SignIn {
  readonly redirectUri: string;
  readonly challenge: string;
  isUsed: boolean;
}

interface Refresh extends SignIn {
  isUsed: boolean;
}

interface Access {
  readonly audience: string | undefined;
  readonly expiresAtMs: number;
  readonly scope: string;
  readonly family: string | undefined;
}

function credentialsOf(
  req: IncomingMessage,
  form: Record<string, string>,
): [string, string | undefined] {
  const [, basic] = /^Basic (.+)$/.exec(req.headers.authorization ?? '') ?? [];
  if (basic === undefined) return [form.client_id ?? '', form.client_secret];
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':');
  const plain = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));
  return [plain(id), plain(secret)];
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function textOf(req: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of req) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

function send(res: ServerResponse, status: number, body: object): void {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
