import { mcpScopes, type PublicAddresses, readMcpPath, toolBaseUrl } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import express, { type Request, type RequestHandler, type Response, Router } from 'express';
import type { DatabaseClient } from '../kernel/database/client.ts';
import { callerArrival, clientAddress } from '../kernel/http/arrival.ts';
import { Attempts } from './attempts.ts';
import { type AuthorizationServer, oauthPaths } from './authorization-server.ts';
import { resourceDocument, serverDocument } from './documents.ts';
import type { InteractionPages } from './interaction.ts';
import { serversAtMax } from './issuer-logins.ts';
import { openIdCallback } from './openid-logins.ts';
import { errorPage } from './pages.ts';
import type { KeyRing } from './signing-keys.ts';
import { listServersAt } from './store.ts';
import { type UpstreamPages, upstreamPaths } from './upstream-pages.ts';

export interface OauthParts {
  client: DatabaseClient;
  server: AuthorizationServer;
  pages: InteractionPages;
  upstream: UpstreamPages;
  keys: KeyRing;
  addresses: PublicAddresses;
  now: () => Date;
}

/** What one address may ask in a minute; and everybody, of what leaves a row behind. */
const perMinute = {
  register: 20,
  registerAll: 300,
  authorize: 60,
  authorizeAll: 1_200,
  token: 600,
};
const formBytesMax = 16 * 1024;
const documentSeconds = 3_600;

/** At the root, as clients expect them; the gateway forwards them here. */
export function oauthRoutes(parts: OauthParts): Router {
  const { pages, upstream, keys } = parts;
  const router = Router();
  const form = express.urlencoded({ extended: false, limit: formBytesMax, parameterLimit: 20 });

  const brake = createBrake(parts.now);
  router.use(['/oauth', '/.well-known'], crossOrigin);

  router.get('/.well-known/oauth-protected-resource/*path', brake('token'), async (req, res) => {
    const address = readMcpPath(pathBehind(req, '/.well-known/oauth-protected-resource'));
    if (address === undefined) throw new GatewayError('request.route_not_found');
    const base = baseOf(req, parts);
    const servers = await listServersAt(parts.client, address, serversAtMax);
    // As long as an admin who has changed it may be waiting for.
    sendDocument(res, resourceDocument(base, address, servers), 60);
  });
  router.get('/.well-known/oauth-authorization-server{/*path}', (req, res) => {
    const behind = pathBehind(req, '/.well-known/oauth-authorization-server');
    const address = behind === '' ? undefined : readMcpPath(behind);
    if (behind !== '' && address === undefined) throw new GatewayError('request.route_not_found');
    sendDocument(res, serverDocument(baseOf(req, parts), address));
  });
  router.get(oauthPaths.jwks, async (_req, res) => {
    sendDocument(res, { keys: (await keys.current()).publicJwks });
  });

  router.get(`${oauthPaths.interaction}/:uid`, async (req, res) => {
    await pages.show(await asCalled(req, parts), req, res);
  });
  router.post(`${oauthPaths.interaction}/:uid`, form, async (req, res) => {
    await pages.take(await asCalled(req, parts), req, res);
  });

  router.get(openIdCallback, brake('token'), (req, res) =>
    pages.answered(baseOf(req, parts), req, res),
  );
  router.get(upstreamPaths.signIn, brake('token'), (req, res) =>
    upstream.show(baseOf(req, parts), req, res),
  );
  router.post(upstreamPaths.signIn, brake('token'), form, (req, res) =>
    upstream.take(baseOf(req, parts), req, res),
  );
  router.get(upstreamPaths.callback, brake('token'), (req, res) => upstream.back(req, res));
  router.get(upstreamPaths.clientDocument, (req, res) =>
    sendDocument(res, upstream.clientDocument(baseOf(req, parts))),
  );

  const pass: RequestHandler = async (req, res) => {
    const provider = await asCalled(req, parts);
    await provider.callback()(req, res);
  };
  router.post(oauthPaths.register, brake('register'), pass);
  router.post(
    [oauthPaths.token, oauthPaths.revoke, oauthPaths.introspect],
    brake('token'),
    asForm,
    pass,
  );
  // The answer of the pages comes back here, to the request that it belongs to.
  router.get(`${oauthPaths.authorize}/:uid`, pass);
  router.get(
    [oauthPaths.authorize, '/oauth/:server/authorize', '/oauth/:workspace/:server/authorize'],
    brake('authorize'),
    (req, _res, next) => {
      req.url = `${oauthPaths.authorize}?${askedFor(req, baseOf(req, parts))}`;
      next();
    },
    pass,
  );
  // RFC 6749 §3.1 lets a request for authorisation come as a form, too.
  router.post(
    [oauthPaths.authorize, '/oauth/:server/authorize', '/oauth/:workspace/:server/authorize'],
    form,
    (req, res) => {
      const query = new URLSearchParams(req.body as Record<string, string>);
      res.redirect(303, `${baseOf(req, parts)}${req.path}?${query}`);
    },
  );
  return router;
}

/**
 * The origin that everything here names.
 * @throws GatewayError 404 where none is set and the caller is not on this machine
 */
function baseOf(req: Request, { addresses }: OauthParts): string {
  const base = toolBaseUrl(addresses, callerArrival(req));
  if (base === '')
    throw new GatewayError('request.route_not_found', {
      message:
        'OAuth is offered where MCP_GATEWAY_BASE_URL, or PUBLIC_URL, says under which origin clients reach it.',
    });
  return base;
}

/** The library builds addresses and cookies of what the request says: it is told what we know. */
async function asCalled(req: Request, parts: OauthParts) {
  const base = baseOf(req, parts);
  const { host, protocol, pathname } = new URL(base);
  req.headers.host = host;
  req.headers['x-forwarded-host'] = host;
  req.headers['x-forwarded-proto'] = protocol.slice(0, -1);
  req.headers['x-forwarded-for'] = clientAddress(req);
  req.originalUrl = `${pathname.replace(/\/$/, '')}${req.url}`;
  return parts.server.at(base);
}

/** Parameters of RFC 6749, 7636 and 8707; others must be ignored, and so they never reach anything. */
const known = [
  'response_type',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'resource',
  'prompt',
];
const valueLengthMax = 4_096;

/** The request in the form that the library takes; a server in the path is the one that is asked for. */
function askedFor(req: Request, base: string): URLSearchParams {
  const sent = new URL(req.url, 'http://localhost').searchParams;
  const asked = new URLSearchParams();
  // Doubled ones go on, and are refused there.
  for (const [name, value] of sent)
    if (known.includes(name)) asked.append(name, value.slice(0, valueLengthMax));
  const scopes = (asked.get('scope') ?? 'mcp').split(' ');
  const taken = scopes.filter((scope) => mcpScopes.includes(scope));
  if (asked.getAll('scope').length < 2)
    asked.set('scope', (taken.length === 0 ? scopes : taken).join(' '));
  const { workspace, server } = req.params as { workspace?: string; server?: string };
  if (server === undefined) return asked;
  const issuer = `${base}${workspace === undefined ? '' : `/${workspace}`}/${server}/mcp`;
  if (!asked.has('resource')) asked.set('resource', issuer);
  asked.set('sluice_issuer', issuer);
  return asked;
}

function pathBehind(req: Request, prefix: string): string {
  return req.path.slice(prefix.length);
}

function sendDocument(res: Response, document: object, seconds = documentSeconds): void {
  res.set('cache-control', `public, max-age=${seconds}`).json(document);
}

/** Tokens may be asked for in JSON as well: as the form that says the same. */
const asForm: RequestHandler = (req, res, next) => {
  if (!/^application\/json\b/i.test(req.headers['content-type'] ?? '')) return next();
  express.json({ limit: formBytesMax, strict: true })(req, res, (error?: unknown) => {
    const body: unknown = req.body;
    const isFlat =
      error === undefined &&
      typeof body === 'object' &&
      body !== null &&
      !Array.isArray(body) &&
      Object.values(body).every((value) => typeof value === 'string');
    if (!isFlat)
      return void res.status(400).set('cache-control', 'no-store').json({
        error: 'invalid_request',
        error_description: 'the body must be a form, or a JSON object of texts',
      });
    req.headers['content-type'] = 'application/x-www-form-urlencoded';
    next();
  });
};

/** Pages of other origins may register, ask for tokens and read the documents: no cookie goes with it. */
const crossOrigin: RequestHandler = (req, res, next) => {
  const isPage = /^\/(interaction|upstream-|external-)|\/authorize$/.test(req.path);
  if (isPage) return next();
  res.set('access-control-allow-origin', '*');
  res.set('access-control-expose-headers', 'www-authenticate, retry-after');
  if (req.method !== 'OPTIONS') return next();
  res.set({
    'access-control-allow-methods': 'GET, POST, OPTIONS',
    'access-control-allow-headers': 'authorization, content-type, mcp-protocol-version',
    'access-control-max-age': '3600',
  });
  res.status(204).end();
};

function createBrake(now: () => Date) {
  const of = (max: number) => new Attempts({ max, windowMs: 60_000, now: () => now().getTime() });
  const own = {
    register: of(perMinute.register),
    authorize: of(perMinute.authorize),
    token: of(perMinute.token),
  };
  const all = { register: of(perMinute.registerAll), authorize: of(perMinute.authorizeAll) };
  return (what: keyof typeof own): RequestHandler =>
    (req, res, next) => {
      // Nobody is counted among all who is over their own.
      const waitS =
        own[what].take(clientAddress(req)) || (what === 'token' ? 0 : all[what].take('all'));
      if (waitS === 0) return next();
      res.set('retry-after', String(waitS));
      const said = `too many requests; wait ${waitS} seconds`;
      if (what === 'authorize') {
        const { html, headers } = errorPage('temporarily_unavailable', said);
        return void res.writeHead(429, { ...headers }).end(html);
      }
      res
        .status(429)
        .set('cache-control', 'no-store')
        .json({ error: 'temporarily_unavailable', error_description: said });
    };
}
