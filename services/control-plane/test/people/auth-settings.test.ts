import { generateKeyPairSync } from 'node:crypto';
import { config } from '@sluice/proto-stubs';
import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h.stop());

const path = '/admin/organisation/auth-settings';
const admin = () => h.as(h.first.admin_key);
const put = (jwt: unknown) => admin().put(path, { jwt });
const url = 'https://idp.example.com/jwks.json';
const defaults = { algorithms: ['RS256'], clock_tolerance_s: 5, jwks_max_age_s: 86_400 };
const secret = 'a-secret-of-this-client';
const introspection = { url: 'https://idp.example.com/introspect', client_id: 'c' };

const jwk = (bits = 2048, over: object = {}) => ({
  ...generateKeyPairSync('rsa', { modulusLength: bits }).publicKey.export({ format: 'jwk' }),
  kid: 'key-1',
  ...over,
});
const lastEntry = () =>
  h.db.auditEntry.findFirstOrThrow({
    where: { organisationId: h.first.organisation_id },
    orderBy: { sequence: 'desc' },
  });
const organisation = async (knownHash = '') =>
  h.rpc.unary(
    config.ConfigService.method.getOrganisation,
    { organisationId: h.first.organisation_id, knownHash },
    { timeoutMs: 5_000 },
  );

describe('auth settings', () => {
  it('are none at first, then what was set with its defaults, then none again', async () => {
    const none = { jwt: null, oidc: null };
    expect((await admin().get(path)).body).toEqual(none);
    expect((await put({ jwks_url: url })).body).toEqual({});
    expect((await admin().get(path)).body).toEqual({
      ...none,
      jwt: { ...defaults, jwks_url: url },
    });
    expect((await admin().put(path, {})).status).toBe(200);
    expect((await admin().get(path)).body.jwt).not.toBeNull();
    await put(null).expect(200);
    expect((await admin().get(path)).body).toEqual(none);
  });

  it('are the organisation’s own: no workspace key reaches them, no other organisation sees them', async () => {
    await put({ jwks_url: url }).expect(200);
    for (const call of [
      h.as(h.first.workspace_key).get(path),
      h.as(h.first.workspace_key).put(path, { jwt: null }),
    ])
      expect((await call).status).toBe(403);
    expect((await h.as(h.other.admin_key).get(path)).body).toEqual({ jwt: null, oidc: null });
  });

  it('that do nothing beside the others are told, and keys for which no algorithm is taken', async () => {
    const curve = (namedCurve: string, kid: string) => ({
      ...generateKeyPairSync('ec', { namedCurve }).publicKey.export({ format: 'jwk' }),
      kid,
    });
    const warnings = async (jwt: object) => (await put(jwt).expect(200)).body.warnings;
    const keys = [jwk(), curve('P-256', 'key-2'), jwk(2048, { alg: 'PS256', kid: 'key-3' })];
    expect(await warnings({ jwks: { keys } })).toEqual([
      'body.jwt.jwks.keys[1]: does nothing: it serves none of the algorithms that are taken, RS256',
      'body.jwt.jwks.keys[2]: does nothing: it serves none of the algorithms that are taken, RS256',
    ]);
    const algorithms = ['RS256', 'PS256', 'ES256'];
    expect(await warnings({ jwks: { keys }, algorithms })).toBeUndefined();
    expect(await warnings({ jwks: { keys }, algorithms, jwks_max_age_s: 60 })).toHaveLength(1);
    expect(await warnings({ jwks_url: url, jwks_max_age_s: 60 })).toBeUndefined();
    const unnamed = { url: introspection.url, client_secret: secret };
    expect(await warnings({ introspection: unnamed, algorithms, jwks_max_age_s: 60 })).toEqual(
      ['jwks_max_age_s', 'algorithms', 'introspection.client_secret'].map((name) =>
        expect.stringContaining(`body.jwt.${name}: does nothing`),
      ),
    );
    expect(await warnings({ introspection })).toBeUndefined();
    await put(null).expect(200);
  });

  it.each([
    ['no source', {}, 'jwt'],
    ['two sources', { jwks_url: url, introspection }, 'jwt'],
    ['plain http', { jwks_url: 'http://idp.example.com/jwks' }, 'jwks_url'],
    ['a private address', { jwks_url: 'https://10.0.0.1/jwks' }, 'jwks_url'],
    ['a metadata service', { jwks_url: 'https://169.254.169.254/jwks' }, 'jwks_url'],
    [
      'http to introspection',
      { introspection: { url: 'http://idp.example.com' } },
      'introspection.url',
    ],
    ['HMAC', { jwks_url: url, algorithms: ['HS256'] }, 'algorithms'],
    ['no signature', { jwks_url: url, algorithms: ['none'] }, 'algorithms'],
    ['a private key', { jwks: { keys: [jwk(2048, { d: 'AQAB' })] } }, 'jwks.keys[0]'],
    ['a symmetric key', { jwks: { keys: [{ kty: 'oct', k: 'AQAB', kid: 'x' }] } }, 'jwks.keys[0]'],
    ['a short key', { jwks: { keys: [jwk(), jwk(1024)] } }, 'jwks.keys[1]'],
    [
      'a key without a name',
      { jwks: { keys: [jwk(2048, { kid: undefined })] } },
      'jwks.keys[0].kid',
    ],
    ['no keys', { jwks: { keys: [] } }, 'jwks.keys'],
    [
      'a scope no JWT may have',
      { jwks_url: url, default_scopes: ['workspaces.delete'] },
      'default_scopes',
    ],
    ['an endless tolerance', { jwks_url: url, clock_tolerance_s: 3_600 }, 'clock_tolerance_s'],
    ['an age of words', { jwks_url: url, token_max_age: 'a day' }, 'token_max_age'],
  ])('are refused with %s', async (_, jwt, field) => {
    const answer = await put(jwt);
    expect(answer.status, answer.text).toBe(400);
    expect(answer.body.data).toMatchObject({ errorCode: 'AB01' });
    expect(answer.body.data.message).toContain(field);
  });

  it('may use plain http at a host that the operator trusts', async () => {
    await put({ jwks_url: 'http://127.0.0.1:8080/jwks' }).expect(200);
  });

  it('are all changed, or none when one of them is refused', async () => {
    await put({ jwks: { keys: [jwk()] } }).expect(200);
    const { body: before } = await admin().get(path);
    // A mask of a secret that is not kept.
    const oidc = { issuer: 'https://idp.example.com', client_id: 'us', client_secret: '*******' };
    await admin().put(path, { jwt: null, oidc }).expect(400);
    expect((await admin().get(path)).body).toEqual(before);
    await admin()
      .put(path, { jwt: null, oidc: { ...oidc, client_secret: secret } })
      .expect(200);
    const entry = await lastEntry();
    expect(JSON.parse(entry.after ?? '')).toMatchObject({ jwt: null, oidc: { client_id: 'us' } });
    await admin().put(path, { oidc: null }).expect(200);
  });

  it('say in the audit log what was before and after, with no secret', async () => {
    await put({ jwks: { keys: [jwk()] } }).expect(200);
    await put({ introspection: { ...introspection, client_secret: secret } }).expect(200);
    const entry = await lastEntry();
    expect(entry).toMatchObject({ resourceType: 'organisation', action: 'update' });
    expect(JSON.parse(entry.before ?? '')).toEqual({ jwt: { ...defaults, jwks_kids: ['key-1'] } });
    expect(JSON.parse(entry.after ?? '').jwt.introspection).toMatchObject({
      url: introspection.url,
      client_secret: '*******',
    });
    expect(
      JSON.stringify(entry, (_, value) => (typeof value === 'bigint' ? 0 : value)),
    ).not.toContain(secret);
  });
});

describe('the client secret of introspection', () => {
  const stored = async () => JSON.parse((await organisation()).organisation?.jwtSettingsJson ?? '');

  it('is shown masked, kept sealed, and given to gateways in clear', async () => {
    await put({ introspection: { ...introspection, client_secret: secret } }).expect(200);
    const shown = (await admin().get(path)).body.jwt.introspection;
    expect(shown).toEqual({
      ...introspection,
      client_secret: 'a-*******nt',
      content_type: 'form',
      cache_max_age_s: 60,
    });
    const rows = await h.db.$queryRaw<
      { row: string }[]
    >`SELECT organisations::text AS row FROM organisations`;
    expect(rows.some(({ row }) => row.includes('idp.example.com'))).toBe(true);
    expect(rows.some(({ row }) => row.includes(secret))).toBe(false);
    expect((await stored()).introspection.client_secret).toBe(secret);
  });

  it('stays when it is sent back as it was shown, and goes when it is left out', async () => {
    await put({ introspection: { ...introspection, client_secret: secret } }).expect(200);
    const { jwt } = (await admin().get(path)).body;
    await put({ ...jwt, clock_tolerance_s: 9 }).expect(200);
    expect(await stored()).toMatchObject({
      clock_tolerance_s: 9,
      introspection: { client_secret: secret },
    });
    await put({ introspection }).expect(200);
    expect((await stored()).introspection.client_secret).toBeUndefined();
  });

  it('does not follow to another address', async () => {
    await put({ introspection: { ...introspection, client_secret: secret } }).expect(200);
    const { jwt } = (await admin().get(path)).body;
    const moved = { ...jwt.introspection, url: 'https://evil.example.com/introspect' };
    const answer = await put({ ...jwt, introspection: moved });
    expect(answer.status).toBe(400);
    expect(answer.body.data.message).toContain('client_secret');
  });
});

describe('GetOrganisation', () => {
  it('names the active workspaces, the default one, and nothing but its hash when nothing changed', async () => {
    await put({ jwks_url: url }).expect(200);
    const { organisation: found } = await organisation();
    expect(found).toMatchObject({
      id: h.first.organisation_id,
      defaultWorkspaceId: h.first.workspace_id,
    });
    expect(found?.workspaces.map(({ slug }) => slug)).toContain(h.first.workspace_slug);
    expect(await organisation(found?.hash)).toMatchObject({ unchanged: true });
    const unknown = await h.rpc.unary(
      config.ConfigService.method.getOrganisation,
      { organisationId: '00000000-0000-7000-8000-000000000000', knownHash: '' },
      { timeoutMs: 5_000 },
    );
    expect(unknown).toMatchObject({ unchanged: false });
    expect(unknown.organisation).toBeUndefined();
  });

  it('is worth asking again within a second of each change of settings or workspaces', async () => {
    const stream = h.rpc.serverStream(config.ConfigService.method.watch, { replicaId: 'test' });
    const told: number[] = [];
    stream.on('data', ({ event }: config.WatchResponse) => {
      if (
        event.case === 'organisationChanged' &&
        event.value.organisationId === h.first.organisation_id
      )
        told.push(Date.now());
      if (event.case === 'ready') told.push(0);
    });
    stream.on('error', () => {});
    const hears = (count: number) => eventually(() => told.length >= count, { intervalMs: 5 });
    try {
      await hears(1);
      await put({ jwks_url: url, clock_tolerance_s: 7 }).expect(200);
      await hears(2);
      const made = await admin().post('/admin/workspaces', { name: 'Named' }).expect(200);
      await hears(3);
      expect((await organisation()).organisation?.workspaces.map(({ slug }) => slug)).toContain(
        made.body.slug,
      );
      await admin().delete(`/admin/workspaces/${made.body.id}`).expect(200);
      await hears(4);
      expect((await organisation()).organisation?.workspaces.map(({ slug }) => slug)).not.toContain(
        made.body.slug,
      );
    } finally {
      stream.cancel();
    }
  });
});
