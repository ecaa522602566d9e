import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { config } from '@sluice/proto-stubs';
import { createRpcClient, type RpcClient } from '@sluice/rpc';
import {
  agreeAs,
  Browser,
  goOnFrom,
  type OauthServer,
  pageOf,
  signInUpstream,
  startOauthServer,
  waitMs,
} from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Asker } from '../../src/tools/upstream-oauth/asker.ts';
import { userKey } from '../oauth/world.ts';
import { type Harness, startHarness, token } from '../support/harness.ts';

/** Tokens for MCP servers, of the installation and of each user: what is found, what is refused, and that one is asked for at a time. */
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
  ...{ tokenStatus: 200, tokenDelayMs: 0, tokenFlood: false, refusal: undefined, iss: 'own' },
  ...{ authorizationEndpoint: undefined, promisesIss: true, registers: true, rotates: true },
} as const;
beforeEach(() => {
  h.clock.offsetMs = 0;
  as.replayed.length = 0;
  as.registrations.length = 0;
  const authMethods = ['client_secret_basic', 'client_secret_post', 'none'];
  Object.assign(as.settings, usual, { scopes: ['tools'], pkce: ['S256'], authMethods });
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
    { timeoutMs: waitMs },
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
    ['no address at all', { tokenEndpoint: 'file:///etc/passwd' }, 'invalid_metadata'],
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

const base = () => `http://127.0.0.1:${h.service.httpPort}`;
const begin = (serverId: string) => `${base()}/oauth/upstream-auth?server=${serverId}`;
let people = 0;

async function newPerson() {
  people += 1;
  const { id } = await h.db.user.create({
    data: {
      id: crypto.randomUUID(),
      organisationId: h.first.organisation_id,
      email: `person-${people}@example.com`,
      role: 'admin',
    },
  });
  return { userId: id, account: `account-${people}`, ...(await userKey(h, id)) };
}

/** A server where each user signs in. */
const saveAuto = (metadata: object | null = null) =>
  save(undefined, {
    auth_type: 'oauth_auto',
    configurations: metadata === null ? {} : { oauth_metadata: metadata },
  });

const askFor = (serverId: string, userId: string, more: object = {}, at = 0) =>
  replicas[at]!.unary(method, { serverId, userId, ...more }, { timeoutMs: waitMs });

const sha256 = (text: string) => createHash('sha256').update(text).digest();

async function signedIn(serverId: string) {
  const person = await newPerson();
  const page = await signInUpstream(
    new Browser(base()),
    begin(serverId),
    person.key,
    person.account,
  );
  expect(page.html).toContain('You are signed in');
  return person;
}

describe('users who sign in', () => {
  it('get a token of their own, which is sealed, noted and nobody else’s', async () => {
    const { serverId, id } = await saveAuto();
    const [one, two] = [await signedIn(serverId), await newPerson()];
    expect((await askFor(serverId, two.userId)).fault?.code).toBe('sign_in_required');
    const { accessToken } = await askFor(serverId, one.userId, {}, 1);
    expect(as.tokens.get(accessToken)).toMatchObject({ account: one.account, scope: 'tools' });
    expect((await askFor(serverId, '')).fault?.code).toBe('not_configured');
    const other = await saveAuto();
    expect((await askFor(other.serverId, one.userId)).fault?.code).toBe('sign_in_required');

    const asked = as.authorizations.at(-1)!;
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      resource: url,
      scope: 'tools',
      redirect_uri: `${base()}/oauth/upstream-callback`,
    });
    expect(as.registrations).toEqual([
      expect.objectContaining({ token_endpoint_auth_method: 'none', client_name: 'Sluice' }),
    ]);
    // A second person is the same client.
    await signedIn(serverId);
    expect(as.registrations).toHaveLength(1);

    const secrets = [...as.given, ...as.tokenRequests.flatMap(({ form }) => Object.values(form))]
      .filter((each) => each.length > 20 && !each.includes('/'))
      .concat(asked.get('state') ?? '');
    const kept = await Promise.all([
      h.db.mcpConnection.findMany(),
      h.db.mcpUpstreamClient.findMany(),
      h.db.auditEntry.findMany(),
    ]);
    const text = JSON.stringify(kept, (_name, value: unknown) =>
      value instanceof Uint8Array
        ? Buffer.from(value).toString('latin1')
        : typeof value === 'bigint'
          ? String(value)
          : value,
    );
    for (const secret of secrets.filter((each) => !each.startsWith('client-')))
      expect(text).not.toContain(secret);
    expect(await h.db.mcpSignIn.count()).toBe(0);
    const entry = await h.db.auditEntry.findFirstOrThrow({
      where: { resourceType: 'mcp_connections', userId: one.userId },
    });
    expect(entry).toMatchObject({ action: 'create', apiKeyId: one.keyId, resourceId: serverId });
    expect(id).toBeDefined();
  });

  it('renew a token that is used once with one request, whatever the number of replicas', async () => {
    as.settings.tokenDelayMs = 200;
    const { serverId } = await saveAuto();
    const { userId, account } = await signedIn(serverId);
    for (let round = 1; round <= 3; round += 1) {
      h.clock.offsetMs = round * 3_590_000;
      as.tokenRequests.length = 0;
      const got = await Promise.all(
        Array.from({ length: 9 }, (_, at) => askFor(serverId, userId, {}, at % 3)),
      );
      expect(new Set(got.map(({ accessToken }) => accessToken))).toEqual(
        new Set([as.given.at(-1)]),
      );
      expect(as.tokenRequests.map(({ form }) => [form.grant_type, form.resource])).toEqual([
        ['refresh_token', url],
      ]);
    }
    // One that the server does not take any more: the same, and nobody asks with the one of before.
    const refused = { refusedSha256: sha256(as.given.at(-1) ?? '') };
    await Promise.all(
      Array.from({ length: 9 }, (_, at) => askFor(serverId, userId, refused, at % 3)),
    );
    expect(as.tokenRequests).toHaveLength(2);
    expect(as.replayed).toEqual([]);
    expect(as.tokens.get(as.given.at(-1) ?? '')?.account).toBe(account);
  });

  it('are asked to sign in anew when it cannot be renewed, once, and not while the server is away', async () => {
    const { serverId } = await saveAuto();
    const { userId } = await signedIn(serverId);
    h.clock.offsetMs = 3_590_000;
    as.tokenRequests.length = 0;
    as.settings.tokenStatus = 500;
    const before = await askFor(serverId, userId);
    expect([before.fault, before.accessToken]).toEqual([undefined, as.given.at(-1)]);
    as.settings.tokenFlood = true;
    h.clock.offsetMs = 3_700_000;
    expect((await askFor(serverId, userId)).fault?.code).toMatch(/^upstream\./);
    Object.assign(as.settings, { tokenFlood: false, tokenStatus: 200 });
    as.endSignIns();
    as.tokenRequests.length = 0;
    for (let time = 0; time < 4; time += 1)
      expect((await askFor(serverId, userId, {}, time % 3)).fault?.code).toBe('sign_in_required');
    expect(as.tokenRequests).toHaveLength(1);
    const { body } = await h
      .as(h.first.admin_key)
      .get(`/mcp-servers/${serverId}/connections?user_id=${userId}`)
      .expect(200);
    expect(body.data).toEqual([expect.objectContaining({ user_id: userId, connected: false })]);
  });

  it('are asked for more when the server wants more', async () => {
    as.settings.scopes = ['tools', 'more'];
    const { serverId } = await saveAuto({ scope: 'tools' });
    const { userId, key, account } = await signedIn(serverId);
    const { accessToken } = await askFor(serverId, userId);
    const wanting = { refusedSha256: sha256(accessToken), wantedScope: 'more' };
    expect((await askFor(serverId, userId, wanting)).fault?.code).toBe('sign_in_required');
    // It still works for the rest.
    expect((await askFor(serverId, userId)).accessToken).toBe(accessToken);
    await signInUpstream(new Browser(base()), begin(serverId), key, account);
    expect(as.authorizations.at(-1)?.get('scope')).toBe('tools more');
    const now = await askFor(serverId, userId, wanting);
    expect(as.tokens.get(now.accessToken)?.scope).toBe('tools more');
    const again = { refusedSha256: sha256(now.accessToken), wantedScope: 'more' };
    expect((await askFor(serverId, userId, again)).fault?.code).toBe('insufficient_scope');
  });

  it('are signed out by themselves and by admins, at the server as well', async () => {
    const { serverId } = await saveAuto();
    const [one, two] = [await signedIn(serverId), await signedIn(serverId)];
    const path = `/mcp-servers/${serverId}/connections`;
    const own = await h.as(one.key).get(path).expect(200);
    expect(own.body.data).toEqual([
      expect.objectContaining({ user_id: one.userId, connected: true }),
    ]);
    as.paths.length = 0;
    await h.as(one.key).delete(path).expect(200);
    await h.as(h.first.admin_key).delete(`${path}?user_id=${two.userId}`).expect(200);
    expect(as.paths).toEqual(['/revoke', '/revoke']);
    for (const { userId } of [one, two])
      expect((await askFor(serverId, userId)).fault?.code).toBe('sign_in_required');
    const marks = await h.db.apiKey.findMany({
      where: { id: { in: [one.keyId, two.keyId] } },
      select: { signInMark: true },
    });
    expect(marks.every(({ signInMark }) => signInMark !== null)).toBe(true);
    const entries = await h.db.auditEntry.findMany({ where: { resourceId: serverId } });
    expect(entries.map(({ detail }) => detail)).toContainEqual(
      expect.stringContaining(`"user_id":"${two.userId}","connections":1`),
    );
  });

  it('lose what they signed in for with server, user and place in the workspace', async () => {
    const [one, two] = [await saveAuto(), await saveAuto()];
    const { userId } = await signedIn(one.serverId);
    const browser = new Browser(base());
    const person = await newPerson();
    await signInUpstream(browser, begin(two.serverId), person.key, 'x');
    const count = () =>
      h.db.mcpConnection.count({ where: { userId: { in: [userId, person.userId] } } });
    expect(await count()).toBe(2);
    as.paths.length = 0;
    await h.as(h.first.admin_key).delete(`/mcp-servers/${one.serverId}`).expect(200);
    expect(await count()).toBe(1);
    // With the server, and with the integration, at the server that gave it as well.
    expect(as.paths).toEqual(['/revoke']);
    const three = await saveAuto();
    await signedIn(three.serverId);
    await signedIn(three.serverId);
    as.paths.length = 0;
    await h.as(h.first.admin_key).delete(three.path).expect(200);
    expect(as.paths).toEqual(['/revoke', '/revoke']);
    await h.db.user.delete({ where: { id: person.userId } });
    expect(await count()).toBe(0);
  });
});

describe('a sign-in that is not what it should be', () => {
  /** As far as the page that leads away. */
  async function begun(serverId: string, browser = new Browser(base())) {
    const person = await newPerson();
    const asked = await pageOf(await browser.follow(begin(serverId)));
    const page = await pageOf(await browser.submit(asked, { do: 'login', key: person.key }));
    return { browser, person, page };
  }

  it.each([
    [
      'an endpoint that is script',
      { authorizationEndpoint: 'javascript:alert(1)' },
      'invalid_metadata',
    ],
    ['one at a private address', { authorizationEndpoint: 'http://10.1.2.3/a' }, 'host.invalid'],
    ['another issuer', { issuer: 'http://127.0.0.1:1' }, 'invalid_metadata'],
    ['no PKCE', { pkce: undefined }, 'no_pkce'],
    ['PKCE that shows the verifier', { pkce: ['plain'] }, 'no_pkce'],
    ['nobody may register', { registers: false }, 'no_client'],
    ['no way to prove who we are', { authMethods: ['private_key_jwt'] }, 'invalid_client_metadata'],
  ] as const)('does not lead away: %s', async (_name, settings, code) => {
    Object.assign(as.settings, settings);
    const { serverId } = await saveAuto();
    const { page } = await begun(serverId);
    expect([page.status, page.html.includes(`>${code}<`)]).toEqual([400, true]);
    expect(page.html).not.toContain('go-on');
    expect(await h.db.mcpSignIn.count({ where: { serverId } })).toBe(0);
  });

  const script = { error: 'access_denied', error_description: '<script>alert(1)</script>' };
  it.each([
    ['a forged iss', { iss: 'https://evil.example' }, 'invalid_token_response'],
    ['no iss where it was promised', { iss: 'none' }, 'invalid_token_response'],
    ['a refusal with script in it', { refusal: script }, 'access_denied'],
    [
      'a token endpoint that writes without an end',
      { tokenFlood: true },
      'upstream.response_too_large',
    ],
    ['a redirect of the token endpoint', { tokenStatus: 302 }, 'invalid_token_response'],
  ] as const)('comes to nothing: %s', async (_name, settings, code) => {
    const { serverId } = await saveAuto();
    const { browser, person, page } = await begun(serverId);
    Object.assign(as.settings, settings);
    const back = await agreeAs(goOnFrom(page), person.account);
    const end = await pageOf(await browser.follow(back.href));
    expect([end.status, end.html.includes(`>${code}<`)], end.html).toEqual([400, true]);
    expect(end.html).not.toContain('<script');
    expect(as.paths).not.toContain('/elsewhere');
    expect((await askFor(serverId, person.userId)).fault?.code).toBe('sign_in_required');
  });

  it('works once, in one browser, for who began it', async () => {
    const { serverId } = await saveAuto();
    const { browser, person, page } = await begun(serverId);
    const back = await agreeAs(goOnFrom(page), person.account);
    const stranger = new Browser(base());
    // Somebody else's browser, with a sign-in of its own under way, cannot be made to finish it.
    await begun(serverId, stranger);
    for (const each of [stranger, new Browser(base())])
      expect((await each.follow(back.href)).status).toBe(400);
    const forged = new URL(back);
    forged.searchParams.set('state', 'A'.repeat(43));
    const doubled = new URL(back);
    doubled.searchParams.append('state', 'x');
    for (const each of [forged, doubled])
      expect((await browser.follow(each.href)).status).toBe(400);
    as.tokenRequests.length = 0;
    const ends = await Promise.all([browser.follow(back.href), browser.follow(back.href)]);
    expect(ends.map(({ status }) => status).sort()).toEqual([200, 400]);
    expect((await browser.follow(back.href)).status).toBe(400);
    // The code went out once, so nothing that came of it was taken back.
    expect(as.tokenRequests).toHaveLength(1);
    const { accessToken } = await askFor(serverId, person.userId);
    expect(as.tokens.get(accessToken)?.account).toBe(person.account);
  });

  it('ends after ten minutes, and with the key that it was begun with', async () => {
    const { serverId } = await saveAuto();
    const late = await begun(serverId);
    const gone = await begun(serverId);
    const [lateBack, goneBack] = await Promise.all(
      [late, gone].map(({ page, person }) => agreeAs(goOnFrom(page), person.account)),
    );
    await h.as(h.first.admin_key).delete(`/api-keys/${gone.person.keyId}`).expect(200);
    expect((await gone.browser.follow(goneBack!.href)).status).toBe(400);
    h.clock.offsetMs = 601_000;
    expect((await late.browser.follow(lateBack!.href)).status).toBe(400);
  });

  it('is not begun by a form of another site, by a service key, or for a server elsewhere', async () => {
    const { serverId } = await saveAuto();
    const person = await newPerson();
    const browser = new Browser(base());
    const asked = await pageOf(await browser.follow(begin(serverId)));
    const proof = /name="proof" value="([^"]+)"/.exec(asked.html)?.[1] ?? '';
    const form = { proof, do: 'login', key: person.key };
    for (const [fields, headers] of [
      [{ ...form, proof: 'x' }, {}],
      [form, { origin: 'https://evil.example' }],
      [form, { 'sec-fetch-site': 'cross-site' }],
    ] as const)
      expect((await browser.post(asked.url, fields, headers)).status).toBe(403);
    // Whoever has no cookie of the page has the proof of somebody else.
    expect((await new Browser(base()).post(asked.url, form)).status).toBe(403);
    const service = await browser.submit(asked, { key: h.first.workspace_key });
    expect(service.status).toBe(401);
    expect((await browser.follow(begin(h.first.workspace_id))).status).toBe(404);
    expect((await browser.follow(begin("x';--"))).status).toBe(404);
    expect(asked.html).not.toContain('<script');
    expect(await h.db.mcpSignIn.count({ where: { serverId } })).toBe(0);
  });
});
