import { createHash, randomBytes } from 'node:crypto';
import { awayFrom, Browser, pageOf } from '@sluice/testkit';
import { expect } from 'vitest';
import type { Harness } from '../support/harness.ts';

/** An MCP server and a person with a key, in the first organisation's workspace. */
export interface OauthWorld {
  readonly base: string;
  readonly server: { readonly id: string; readonly slug: string };
  readonly person: { readonly userId: string; readonly key: string; readonly keyId: string };
  readonly workspaceSlug: string;
}

export async function oauthWorld(h: Harness, base: string): Promise<OauthWorld> {
  const { first } = h;
  const { body: integration } = await h
    .as(first.admin_key)
    .post('/mcp-integrations', {
      name: 'Calculator',
      slug: 'calculator',
      url: 'https://mcp.example.com/mcp',
      auth_type: 'none',
      transport: 'http',
    })
    .expect(200);
  await h
    .as(first.admin_key)
    .put(`/mcp-integrations/${integration.id}/workspaces`, {
      workspaces: [{ id: first.workspace_id, enabled: true }],
    })
    .expect(200);
  const server = await newServer(h, integration.id, 'sums');
  const owner = await h.db.user.findFirstOrThrow({
    where: { organisationId: first.organisation_id },
  });
  const workspace = await h.db.workspace.findFirstOrThrow({ where: { id: first.workspace_id } });
  return {
    base,
    server,
    person: { userId: owner.id, ...(await userKey(h, owner.id)) },
    workspaceSlug: workspace.slug,
  };
}

export async function newServer(h: Harness, integrationId: string, slug: string) {
  const { body } = await h
    .as(h.first.workspace_key)
    .post('/mcp-servers', { name: slug, slug, mcp_integration_id: integrationId })
    .expect(200);
  return { id: body.id as string, slug: body.slug as string };
}

export async function userKey(h: Harness, userId: string, scopes = ['mcp.invoke']) {
  const { body } = await h
    .as(h.first.workspace_key)
    .post('/api-keys/workspace/user', { name: 'For MCP', scopes, user_id: userId });
  expect(body.key, JSON.stringify(body)).toBeDefined();
  return { key: body.key as string, keyId: body.id as string };
}

export const redirectUri = 'https://client.example.com/callback';

/** Registers a client; a public one unless told otherwise. */
export async function register(
  base: string,
  metadata: object = {},
): Promise<Record<string, string>> {
  const answer = await fetch(`${base}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_name: 'A client',
      redirect_uris: [redirectUri],
      token_endpoint_auth_method: 'none',
      ...metadata,
    }),
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(201);
  return JSON.parse(text);
}

export function proofKey() {
  const verifier = randomBytes(32).toString('base64url');
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

export interface Asked {
  clientId: string;
  challenge: string;
  redirectUri?: string;
  resource?: string | undefined;
  scope?: string;
  state?: string;
  more?: Record<string, string>;
}

export function authorizeUrl(w: OauthWorld, asked: Asked): string {
  const url = new URL(`${w.base}/oauth/authorize`);
  const resource = 'resource' in asked ? asked.resource : `${w.base}/${w.server.slug}/mcp`;
  for (const [name, value] of Object.entries({
    response_type: 'code',
    client_id: asked.clientId,
    redirect_uri: asked.redirectUri ?? redirectUri,
    code_challenge: asked.challenge,
    code_challenge_method: 'S256',
    state: asked.state ?? 'a-state',
    ...(resource === undefined ? {} : { resource }),
    ...(asked.scope === undefined ? {} : { scope: asked.scope }),
    ...asked.more,
  }))
    url.searchParams.set(name, value);
  return url.href;
}

/** Logs in, lets the client in, and says where the browser is sent. */
export async function letIn(
  w: OauthWorld,
  url: string,
  browser = new Browser(w.base),
): Promise<URL> {
  let answer = await browser.follow(url);
  let page = await pageOf(answer);
  if (page.html.includes('name="key"')) {
    answer = await browser.submit(page, { do: 'login', key: w.person.key });
    if (answer.headers.get('location') !== null) return awayFrom(answer);
    page = await pageOf(answer);
  }
  expect(page.html).toContain('value="allow"');
  return awayFrom(await browser.submit(page, { do: 'allow' }));
}

export async function exchange(
  base: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }> {
  const answer = await fetch(`${base}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(form),
    headers,
  });
  const body = (await answer.json()) as Record<string, unknown>;
  return { status: answer.status, body, headers: answer.headers };
}

export interface LoggedIn {
  clientId: string;
  accessToken: string;
  refreshToken: string;
}

/** A public client all the way. */
export async function logIn(w: OauthWorld, asked: Partial<Asked> = {}): Promise<LoggedIn> {
  const clientId = asked.clientId ?? (await register(w.base)).client_id ?? '';
  const { verifier, challenge } = proofKey();
  const away = await letIn(w, authorizeUrl(w, { ...asked, clientId, challenge }));
  const { status, body } = await exchange(w.base, {
    grant_type: 'authorization_code',
    code: away.searchParams.get('code') ?? '',
    redirect_uri: asked.redirectUri ?? redirectUri,
    client_id: clientId,
    code_verifier: verifier,
  });
  expect(status, JSON.stringify(body)).toBe(200);
  return {
    clientId,
    accessToken: String(body.access_token),
    refreshToken: String(body.refresh_token),
  };
}
