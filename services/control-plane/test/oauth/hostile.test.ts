import { createPublicKey, createSign, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { hostileUrls } from '@sluice/outbound';
import { awayFrom, Browser, pageOf } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';
import {
  authorizeUrl,
  exchange,
  letIn,
  logIn,
  newServer,
  type OauthWorld,
  oauthWorld,
  proofKey,
  redirectUri,
  register,
  userKey,
} from './world.ts';

/** What callers send who mean no good, each of which must lead nowhere. */
let h: Harness;
let w: OauthWorld;
beforeAll(async () => {
  h = await startHarness();
  w = await oauthWorld(h, `http://127.0.0.1:${h.service.httpPort}`);
});
afterAll(() => h.stop());

const minute = 60_000;
/** The brakes count by the minute, and everybody here has one address. */
const waitAMinute = () => {
  h.clock.offsetMs += minute + 1;
};
const post = (path: string, body: object | string, headers: Record<string, string> = {}) =>
  fetch(`${w.base}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

describe('authorisation', () => {
  it('never redirects to what is not registered, and shows nothing of it as markup', async () => {
    const { client_id = '' } = await register(w.base);
    const { challenge } = proofKey();
    for (const bad of [
      'https://evil.example/cb',
      `${redirectUri}/more`,
      `${redirectUri}?x=1`,
      'https://client.example.com:444/callback',
      '//client.example.com/callback',
      'javascript:alert(1)',
    ]) {
      const url = authorizeUrl(w, { clientId: client_id, challenge, redirectUri: bad });
      const answer = await new Browser(w.base).get(url);
      expect(answer.status, bad).toBe(400);
      expect(answer.headers.get('location')).toBeNull();
    }
    const unknown = authorizeUrl(w, { clientId: '<script>alert(1)</script>', challenge });
    const answer = await new Browser(w.base).get(unknown);
    expect(answer.status).toBe(400);
    expect(await answer.text()).not.toContain('<script');
    expect(answer.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  it.each([
    ['no proof key', { code_challenge: '' }, 'invalid_request'],
    ['a plain proof key', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['another response type', { response_type: 'token' }, 'unsupported_response_type'],
    ['a server of others', { resource: 'https://evil.example/sums/mcp' }, 'invalid_target'],
    ['a server that looks like ours', { resource: 'BASE.evil.example/sums/mcp' }, 'invalid_target'],
    ['what is no server', { resource: 'BASE/v1/chat/completions' }, 'invalid_target'],
    ['scopes that nobody knows', { scope: 'openid profile' }, 'invalid_scope'],
    ['nobody to be asked', { prompt: 'none' }, 'login_required'],
  ])('answers %s by an error, to the client', async (_what, change, error) => {
    waitAMinute();
    const { client_id = '' } = await register(w.base);
    const url = new URL(authorizeUrl(w, { clientId: client_id, challenge: proofKey().challenge }));
    for (const [name, value] of Object.entries(change))
      if (value === '') url.searchParams.delete(name);
      else url.searchParams.set(name, value.replace('BASE', w.base));
    const browser = new Browser(w.base);
    let answer = await browser.follow(url.href);
    if (answer.status === 200)
      answer = await browser.submit(await pageOf(answer), { do: 'login', key: w.person.key });
    const away = awayFrom(answer);
    expect(away.origin).toBe('https://client.example.com');
    // Of a response in the fragment the fault is there as well.
    const said = new URLSearchParams(`${away.search.slice(1)}&${away.hash.slice(1)}`);
    expect(said.get('error')).toBe(error);
    expect(said.get('state')).toBe('a-state');
    expect(said.get('iss')).toBe(w.base);
  });

  it('refuses two servers at once', async () => {
    const { client_id = '' } = await register(w.base);
    const url = authorizeUrl(w, { clientId: client_id, challenge: proofKey().challenge });
    const two = `${url}&resource=${encodeURIComponent(`${w.base}/other/mcp`)}`;
    const away = awayFrom(await new Browser(w.base).follow(two));
    expect(away.searchParams.get('error')).toBe('invalid_target');
  });

  it('lets the person choose where no server is named, and does what a server’s own address says', async () => {
    const { client_id = '' } = await register(w.base);
    const { verifier, challenge } = proofKey();
    const browser = new Browser(w.base);
    const asked = { clientId: client_id, challenge, resource: undefined };
    const login = await pageOf(await browser.follow(authorizeUrl(w, asked)));
    const consent = await pageOf(await browser.submit(login, { do: 'login', key: w.person.key }));
    expect(consent.html).toContain(`<option value="${w.server.slug}">`);
    const tricked = await browser.submit(consent, { do: 'allow', server: '../../oauth/token' });
    expect(tricked.headers.get('location')).toBeNull();
    const away = awayFrom(await browser.submit(consent, { do: 'allow', server: w.server.slug }));
    const { body } = await exchange(w.base, {
      grant_type: 'authorization_code',
      code: away.searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      client_id,
      code_verifier: verifier,
    });
    expect(claimsOf(body.access_token).aud).toBe(`${w.base}/${w.server.slug}/mcp`);

    const own = new URL(authorizeUrl(w, { ...asked, challenge: proofKey().challenge }));
    own.pathname = `/oauth/${w.workspaceSlug}/${w.server.slug}/authorize`;
    const named = await letIn(w, own.href);
    expect(named.searchParams.get('iss')).toBe(`${w.base}/${w.workspaceSlug}/${w.server.slug}/mcp`);
  });
});

const claimsOf = (token: unknown) =>
  JSON.parse(Buffer.from(String(token).split('.')[1] ?? '', 'base64url').toString());

describe('the pages', () => {
  it('show names as text, without what turns them round, in nobody’s frame and with no script', async () => {
    waitAMinute();
    const { client_id = '' } = await register(w.base, {
      client_name: '"><script>alert(1)</script>\u202E\u200B\u0000gnp',
    });
    const url = authorizeUrl(w, { clientId: client_id, challenge: proofKey().challenge });
    const browser = new Browser(w.base);
    const answer = await browser.follow(url);
    const headers = Object.fromEntries(answer.headers);
    const login = await pageOf(answer);
    const consent = await pageOf(await browser.submit(login, { do: 'login', key: w.person.key }));
    for (const { html } of [login, consent]) {
      expect(html).not.toContain('<script');
      expect(html).not.toMatch(/[\u202E\u200B]/u);
      expect(html).toContain('&lt;script&gt;');
    }
    expect(consent.html).toContain('client.example.com');
    expect(
      awayFrom(await browser.submit(consent, { do: 'allow' })).searchParams.get('code'),
    ).toBeTruthy();
    expect(headers['content-security-policy']).toMatch(
      /default-src 'none'.*form-action 'self' https:\/\/client\.example\.com; frame-ancestors 'none'/,
    );
    expect(headers['x-frame-options']).toBe('DENY');
    expect(headers['cache-control']).toBe('no-store');
  });

  it('let nobody answer for another: neither from another browser, nor from another site, nor without the proof', async () => {
    waitAMinute();
    const { client_id = '' } = await register(w.base);
    const url = authorizeUrl(w, { clientId: client_id, challenge: proofKey().challenge });
    const victim = new Browser(w.base);
    const login = await pageOf(await victim.follow(url));
    const consent = await pageOf(await victim.submit(login, { do: 'login', key: w.person.key }));
    const attacker = new Browser(w.base);
    await attacker.follow(url);
    expect((await attacker.submit(consent, { do: 'allow' })).status).toBe(400);
    expect((await attacker.get(consent.url)).status).toBe(400);
    expect((await victim.post(consent.url, { do: 'allow' })).status).toBe(403);
    expect((await victim.post(consent.url, { do: 'allow', proof: 'x' })).status).toBe(403);
    const proof = /name="proof" value="([^"]+)"/.exec(consent.html)?.[1] ?? '';
    const foreign = { origin: 'https://evil.example' };
    expect((await victim.post(consent.url, { do: 'allow', proof }, foreign)).status).toBe(403);
    const site = { 'sec-fetch-site': 'cross-site' };
    expect((await victim.post(consent.url, { do: 'allow', proof }, site)).status).toBe(403);
    const denied = awayFrom(await victim.submit(consent, { do: 'deny' }));
    expect(denied.searchParams.get('error')).toBe('access_denied');
    // What was answered cannot be answered again.
    expect((await victim.submit(consent, { do: 'allow' })).status).toBe(400);
  });

  it('log in with a person’s key of this workspace, and not many times a minute', async () => {
    waitAMinute();
    const { client_id = '' } = await register(w.base);
    const url = authorizeUrl(w, { clientId: client_id, challenge: proofKey().challenge });
    const browser = new Browser(w.base);
    const login = await pageOf(await browser.follow(url));
    const tries = [h.first.workspace_key, h.first.admin_key, 'sl_guess', ''];
    for (const key of tries)
      expect((await browser.submit(login, { do: 'login', key })).status, key).toBe(401);
    const weak = await userKey(h, w.person.userId, ['completions.write']);
    expect((await browser.submit(login, { do: 'login', key: weak.key })).status).toBe(401);
    for (let at = 0; at < 5; at += 1) await browser.submit(login, { do: 'login', key: 'x' });
    const braked = await browser.submit(login, { do: 'login', key: w.person.key });
    expect(braked.status).toBe(429);
    expect(braked.headers.get('retry-after')).not.toBeNull();
  });

  it('ask of a new client always, of one that was let in at https not again, and of an app each time', async () => {
    waitAMinute();
    const browser = new Browser(w.base);
    const { client_id = '' } = await register(w.base);
    const ask = (clientId: string, change: object = {}) =>
      authorizeUrl(w, { clientId, challenge: proofKey().challenge, ...change });
    await letIn(w, ask(client_id), browser);
    // The same person, the same browser: only the client is new.
    const stranger = (await register(w.base)).client_id ?? '';
    expect((await browser.follow(ask(stranger))).status).toBe(200);
    expect(awayFrom(await browser.follow(ask(client_id))).searchParams.get('code')).toBeTruthy();
    expect((await browser.follow(ask(client_id, { scope: 'mcp mcp:*' }))).status).toBe(200);
    expect((await browser.follow(ask(client_id, { more: { prompt: 'consent' } }))).status).toBe(
      200,
    );
    const local = 'http://127.0.0.1:7777/cb';
    const app =
      (await register(w.base, { redirect_uris: ['http://127.0.0.1:1/cb'] })).client_id ?? '';
    await letIn(w, ask(app, { redirectUri: local }), browser);
    expect((await browser.follow(ask(app, { redirectUri: local }))).status).toBe(200);
  });

  it('offer no server that the person may not use', async () => {
    waitAMinute();
    const { integrationId } = await h.db.mcpServer.findUniqueOrThrow({
      where: { id: w.server.id },
    });
    const closed = await newServer(h, String(integrationId), 'closed');
    const { client_id = '' } = await register(w.base);
    const resource = `${w.base}/closed/mcp`;
    const page = async () => {
      const browser = new Browser(w.base);
      const asked = { clientId: client_id, challenge: proofKey().challenge, resource };
      const login = await pageOf(await browser.follow(authorizeUrl(w, asked)));
      const answer = await browser.submit(login, { do: 'login', key: w.person.key });
      return [answer.status, (await answer.text()).includes('value="allow"')];
    };
    const open = async (enabled: boolean) => {
      const workspaces = [{ id: h.first.workspace_id, enabled }];
      const path = `/mcp-integrations/${integrationId}/workspaces`;
      await h.as(h.first.admin_key).put(path, { workspaces }).expect(200);
    };
    expect(await page()).toEqual([200, true]);
    await open(false);
    expect(await page()).toEqual([403, false]);
    await open(true);
    await h
      .as(h.first.workspace_key)
      .put(`/mcp-servers/${closed.id}/user-access`, { default_user_access: 'deny' })
      .expect(200);
    expect(await page()).toEqual([403, false]);
  });
});

describe('tokens', () => {
  const refresh = (clientId: string, token: string, more: object = {}) =>
    exchange(w.base, {
      grant_type: 'refresh_token',
      refresh_token: token,
      client_id: clientId,
      ...more,
    });

  it('a code works once, for its client, its address and its proof; a second time ends what the first gave', async () => {
    waitAMinute();
    const { client_id = '' } = await register(w.base);
    const other = (await register(w.base)).client_id ?? '';
    const fresh = async () => {
      const { verifier, challenge } = proofKey();
      const away = await letIn(w, authorizeUrl(w, { clientId: client_id, challenge }));
      return {
        grant_type: 'authorization_code',
        code: away.searchParams.get('code') ?? '',
        redirect_uri: redirectUri,
        client_id,
        code_verifier: verifier,
      };
    };
    const form = await fresh();
    const bads: Record<string, string>[] = [
      { code_verifier: proofKey().verifier },
      { redirect_uri: 'https://client.example.com/other' },
      { client_id: other },
      { resource: `${w.base}/another/mcp` },
      { code: `${form.code}x` },
    ];
    for (const bad of bads) {
      const { status, body } = await exchange(w.base, { ...(await fresh()), ...bad });
      expect(status, JSON.stringify(bad)).toBe(400);
      expect(String(body.error)).toMatch(/^invalid_(grant|target)$/);
    }
    const { body } = await exchange(w.base, form);
    const again = await exchange(w.base, form);
    expect([again.status, again.body.error]).toEqual([400, 'invalid_grant']);
    expect((await refresh(client_id, String(body.refresh_token))).body.error).toBe('invalid_grant');

    const raced = await fresh();
    const all = await Promise.all(Array.from({ length: 5 }, () => exchange(w.base, raced)));
    expect(all.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1);
    for (const { status, body: given } of all)
      if (status === 200)
        expect((await refresh(client_id, String(given.refresh_token))).status).toBe(400);
  });

  it('a dead refresh token is 400 invalid_grant; unknown clients are 401 invalid_client', async () => {
    waitAMinute();
    const mine = await logIn(w);
    for (const token of ['x', '', 'a'.repeat(5000), mine.accessToken]) {
      const { status, body } = await refresh(mine.clientId, token);
      expect(status).toBe(400);
      expect(String(body.error)).toMatch(/^invalid_(grant|request)$/);
    }
    const theirs = await refresh((await register(w.base)).client_id ?? '', mine.refreshToken);
    expect([theirs.status, theirs.body.error]).toEqual([400, 'invalid_grant']);
    const nobody = await refresh('nobody', mine.refreshToken);
    expect([nobody.status, nobody.body.error]).toEqual([401, 'invalid_client']);
    const basic = await exchange(
      w.base,
      { grant_type: 'refresh_token', refresh_token: mine.refreshToken },
      { authorization: `Basic ${Buffer.from(`${mine.clientId}:wrong`).toString('base64')}` },
    );
    expect(basic.status).toBe(401);
    expect(basic.headers.get('www-authenticate')).toMatch(/^Basic /);
    const odd = await exchange(w.base, {
      grant_type: 'client_credentials',
      client_id: mine.clientId,
    });
    expect([odd.status, odd.body.error]).toEqual([400, 'unsupported_grant_type']);
    expect((await refresh(mine.clientId, mine.refreshToken)).status).toBe(200);
  });

  it('end with the key, with the membership’s rights and with the server', async () => {
    waitAMinute();
    const second = await userKey(h, w.person.userId);
    const one = await logIn({ ...w, person: { ...w.person, ...second } });
    await h.as(h.first.workspace_key).delete(`/api-keys/${second.keyId}`).expect(200);
    expect((await refresh(one.clientId, one.refreshToken)).body.error).toBe('invalid_grant');
    expect(await h.db.oauthRecord.count({ where: { grant: { apiKeyId: second.keyId } } })).toBe(0);

    const { integrationId } = await h.db.mcpServer.findUniqueOrThrow({
      where: { id: w.server.id },
    });
    const server = await newServer(h, String(integrationId), 'short-lived');
    const two = await logIn({ ...w, server });
    await h.as(h.first.workspace_key).delete(`/mcp-servers/${server.id}`).expect(200);
    expect((await refresh(two.clientId, two.refreshToken)).body.error).toBe('invalid_grant');
  });

  it('are not given, nor worth anything, while the key is suspended', async () => {
    waitAMinute();
    const second = await userKey(h, w.person.userId);
    const mine = { ...w, person: { ...w.person, ...second } };
    const { client_id = '', client_secret = '' } = await register(w.base, {
      token_endpoint_auth_method: 'client_secret_post',
    });
    const as = { client_id, client_secret };
    const { verifier, challenge } = proofKey();
    const away = await letIn(mine, authorizeUrl(w, { clientId: client_id, challenge }));
    const { body } = await exchange(w.base, {
      ...as,
      grant_type: 'authorization_code',
      code: away.searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
    });
    const isActive = async (token: unknown) => {
      const form = new URLSearchParams({ ...as, token: String(token) });
      const answer = await fetch(`${w.base}/oauth/introspect`, { method: 'POST', body: form });
      return ((await answer.json()) as { active: boolean }).active;
    };
    expect(await isActive(body.access_token)).toBe(true);
    const turn = (path: string) =>
      h.as(h.first.workspace_key).post(`/api-keys/${second.keyId}/${path}`).expect(200);
    await turn('suspend');
    expect(await isActive(body.access_token)).toBe(false);
    expect(await isActive(body.refresh_token)).toBe(false);
    const renewed = await refresh(client_id, String(body.refresh_token), as);
    expect([renewed.status, renewed.body.error]).toEqual([400, 'invalid_grant']);
    const browser = new Browser(w.base);
    const login = await pageOf(
      await browser.follow(authorizeUrl(w, { clientId: client_id, challenge })),
    );
    expect((await browser.submit(login, { do: 'login', key: second.key })).status).toBe(401);
    await turn('resume');
    expect((await refresh(client_id, String(body.refresh_token), as)).status).toBe(200);
  });

  it('a renewal that is refused for what it asks leaves the refresh token as it was', async () => {
    waitAMinute();
    const mine = await logIn(w, { scope: 'mcp:read' });
    for (const [error, asked] of [
      ['invalid_scope', { scope: 'mcp:read mcp' }],
      ['invalid_target', { resource: `${w.base}/another/mcp` }],
      ['invalid_target', { resource: `${w.base}/${w.workspaceSlug}/${w.server.slug}/mcp` }],
      ['invalid_target', { resource: 'https://evil.example/sums/mcp' }],
    ] as const)
      expect((await refresh(mine.clientId, mine.refreshToken, asked)).body.error).toBe(error);
    const resource = `${w.base}/${w.server.slug}/mcp`;
    expect((await refresh(mine.clientId, mine.refreshToken, { resource })).status).toBe(200);
  });

  it('are introspected and revoked by their own client only; forged ones mean nothing', async () => {
    waitAMinute();
    const mine = await logIn(w);
    const secretive = await register(w.base, { token_endpoint_auth_method: 'client_secret_post' });
    const asked = (path: string, token: string, as: Record<string, string>) =>
      fetch(`${w.base}${path}`, { method: 'POST', body: new URLSearchParams({ token, ...as }) });
    const stranger = {
      client_id: secretive.client_id ?? '',
      client_secret: secretive.client_secret ?? '',
    };
    expect((await asked('/oauth/introspect', mine.accessToken, {})).status).toBe(400);
    for (const token of [mine.accessToken, mine.refreshToken]) {
      const answer = await asked('/oauth/introspect', token, stranger);
      expect(await answer.json()).toEqual({ active: false });
      const open = await asked('/oauth/introspect', token, { client_id: mine.clientId });
      expect(await open.json()).toEqual({ active: false });
    }
    expect((await asked('/oauth/revoke', mine.accessToken, stranger)).status).toBe(200);
    expect(
      (await asked('/oauth/revoke', forged(mine.accessToken), { client_id: mine.clientId })).status,
    ).toBe(200);
    expect((await asked('/oauth/revoke', 'nothing', { client_id: mine.clientId })).status).toBe(
      200,
    );
    const renewed = await refresh(mine.clientId, mine.refreshToken);
    expect(renewed.status).toBe(200);
    const own = { client_id: mine.clientId };
    expect((await asked('/oauth/revoke', String(renewed.body.access_token), own)).status).toBe(200);
    expect((await refresh(mine.clientId, String(renewed.body.refresh_token))).status).toBe(400);
  });

  it('leave an entry in the audit log, of who let whom in, and of the end', async () => {
    const entries = await h.db.auditEntry.findMany({
      where: { resourceType: 'mcp_grants' },
      orderBy: { sequence: 'asc' },
    });
    const made = entries.find(({ action }) => action === 'create');
    expect(made).toMatchObject({ userId: w.person.userId, workspaceId: h.first.workspace_id });
    expect(made?.after).toContain('client.example.com');
    expect(entries.some(({ action }) => action === 'delete')).toBe(true);
    const text = JSON.stringify(entries, (_k, v) => (typeof v === 'bigint' ? String(v) : v));
    expect(text).not.toContain(w.person.key);
  });
});

/** The same claims, signed by somebody else who calls their key by our name. */
function forged(token: string): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  expect(createPublicKey(privateKey).asymmetricKeyType).toBe('rsa');
  const signed = token.split('.').slice(0, 2).join('.');
  return `${signed}.${createSign('sha256').update(signed).sign(privateKey, 'base64url')}`;
}

// From here on the clock is moved by hours, which the library does not see.
describe('registration', () => {
  it.each([
    'http://evil.example/cb',
    'http://127.0.0.1.evil.example/cb',
    'http://localhost.evil.example/cb',
    'https://user@evil.example/cb',
    'https://ok.example/cb#fragment',
    'https://*.example.com/cb',
    'https://ok.example/*',
    'https://ok.example\\@evil.example/',
    'https://ok.example/\u202Eevil',
    'https://127.0.0.1/cb',
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,x',
    'file:///etc/passwd',
    'blob:https://ok.example/1',
    'view-source:https://ok.example',
    '/relative',
    '',
    `https://ok.example/${'a'.repeat(3000)}`,
    7,
  ])('refuses to answer to %j', async (uri) => {
    waitAMinute();
    const answer = await post('/oauth/register', {
      redirect_uris: ['https://ok.example/cb', uri],
      token_endpoint_auth_method: 'none',
    });
    expect(answer.status).toBe(400);
    expect(((await answer.json()) as { error: string }).error).toMatch(
      /^invalid_(redirect_uri|client_metadata)$/,
    );
  });

  it.each([
    'https://client.example.com/cb',
    'http://localhost:3000/cb',
    'http://127.0.0.1/cb',
    'http://[::1]:9/cb',
    'cursor://anysphere.cursor-retrieval/oauth/callback',
    'com.example.app:/cb',
  ])('takes %s', async (uri) => {
    waitAMinute();
    await register(w.base, { redirect_uris: [uri] });
  });

  it('makes a client of each, equal as they may be; and takes no ids, secrets or other grants from it', async () => {
    waitAMinute();
    const same = { client_id: 'mine', client_secret: 'chosen', client_name: 'Same' };
    const [one, two] = [await register(w.base, same), await register(w.base, same)];
    expect(one.client_id).not.toBe(two.client_id);
    expect([one.client_id, one.client_secret]).not.toContain('mine');
    expect(one.client_secret).toBeUndefined();
    for (const grant of ['client_credentials', 'implicit', 'password']) {
      const answer = await post('/oauth/register', {
        redirect_uris: [redirectUri],
        grant_types: [grant],
      });
      expect(answer.status, grant).toBe(400);
    }
  });

  it('is braked, by address; and bodies that are too much are refused', async () => {
    waitAMinute();
    const statuses = [];
    for (let at = 0; at < 25; at += 1)
      statuses.push((await post('/oauth/register', { redirect_uris: [redirectUri] })).status);
    expect(statuses.slice(0, 20)).toEqual(Array(20).fill(201));
    expect(statuses.slice(20)).toEqual(Array(5).fill(429));
    waitAMinute();
    expect((await post('/oauth/register', `{"a":"${'x'.repeat(200_000)}"}`)).status).toBe(400);
    expect((await post('/oauth/register', '[]')).status).toBe(400);
    expect((await post('/oauth/register', '{')).status).toBe(400);
  });

  it('leaves nothing behind that nobody let in, and is swept', async () => {
    const unused = () => h.db.oauthClient.count({ where: { usedAt: null } });
    expect(await unused()).toBeGreaterThan(20);
    const later = await h.replica({ OAUTH_MAINTENANCE_INTERVAL: 20 });
    h.clock.offsetMs += 25 * 3_600_000;
    await expect.poll(unused).toBe(0);
    await later.close();
  });
});

it('proof 8: documents of clients are fetched from no host that must not be reached', async () => {
  const production = await h.replica({ NODE_ENV: 'production' });
  let reached = 0;
  const inside = createServer((socket) => {
    reached += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => inside.listen(0, '127.0.0.1', resolve));
  const { port } = inside.address() as AddressInfo;
  const own = ['127.0.0.1', 'localhost', '[::ffff:127.0.0.1]', '2130706433', '0x7f.1', '127.1'];
  const corpus = hostileUrls.map((url) => url.replace(/^https?:/i, 'https:'));
  const base = `http://127.0.0.1:${production.httpPort}`;
  for (const clientId of [...own.map((host) => `https://${host}:${port}/c.json`), ...corpus]) {
    waitAMinute();
    const url = authorizeUrl({ ...w, base }, { clientId, challenge: proofKey().challenge });
    const answer = await new Browser(base).get(url);
    expect([answer.status, answer.headers.get('location')], clientId).toEqual([400, null]);
  }
  expect(reached).toBe(0);
  inside.close();
  await production.close();
});

it('whoever names documents of clients without end leaves some for others', async () => {
  waitAMinute();
  const isBraked = async (at: number, localAddress: string) => {
    const clientId = `https://clients.invalid/${at}`;
    const url = authorizeUrl(w, { clientId, challenge: proofKey().challenge });
    const [answer] = await once(request(url, { localAddress }).end(), 'response');
    return (await text(answer)).includes('fetch not allowed');
  };
  const braked = [];
  for (let at = 0; at < 60; at += 1) braked.push(await isBraked(at, '127.0.0.1'));
  expect(braked.slice(0, 5)).not.toContain(true);
  expect(braked.slice(20)).not.toContain(false);
  expect(await isBraked(99, '127.0.0.2')).toBe(false);
});

it('keys are made once, published before they sign, and forgotten when no token is signed with them', async () => {
  const rotating = await h.replica({ OAUTH_MAINTENANCE_INTERVAL: 20, MCP_SIGNING_KEY_DAYS: 90 });
  const published = async () => {
    // Each replica reads them every half minute.
    h.clock.offsetMs += minute;
    const answer = await fetch(`${w.base}/.well-known/jwks.json`);
    return ((await answer.json()) as { keys: { kid: string }[] }).keys.map(({ kid }) => kid);
  };
  const kidOf = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid as string;
  const [first = ''] = await published();
  waitAMinute();
  expect(kidOf((await logIn(w)).accessToken)).toBe(first);
  h.clock.offsetMs += 91 * 24 * 60 * minute;
  await expect.poll(published).toHaveLength(2);
  waitAMinute();
  expect(kidOf((await logIn(w)).accessToken)).toBe(first);
  h.clock.offsetMs += 66 * minute;
  const next = kidOf((await logIn(w)).accessToken);
  expect(next).not.toBe(first);
  h.clock.offsetMs += 200 * minute;
  await expect.poll(published).toEqual([next]);
  await rotating.close();
});
