import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { config } from '@sluice/proto-stubs';
import { createRpcClient, type RpcClient } from '@sluice/rpc';
import { type OauthServer, startOauthServer } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Asker } from '../../src/tools/upstream-oauth/asker.ts';
import { type Harness, startHarness, token } from '../support/harness.ts';

/** Tokens for MCP servers by client credentials: what is found, what is refused, and that one is asked for at a time. */
let h: Harness;
let as: OauthServer;
let server: Server;
let url: string;
const replicas: RpcClient[] = [];
const method = config.ConfigService.method.getUpstreamToken;
const secret = 's3cret+of/the client';

beforeAll(async () => {
  [h, as] = await Promise.all([startHarness(), startOauthServer()]);
  server = createServer((req, res) => {
    if (!as.guard(req, res)) res.writeHead(400).end();
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a/mcp`;
  as.clients.set('sluice', { secret, redirectUris: [] });
  const more = await Promise.all([h.replica(), h.replica()]);
  for (const { grpcPort } of [h.service, ...more])
    replicas.push(
      createRpcClient(config.ConfigService, { address: `127.0.0.1:${grpcPort}`, token }),
    );
});
afterAll(async () => {
  for (const each of replicas) each.close();
  server?.closeAllConnections();
  server?.close();
  await as?.close();
  await h?.stop();
});

const usual = {
  ...{ path: '', metadata: 'oauth', prm: 'challenge', scopes: ['tools'], lastsSeconds: 3600 },
  ...{ issuer: undefined, tokenEndpoint: undefined, resource: undefined, refusesResource: false },
  ...{ tokenStatus: 200, tokenDelayMs: 0 },
} as const;
beforeEach(() => {
  Object.assign(as.settings, usual, { scopes: ['tools'] });
  as.resource = url;
  as.tokenRequests.length = 0;
  as.paths.length = 0;
});

async function save(metadata: object = {}, change: object = {}) {
  const admin = h.as(h.first.admin_key);
  const { body: integration } = await admin
    .post('/mcp-integrations', {
      name: 'Guarded',
      url,
      auth_type: 'oauth_client_credentials',
      transport: 'http',
      workspace_id: h.first.workspace_id,
      configurations: {
        oauth_metadata: { client_id: 'sluice', client_secret: secret, ...metadata },
      },
      ...change,
    })
    .expect(200);
  const { body } = await admin
    .post('/mcp-servers', {
      name: 'Guarded',
      mcp_integration_id: integration.id,
      workspace_id: h.first.workspace_id,
    })
    .expect(200);
  return {
    serverId: body.id as string,
    path: `/mcp-integrations/${integration.id}`,
    ...integration,
  };
}

const ask = (serverId: string, refused?: Buffer, at = 0) =>
  replicas[at]!.unary(
    method,
    { serverId, ...(refused === undefined ? {} : { refusedSha256: refused }) },
    { timeoutMs: 20_000 },
  );

describe('discovery', () => {
  it.each([
    { prm: 'path' },
    { prm: 'root', metadata: 'oidc-appended', path: '/tenant' },
    { prm: 'challenge', metadata: 'oidc-inserted', path: '/tenant' },
    { prm: 'path', metadata: 'oauth', path: '/tenant/' },
  ] as const)('finds who gives tokens: %o', async (settings) => {
    Object.assign(as.settings, settings);
    if (settings.path === '/tenant/') as.settings.path = '/tenant';
    const { accessToken, fault, expiresInMs, renewInMs } = await ask((await save()).serverId);
    expect([accessToken, fault]).toEqual([as.given.at(-1), undefined]);
    expect(renewInMs).toBeGreaterThan(3_500_000);
    expect(expiresInMs - renewInMs).toBe(90_000);
    const [{ form, authorization } = { form: {}, authorization: '' }] = as.tokenRequests;
    expect(form).toMatchObject({ resource: url, scope: 'tools' });
    expect(authorization).toMatch(/^Basic /);
  });

  it('does as the admin says: endpoint, scope, way to prove who asks, no resource', async () => {
    as.settings.refusesResource = true;
    const { serverId } = await save({
      token_endpoint: `${as.origin}/token`,
      token_endpoint_auth_method: 'client_secret_post',
      scope: 'one two',
      send_resource: false,
    });
    expect((await ask(serverId)).fault).toBeUndefined();
    expect(as.tokenRequests[0]?.form).toEqual({
      grant_type: 'client_credentials',
      scope: 'one two',
      client_id: 'sluice',
      client_secret: secret,
    });
    expect(as.paths).toEqual(['/token']);
  });

  const hidden = 'http://169.254.169.254/latest';
  it.each([
    ['another issuer', { issuer: 'http://127.0.0.1:1' }, 'invalid_metadata'],
    ['another resource', { resource: 'http://127.0.0.1:1/a/mcp' }, 'invalid_metadata'],
    ['a narrower resource', { resource: 'LONGER' }, 'invalid_metadata'],
    ['a token endpoint that nobody may reach', { tokenEndpoint: hidden }, 'host.invalid'],
    ['a private one', { tokenEndpoint: 'http://10.1.2.3/token' }, 'host.invalid'],
    ['no address at all', { tokenEndpoint: 'file:///etc/passwd' }, 'invalid_token_response'],
    ['a redirect', { tokenStatus: 302 }, 'invalid_token_response'],
    ['a page', { tokenStatus: 500 }, 'invalid_token_response'],
    ['no metadata', { metadata: 'none' }, 'no_metadata'],
  ] as const)('refuses %s', async (_name, settings, code) => {
    Object.assign(as.settings, settings);
    if (as.settings.resource === 'LONGER') as.settings.resource = `${url}/deeper`;
    const { accessToken, fault } = await ask((await save()).serverId);
    expect([accessToken, fault?.code]).toEqual(['', code]);
    expect(as.paths).not.toContain('/elsewhere');
    if (!('tokenStatus' in settings)) expect(as.tokenRequests).toEqual([]);
  });

  it('is not led from https to http', async () => {
    const asker = new Asker({
      fetch: (() => Promise.reject(new Error('it was asked'))) as never,
      server: new URL('https://mcp.example.org/mcp'),
      timeoutMs: 1000,
    });
    await expect(asker.request('http://as.example.org/token')).rejects.toMatchObject({
      code: 'invalid_metadata',
    });
  });

  it('says what is missing, and what was refused, in words of its own', async () => {
    const missing = await save({ client_secret: null });
    expect((await ask(missing.serverId)).fault).toEqual(
      expect.objectContaining({ code: 'not_configured' }),
    );
    const wrong = await save({ client_secret: 'a-wrong-one' });
    const { fault } = await ask(wrong.serverId);
    expect(fault).toMatchObject({
      code: 'invalid_client',
      message: 'The token endpoint refused: invalid_client.',
    });
    expect((await ask('0197b1b0-0000-7000-8000-000000000001')).fault?.code).toBe('not_found');
    expect((await ask("';--")).fault?.code).toBe('not_found');
  });
});

describe('tokens', () => {
  it('are asked for once by three replicas, kept sealed, and used until they are to be renewed', async () => {
    as.settings.tokenDelayMs = 300;
    const { serverId, id } = await save();
    const got = await Promise.all(
      Array.from({ length: 12 }, (_, at) => ask(serverId, undefined, at % 3)),
    );
    expect(new Set(got.map(({ accessToken }) => accessToken))).toEqual(new Set([as.given.at(-1)]));
    expect(as.tokenRequests).toHaveLength(1);
    const row = await h.db.mcpIntegrationToken.findUniqueOrThrow({ where: { integrationId: id } });
    expect(Buffer.from(row.sealedToken).toString('latin1')).not.toContain(as.given.at(-1));
    // Of a token that the server refuses there is one successor, whoever asks.
    const refused = createHash('sha256')
      .update(as.given.at(-1) ?? '')
      .digest();
    const anew = await Promise.all(
      Array.from({ length: 9 }, (_, at) => ask(serverId, refused, at % 3)),
    );
    expect(new Set(anew.map(({ accessToken }) => accessToken))).toEqual(new Set([as.given.at(-1)]));
    expect(as.tokenRequests).toHaveLength(2);
  });

  it('are of the settings that they were asked for with', async () => {
    const { serverId, path } = await save();
    await ask(serverId);
    as.clients.set('other', { secret: 'other-secret', redirectUris: [] });
    await h
      .as(h.first.admin_key)
      .put(path, {
        configurations: { oauth_metadata: { client_id: 'other', client_secret: 'other-secret' } },
      })
      .expect(200);
    expect((await ask(serverId)).accessToken).toBe(as.given.at(-1));
    expect(as.tokenRequests).toHaveLength(2);
    await h.as(h.first.admin_key).put(path, { auth_type: 'none' }).expect(200);
    expect((await ask(serverId)).fault?.code).toBe('not_configured');
  });

  it('let an admin ask the server what it is', async () => {
    const { path } = await save();
    const { body } = await h.as(h.first.admin_key).post(`${path}/test`).expect(200);
    // The server behind is none; but it let us in.
    expect(body).toMatchObject({ success: false, status_code: 400 });
    expect(as.tokenRequests).toHaveLength(1);
  });
});
