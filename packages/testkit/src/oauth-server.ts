import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

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
}

export interface OauthServer {
  readonly origin: string;
  readonly issuer: string;
  readonly settings: OauthServerSettings;
  /** Clients by id. */
  readonly clients: Map<string, { secret: string | undefined; redirectUris: string[] }>;
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
    ...changes,
  };
  const access = new Map<string, { audience: string | undefined; expiresAtMs: number }>();
  const paths: string[] = [];
  const server = createServer((req, res) => {
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

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
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
    return send(res, 404, {});
  }

  function document() {
    const { issuer } = self;
    return {
      issuer: settings.issuer ?? issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: settings.tokenEndpoint ?? `${issuer}/token`,
      response_types_supported: ['code'],
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    };
  }

  async function token(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const form = Object.fromEntries(new URLSearchParams(await textOf(req)));
    self.tokenRequests.push({ form, authorization: req.headers.authorization });
    if (settings.tokenDelayMs > 0)
      await new Promise((resolve) => setTimeout(resolve, settings.tokenDelayMs));
    if (settings.tokenStatus !== 200) {
      res.writeHead(settings.tokenStatus, { location: `${origin}/elsewhere` }).end('<html>');
      return;
    }
    const [id, secret] = credentialsOf(req, form);
    const client = self.clients.get(id);
    if (client === undefined || client.secret !== secret)
      return send(res, 401, { error: 'invalid_client', error_description: `no ${secret}` });
    if (settings.refusesResource && form.resource !== undefined)
      return send(res, 400, { error: 'invalid_request' });
    if (!settings.refusesResource && form.resource !== self.resource)
      return send(res, 400, { error: 'invalid_target' });
    if (form.grant_type !== 'client_credentials')
      return send(res, 400, { error: 'unsupported_grant_type' });
    return send(res, 200, tokens(form));
  }

  function tokens(form: Record<string, string>) {
    const value = randomBytes(24).toString('base64url');
    const expiresAtMs = Date.now() + settings.lastsSeconds * 1000;
    access.set(sha256(value), { audience: form.resource, expiresAtMs });
    self.given.push(value);
    return {
      access_token: value,
      token_type: 'Bearer',
      expires_in: settings.lastsSeconds,
      scope: form.scope,
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
    )
      return false;
    const named = prm === 'challenge' ? ` resource_metadata="${own}/a-place"` : '';
    res.setHeader('www-authenticate', `Bearer${named}`);
    send(res, 401, { error: 'invalid_token' });
    return true;
  }

  return self;
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
