import { config } from '@sluice/proto-stubs';
import { type Issuer, startIssuer, waitMs } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createPerson } from '../support/fixture.ts';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
let issuer: Issuer;
beforeAll(async () => {
  [h, issuer] = await Promise.all([startHarness(), startIssuer()]);
});
afterAll(async () => {
  await h.stop();
  await issuer.close();
});
beforeEach(() => trust());

const trust = (over: object = {}, key = h.first.admin_key) =>
  h
    .as(key)
    .put('/admin/organisation/auth-settings', { jwt: { jwks_url: issuer.jwksUrl, ...over } })
    .expect(200);
const claims = (over: object = {}) => ({
  service_oid: h.first.organisation_id,
  service_workspace: h.first.workspace_slug,
  scope: 'configs.list configs.create configs.read',
  sub: 'alice',
  ...over,
});
const asToken = async (over: object = {}, options = {}) =>
  h.as(await issuer.sign(claims(over), options));
const entries = (where: object) =>
  h.db.auditEntry.findMany({
    where: { organisationId: h.first.organisation_id, ...where },
    orderBy: { sequence: 'asc' },
  });

describe('a JWT', () => {
  it('is a credential for what its scopes allow, in its own workspace', async () => {
    const token = await asToken();
    const created = await token.post('/configs', {
      name: 'By token',
      config: { provider: '@demo' },
    });
    expect(created.status, created.text).toBe(200);
    const { slug } = created.body.data;
    expect((await h.as(h.first.workspace_key).get(`/configs/${slug}`)).status).toBe(200);
    expect((await token.delete(`/configs/${slug}`)).body.data.errorCode).toBe('AB03');
  });

  it('may come as a bearer token, and names its workspace by UUID, or has the default one', async () => {
    for (const service_workspace of [h.first.workspace_id, undefined]) {
      const token = await issuer.sign(claims({ service_workspace }));
      const base = `http://127.0.0.1:${h.service.httpPort}/v1`;
      const answer = await fetch(`${base}/configs`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect(answer.status).toBe(200);
    }
  });

  it('sees its own workspace whatever the request names', async () => {
    const made = await h.as(h.first.admin_key).post('/admin/workspaces', { name: 'Elsewhere' });
    const token = await asToken({ service_workspace: made.body.slug });
    const listed = await token.get(`/configs?workspace_id=${h.first.workspace_id}`);
    expect([listed.status, listed.body.data]).toEqual([200, []]);
  });

  it('of another workspace has idempotency keys of its own', async () => {
    const made = await h.as(h.first.admin_key).post('/admin/workspaces', { name: 'Elsewhere' });
    const body = { name: 'Nightly', config: { retry: { attempts: 1 } } };
    const send = async (service_workspace: string) =>
      (await asToken({ service_workspace }))
        .post('/configs', body)
        .set('idempotency-key', 'nightly-1')
        .expect(200);
    const [here, there] = [await send(h.first.workspace_slug), await send(made.body.slug)];
    expect(there.headers['idempotent-replayed']).toBeUndefined();
    expect(there.body.data.id).not.toBe(here.body.data.id);
    expect((await send(made.body.slug)).body.data.id).toBe(there.body.data.id);
  });

  it('is never like an organisation key, and holds no scope that JWTs cannot have', async () => {
    const scopes = [
      'organisation_settings.read',
      'workspaces.create',
      'audit_logs.list',
      'policies.list',
    ];
    const token = await asToken({ scope: undefined, scopes });
    for (const path of [
      '/admin/organisation/auth-settings',
      '/audit-logs',
      '/policies/rate-limits',
    ])
      expect((await token.get(path)).status, path).toBe(403);
    expect((await token.post('/admin/workspaces', { name: 'x' })).status).toBe(403);
  });

  it('has the scopes of the settings when it names none, and none without those', async () => {
    expect((await (await asToken({ scope: undefined })).get('/configs')).status).toBe(403);
    await trust({ default_scopes: ['configs.list'] });
    expect((await (await asToken({ scope: undefined })).get('/configs')).status).toBe(200);
  });

  it('is written down as a user, with its subject; a member is known by the address', async () => {
    const person = await createPerson(h, 'member', h.first.workspace_id);
    const { email } = await h.db.user.findUniqueOrThrow({ where: { id: person.userId } });
    const body = { name: 'Written', config: { provider: '@demo' } };
    await (await asToken()).post('/configs', body).expect(200);
    await (await asToken({ email_id: email.toUpperCase() })).post('/configs', body).expect(200);
    const [stranger, member] = (await entries({ resourceType: 'configs' })).slice(-2);
    expect(stranger).toMatchObject({ userType: 'user', userId: null, apiKeyId: null });
    expect(JSON.parse(stranger?.detail ?? '')).toMatchObject({ subject: 'alice' });
    expect(member).toMatchObject({ userType: 'user', userId: person.userId, apiKeyId: null });
    expect(JSON.stringify([stranger?.requestHeaders, member?.requestHeaders])).not.toContain('eyJ');
  });

  it('gives feedback, which is a workspace key’s to give', async () => {
    const token = await asToken({ scope: 'feedbacks.write' });
    const answer = await token.post('/feedback', { trace_id: 'a-trace', value: 5 });
    expect(answer.status, answer.text).toBe(200);
  });

  it('counts no more as soon as the settings change', async () => {
    const token = await asToken();
    expect((await token.get('/configs')).status).toBe(200);
    await trust({ claim_values: { aud: ['sluice'] } });
    expect((await token.get('/configs')).status).toBe(401);
  });
});

describe('a JWT is refused', () => {
  it.each<[string, () => Promise<{ over?: object; options?: object }>, number]>([
    ['expired', async () => ({ over: { exp: Math.floor(Date.now() / 1000) - 60 } }), 401],
    ['without an end', async () => ({ over: { exp: undefined } }), 401],
    ['for nobody', async () => ({ over: { service_oid: undefined } }), 401],
    ['for no organisation', async () => ({ over: { service_oid: 'not-a-uuid' } }), 401],
    [
      'for an unknown organisation',
      async () => ({ over: { service_oid: '00000000-0000-7000-8000-000000000000' } }),
      401,
    ],
    ['with an unknown key', async () => ({ options: { header: { kid: 'other' } } }), 401],
    ['for an unknown workspace', async () => ({ over: { service_workspace: 'nowhere' } }), 403],
    [
      'for an organisation without settings',
      async () => ({ over: { service_oid: h.other.organisation_id } }),
      403,
    ],
    [
      'for a workspace of another organisation',
      async () => ({ over: { service_workspace: h.other.workspace_id } }),
      403,
    ],
  ])('%s', async (_, make, status) => {
    const { over, options } = await make();
    const answer = await (await asToken(over, options)).get('/configs');
    expect([answer.status, answer.body.data.errorCode]).toEqual([
      status,
      status === 401 ? 'AB05' : 'AB03',
    ]);
  });

  it('whose issuer is not the organisation’s', async () => {
    const stranger = await startIssuer();
    try {
      const token = await stranger.sign(claims());
      const answer = await h.as(token).get('/configs');
      expect(answer.body.data.message).toBe('The signature of the token is not valid.');
    } finally {
      await stranger.close();
    }
  });

  it('whose issuer answers for another organisation', async () => {
    await trust({ jwks_url: undefined, introspection: { url: issuer.introspectionUrl } });
    const token = await issuer.sign(claims());
    issuer.active.set(token, {});
    expect((await h.as(token).get('/configs')).status).toBe(200);
    const theirs = await issuer.sign(claims({ jti: 'other' }));
    issuer.active.set(theirs, { service_oid: h.other.organisation_id });
    expect((await h.as(theirs).get('/configs')).status).toBe(401);
  });

  it('when the issuer was never reached, as a failure of the service', async () => {
    const gone = await startIssuer();
    await trust({ jwks_url: gone.jwksUrl });
    const token = await gone.sign(claims());
    await gone.close();
    expect((await h.as(token).get('/configs')).status).toBe(503);
  });

  it('and the audit log says so once for a flood, with a count and nothing to reuse', async () => {
    const own = await startHarness();
    try {
      await own
        .as(own.first.admin_key)
        .put('/admin/organisation/auth-settings', { jwt: { jwks_url: issuer.jwksUrl } })
        .expect(200);
      const token = await issuer.sign({
        service_oid: own.first.organisation_id,
        exp: Math.floor(Date.now() / 1000) - 60,
        email_id: 'mallory@example.com',
        sub: 'mallory',
      });
      for (let i = 0; i < 30; i += 1) await own.as(token).get('/configs').expect(401);
      // What was gathered since the first is written at the latest when the service ends.
      await own.service.close();
      const written = await own.db.auditEntry.findMany({
        where: { resourceType: 'jwt' },
        orderBy: { sequence: 'asc' },
      });
      const [first, ...gathered] = written.map(({ detail }) => JSON.parse(detail ?? '').count);
      expect(first).toBe(1);
      expect(gathered.reduce((sum, count) => sum + count, 0)).toBe(29);
      // One, or on a slow machine one for each time that they are gathered.
      expect(gathered.length).toBeLessThan(6);
      expect(written[0]).toMatchObject({
        action: 'authenticate',
        responseStatusCode: 401,
        userType: 'user',
        method: 'GET',
        uri: '/v1/configs',
        clientIp: expect.stringContaining('127.0.0.1'),
      });
      expect(JSON.parse(written[0]?.detail ?? '').tokens).toEqual([
        {
          token: expect.stringMatching(/^ey\*{7}..$/),
          reason: 'The token has expired.',
          subject: 'mallory@example.com',
          client_ip: expect.stringContaining('127.0.0.1'),
          request_id: expect.any(String),
        },
      ]);
    } finally {
      await own.stop();
    }
  });
});

describe('ReportRefusedTokens', () => {
  const report = (organisationId: string, over: object = {}) =>
    h.rpc.unary(
      config.ConfigService.method.reportRefusedTokens,
      {
        organisationId,
        count: 7,
        samples: [
          {
            token: 'ey*******xx',
            reason: 'The token has expired.',
            status: 401,
            subject: 'bob\0\ud800',
            method: 'POST',
            path: '/v1/chat/completions',
            requestId: 'r',
            clientIp: '192.0.2.1',
            ...over,
          },
        ],
      },
      { timeoutMs: waitMs },
    );

  it('writes what gateways saw, whatever text the token had in it', async () => {
    await report(h.first.organisation_id);
    const entry = (await entries({ uri: '/v1/chat/completions' })).at(-1);
    expect(entry).toMatchObject({ resourceType: 'jwt', clientIp: '192.0.2.1', method: 'POST' });
    expect(JSON.parse(entry?.detail ?? '')).toMatchObject({
      count: 7,
      tokens: [{ subject: expect.stringMatching(/^bob/) }],
    });
  });

  it('writes nothing for an organisation that does not exist', async () => {
    const before = await h.db.auditEntry.count();
    await report('00000000-0000-7000-8000-000000000000');
    await report('nobody');
    expect(await h.db.auditEntry.count()).toBe(before);
  });
});
