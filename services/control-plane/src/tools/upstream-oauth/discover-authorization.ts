import * as oauth from 'oauth4webapi';
import { isObject } from '../../kernel/http/json-object.ts';
import { SignInFault } from '../registry/sign-in-fault.ts';
import { type Asker, isPlain } from './asker.ts';

/** Who gives tokens for a server, and what to ask them for. */
export interface Authorization {
  readonly as: oauth.AuthorizationServer;
  /** RFC 8707. */
  readonly resource: string;
  readonly scope: string | undefined;
  /** It published metadata; else it is as the admin says, or as servers of before are. */
  readonly isPublished: boolean;
  /** Nobody said whose endpoints these are: an `iss` can be held against nothing. */
  readonly isAnonymous: boolean;
}

/** `configurations.oauth_metadata`: what the admin says goes before what is found. */
export type GivenMetadata = Readonly<Record<string, unknown>>;

const endpoints = [
  'authorization_endpoint',
  'token_endpoint',
  'registration_endpoint',
  'revocation_endpoint',
] as const;

/**
 * Asks the server who protects it (RFC 9728) and them what they are (RFC 8414, OpenID Connect Discovery), as far as the admin has not
 * said it. @param needed what must be known then @throws SignInFault, GatewayError
 */
export async function discoverAuthorization(
  asker: Asker,
  given: GivenMetadata,
  needed: readonly (typeof endpoints)[number][] = ['token_endpoint'],
): Promise<Authorization> {
  const { server } = asker;
  const said = saidEndpoints(given);
  const issuer = textOf(given.issuer);
  const scope = textOf(given.scope);
  if (said.token_endpoint !== undefined && needed.every((each) => said[each] !== undefined))
    return {
      as: { issuer: issuer ?? new URL(said.token_endpoint).origin, ...said },
      resource: resourceOf(server),
      scope,
      isPublished: false,
      isAnonymous: issuer === undefined,
    };
  const found = await protectedResource(asker);
  const named = issuer ?? found.issuer;
  const published = await findMetadata(asker, new URL(named ?? server.origin));
  const as = published ?? (named === undefined ? defaultsOf(server) : undefined);
  if (as === undefined)
    throw new SignInFault(
      'no_metadata',
      'The authorisation server of the MCP server publishes no metadata.',
    );
  return {
    as: { ...withPlainEndpoints(as, needed), ...said },
    resource: found.resource ?? resourceOf(server),
    scope: scope ?? found.scope,
    isPublished: published !== undefined,
    isAnonymous: false,
  };
}

/** Without those that are no addresses, or written as none should be. @throws SignInFault where one of them is needed */
function withPlainEndpoints(
  as: oauth.AuthorizationServer,
  needed: readonly (typeof endpoints)[number][],
): oauth.AuthorizationServer {
  const kept = { ...as };
  for (const name of endpoints) {
    if (as[name] === undefined || isPlain(String(as[name]))) continue;
    if (needed.includes(name))
      throw new SignInFault(
        'invalid_metadata',
        `The ${name} of the authorisation server is no address, or written as none should be.`,
      );
    delete kept[name];
  }
  return kept;
}

function saidEndpoints(given: GivenMetadata): Partial<Record<(typeof endpoints)[number], string>> {
  return Object.fromEntries(
    endpoints.flatMap((name) => {
      const value = textOf(given[name]);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

interface ProtectedResource {
  readonly issuer?: string | undefined;
  readonly resource?: string | undefined;
  readonly scope?: string | undefined;
}

/** A request of which nothing comes, whoever answers it: a session is not begun by it. */
const question = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

/** What the server's own refusal names, or else the well-known places; nothing of a server that is older than they are. */
async function protectedResource(asker: Asker): Promise<ProtectedResource> {
  const { server } = asker;
  const refusal = await asker.request(server.href, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: question,
  });
  const challenge = refusal.status === 401 ? (refusal.headers.get('www-authenticate') ?? '') : '';
  const asked = parameterOf(challenge, 'scope');
  const named = parameterOf(challenge, 'resource_metadata');
  const path = server.pathname.replace(/\/$/, '');
  const wellKnown = '/.well-known/oauth-protected-resource';
  const places =
    named === undefined
      ? [...new Set([`${server.origin}${wellKnown}${path}`, `${server.origin}${wellKnown}`])]
      : [named];
  for (const place of places) {
    const document = await jsonAt(asker, place);
    if (document === undefined) continue;
    const { resource, authorization_servers: issuers, scopes_supported: scopes } = document;
    if (typeof resource !== 'string' || !covers(resource, server))
      throw new SignInFault(
        'invalid_metadata',
        "The MCP server's protected resource metadata is of another resource.",
      );
    const [issuer] = Array.isArray(issuers) ? issuers : [];
    const listed = Array.isArray(scopes) ? scopes.filter((each) => typeof each === 'string') : [];
    return {
      resource,
      issuer: typeof issuer === 'string' && isPlain(issuer) ? issuer : undefined,
      scope: asked ?? (listed.length === 0 ? undefined : listed.join(' ')),
    };
  }
  return { scope: asked };
}

/** Whether a resource is the server, or what it is part of. */
function covers(resource: string, server: URL): boolean {
  const url = URL.parse(resource);
  if (url === null || url.origin !== server.origin) return false;
  const within = url.pathname.endsWith('/') ? url.pathname : `${url.pathname}/`;
  return `${server.pathname}/`.startsWith(within);
}

function parameterOf(challenge: string, name: string): string | undefined {
  return new RegExp(`\\b${name}="([^"]{1,2048})"`, 'i').exec(challenge)?.[1];
}

/** In the order in which clients ask for it. @throws SignInFault where it is of another issuer */
export async function findMetadata(
  asker: Pick<Asker, 'request'>,
  issuer: URL,
): Promise<oauth.AuthorizationServer | undefined> {
  const path = issuer.pathname.replace(/\/$/, '');
  const { origin } = issuer;
  const places = [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    ...(path === '' ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
  ];
  for (const place of places) {
    const response = await asker.request(place, { headers: { accept: 'application/json' } });
    if (response.status >= 500) throw unusable(response.status);
    if (response.status !== 200) continue;
    try {
      return await oauth.processDiscoveryResponse(issuer, response);
    } catch (error) {
      throw new SignInFault(
        'invalid_metadata',
        'The metadata of the authorisation server is of another issuer, or cannot be read.',
        error,
      );
    }
  }
  return undefined;
}

async function jsonAt(asker: Asker, place: string): Promise<Record<string, unknown> | undefined> {
  const response = await asker.request(place, { headers: { accept: 'application/json' } });
  if (response.status >= 500) throw unusable(response.status);
  if (response.status !== 200) return undefined;
  const document: unknown = await response.json().catch(() => undefined);
  return isObject(document) ? document : undefined;
}

function unusable(status: number): SignInFault {
  return new SignInFault('unavailable', `The metadata was answered with the status ${status}.`);
}

/** Servers of 2025-03-26 are their own authorisation server, at these places. */
function defaultsOf({ origin }: URL): oauth.AuthorizationServer {
  return {
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    registration_endpoint: `${origin}/register`,
    code_challenge_methods_supported: ['S256'],
  };
}

function resourceOf(server: URL): string {
  const { origin, pathname, search } = server;
  return `${origin}${pathname === '/' ? '' : pathname}${search}`;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
