import { createHmac, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createGuardedFetch, makeHostRules } from '@sluice/outbound';
import { type Issuer, startIssuer } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTokenAuthority, type TokenAuthorityOptions } from './authority.ts';
import { peekToken } from './token.ts';

const organisation = '0190c8a0-0000-7000-8000-000000000001';
const claims = { service_oid: organisation, service_workspace: 'main', sub: 'alice' };
const fetch = createGuardedFetch({
  rules: makeHostRules({ trusted: ['127.0.0.1'], production: true }),
});

let issuer: Issuer;
let clockMs = 0;
beforeEach(async () => {
  issuer = await startIssuer();
  clockMs = 0;
});
afterEach(() => issuer.close());

type Settings = TokenAuthorityOptions['settings'];

function authority(over: Partial<Settings> = {}, options: Partial<TokenAuthorityOptions> = {}) {
  return createTokenAuthority({
    settings: {
      algorithms: ['RS256'],
      clock_tolerance_s: 5,
      jwks_max_age_s: 600,
      ...(over.jwks === undefined && over.introspection === undefined
        ? { jwks_url: issuer.jwksUrl }
        : {}),
      ...over,
    },
    fetch,
    now: () => Date.now() + clockMs,
    ...options,
  });
}

const refusal = (reason: string, code = 'auth.invalid_token') => ({
  code,
  message: expect.stringContaining(reason),
});
const seconds = (offset: number) => Math.floor(Date.now() / 1000) + offset;

describe('a token signed by the issuer', () => {
  it('gives its claims, and is good until it expires with the tolerance of clocks', async () => {
    const exp = seconds(100);
    const verified = await authority().verify(await issuer.sign({ ...claims, exp }));
    expect(verified.claims).toMatchObject({ organisation, workspace: 'main', user: 'alice' });
    expect(verified.validUntilMs).toBe((exp + 5) * 1000);
  });

  it('is accepted when the key does not say its algorithm', async () => {
    issuer.addKey('silent', { jwk: { alg: undefined } });
    const token = await issuer.sign(claims, { kid: 'silent' });
    await expect(authority().verify(token)).resolves.toBeDefined();
  });

  it.each(['JWT', 'jwt', 'at+jwt', undefined])('may have the type %s', async (typ) => {
    const token = await issuer.sign(claims, { header: { typ } });
    await expect(authority().verify(token)).resolves.toBeDefined();
  });

  it.each([
    ['has another type', { header: { typ: 'logout+jwt' } }, 'type'],
    ['names no key', { header: { kid: undefined } }, 'kid'],
    ['names an unknown key', { header: { kid: 'other' } }, 'not known'],
    ['uses an algorithm that is not listed', { header: { alg: 'RS512' } }, 'algorithm'],
    ['uses padding that is not listed', { header: { alg: 'PS256' } }, 'algorithm'],
  ])('is refused when it %s', async (_, options, reason) => {
    const token = await issuer.sign(claims, options);
    await expect(authority().verify(token)).rejects.toMatchObject(refusal(reason));
  });

  it('is refused when another key signed it under the name of a good one', async () => {
    const forged = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const token = await issuer.sign(claims, { key: forged });
    await expect(authority().verify(token)).rejects.toMatchObject(refusal('signature'));
  });

  it('is refused when a byte of its claims was changed', async () => {
    const [head, , signature] = (await issuer.sign(claims)).split('.');
    const body = Buffer.from(JSON.stringify({ ...claims, exp: seconds(60), sub: 'root' }));
    const token = `${head}.${body.toString('base64url')}.${signature}`;
    await expect(authority().verify(token)).rejects.toMatchObject(refusal('signature'));
  });

  it('is refused when its key says another algorithm', async () => {
    issuer.addKey('strict', { jwk: { alg: 'RS512' } });
    const token = await issuer.sign(claims, { kid: 'strict' });
    await expect(authority().verify(token)).rejects.toMatchObject(refusal('not known'));
  });

  it('is refused when it is too long', async () => {
    const token = await issuer.sign({ ...claims, padding: 'x'.repeat(9_000) });
    await expect(authority().verify(token)).rejects.toMatchObject(refusal('too long'));
    expect(issuer.fetches).toBe(0);
  });
});

describe('algorithms', () => {
  it.each(['none', 'None', 'HS256'])(
    '%s is refused, also with the public key as the secret',
    async (alg) => {
      const good = await issuer.sign(claims);
      const payload = good.split('.')[1];
      const head = Buffer.from(JSON.stringify({ alg, typ: 'JWT', kid: 'key-1' }));
      const signed = `${head.toString('base64url')}.${payload}`;
      const secrets = [JSON.stringify(issuer.published[0]), issuer.published[0]?.n ?? ''];
      const signatures =
        alg === 'HS256'
          ? secrets.map((secret) => createHmac('sha256', secret).update(signed).digest('base64url'))
          : [''];
      for (const signature of signatures)
        await expect(authority().verify(`${signed}.${signature}`)).rejects.toMatchObject(
          refusal('algorithm'),
        );
    },
  );

  it('may be listed: elliptic curves beside RSA, each with its own kind of key', async () => {
    const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    issuer.published.push({ ...curve.publicKey.export({ format: 'jwk' }), kid: 'curve' });
    const both = authority({ algorithms: ['RS256', 'ES256'] });
    const sign = (kid: string, alg: string, key?: KeyObject) =>
      issuer.sign(claims, { kid: 'key-1', header: { kid, alg }, ...(key ? { key } : {}) });
    await expect(
      both.verify(await sign('curve', 'ES256', curve.privateKey)),
    ).resolves.toBeDefined();
    await expect(both.verify(await sign('key-1', 'RS256'))).resolves.toBeDefined();
    await expect(both.verify(await sign('key-1', 'ES256', curve.privateKey))).rejects.toMatchObject(
      refusal('not known'),
    );
  });
});

describe('a key set', () => {
  it.each([
    ['a short RSA key', () => issuer.addKey('bad', { bits: 1024 })],
    ['a private key', () => issuer.addKey('bad', { jwk: { d: 'AQAB' } })],
    ['a key for encryption', () => issuer.addKey('bad', { jwk: { use: 'enc' } })],
  ])('does not count %s', async (_, add) => {
    add();
    const token = await issuer.sign(claims, { header: { kid: 'bad' } });
    await expect(authority().verify(token)).rejects.toMatchObject(refusal('not known'));
    await expect(authority().verify(await issuer.sign(claims))).resolves.toBeDefined();
  });

  it('may be pasted, and nobody is asked then', async () => {
    const pasted = authority({ jwks: { keys: issuer.published as never } });
    await expect(pasted.verify(await issuer.sign(claims))).resolves.toBeDefined();
    issuer.addKey('key-2');
    await expect(pasted.verify(await issuer.sign(claims, { kid: 'key-2' }))).rejects.toMatchObject(
      refusal('not known'),
    );
    expect(issuer.fetches).toBe(0);
  });

  it('is fetched once for many tokens at once', async () => {
    const one = authority();
    const token = await issuer.sign(claims);
    await Promise.all(Array.from({ length: 20 }, () => one.verify(token)));
    expect(issuer.fetches).toBe(1);
  });

  it('is fetched again for a key that is new, once for all who bring it', async () => {
    const one = authority();
    await one.verify(await issuer.sign(claims));
    issuer.addKey('key-2');
    const token = await issuer.sign(claims, { kid: 'key-2' });
    await Promise.all(Array.from({ length: 20 }, () => one.verify(token)));
    expect(issuer.fetches).toBe(2);
  });

  it('is fetched again when it is too old, and a key that is gone is not good any more', async () => {
    const one = authority();
    const token = await issuer.sign({ ...claims, exp: seconds(10_000) });
    await one.verify(token);
    issuer.published.length = 0;
    issuer.addKey('key-2');
    await expect(one.verify(token)).resolves.toBeDefined();
    clockMs = 601_000;
    await expect(one.verify(token)).rejects.toMatchObject(refusal('not known'));
  });

  it('is not fetched for each of many forged key names', async () => {
    const one = authority();
    await one.verify(await issuer.sign(claims));
    for (let i = 0; i < 200; i += 1)
      await expect(
        one.verify(await issuer.sign(claims, { header: { kid: `forged-${i}` } })),
      ).rejects.toMatchObject(refusal('not known'));
    expect(issuer.fetches).toBe(2);
    clockMs = 11_000;
    // A name that the issuer did not know a moment ago is not worth another look.
    const again = await issuer.sign(claims, { header: { kid: 'forged-0' } });
    await expect(one.verify(again)).rejects.toMatchObject(refusal('not known'));
    expect(issuer.fetches).toBe(2);
    issuer.addKey('key-2');
    await expect(one.verify(await issuer.sign(claims, { kid: 'key-2' }))).resolves.toBeDefined();
    expect(issuer.fetches).toBe(3);
  });
});

describe('an issuer that is away', () => {
  const faults: [string, NonNullable<Issuer['answer']>][] = [
    ['answers with an error', (_req, res) => res.writeHead(500).end()],
    ['answers with a page', (_req, res) => res.end('<html>')],
    ['answers with no keys', (_req, res) => res.end('{"keys":[]}')],
    ['redirects', (_req, res) => res.writeHead(302, { location: '/other' }).end()],
    ['cuts the connection', (req) => req.socket.destroy()],
  ];
  it.each(faults)('stops nobody whose key is known when it %s', async (_, fault) => {
    const one = authority();
    const token = await issuer.sign({ ...claims, exp: seconds(10_000) });
    await one.verify(token);
    issuer.answer = fault;
    clockMs = 700_000;
    for (let i = 0; i < 5; i += 1) await expect(one.verify(token)).resolves.toBeDefined();
    // One try for the old age; the next comes after a pause.
    expect(issuer.fetches).toBe(2);
    issuer.answer = undefined;
    clockMs += 11_000;
    await one.verify(token);
    expect(issuer.fetches).toBe(3);
  });

  it.each(faults)(
    'is asked once for a key that is new, told as away, and asked again, when it %s',
    async (_, fault) => {
      const one = authority();
      await one.verify(await issuer.sign(claims));
      issuer.addKey('key-2');
      issuer.answer = fault;
      const token = await issuer.sign(claims, { kid: 'key-2' });
      for (let i = 0; i < 5; i += 1)
        await expect(one.verify(token)).rejects.toMatchObject({ code: 'auth.issuer_unavailable' });
      expect(issuer.fetches).toBe(2);
      // A key that is known is nobody's question.
      await expect(one.verify(await issuer.sign({ ...claims, sub: 'bob' }))).resolves.toBeDefined();
      issuer.answer = undefined;
      clockMs = 11_000;
      await expect(one.verify(token)).resolves.toBeDefined();
      expect(issuer.fetches).toBe(3);
    },
  );

  it.each(faults)('is told as such when its keys were never had and it %s', async (_, fault) => {
    issuer.answer = fault;
    const one = authority();
    const token = await issuer.sign(claims);
    for (let i = 0; i < 5; i += 1)
      await expect(one.verify(token)).rejects.toMatchObject({
        code: 'auth.issuer_unavailable',
        headers: { 'retry-after': '5' },
      });
    expect(issuer.fetches).toBe(1);
    issuer.answer = undefined;
    clockMs = 2_000;
    await expect(one.verify(token)).resolves.toBeDefined();
  });

  it('is asked again after a moment, whatever is done to the time of day', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      issuer.answer = (req) => req.socket.destroy();
      const one = authority({}, { now: undefined });
      const token = await issuer.sign(claims);
      await expect(one.verify(token)).rejects.toMatchObject({ code: 'auth.issuer_unavailable' });
      issuer.answer = undefined;
      vi.setSystemTime(Date.now() - 120_000);
      const again = await issuer.sign(claims);
      const told = () =>
        one.verify(again).then(
          () => 'let in',
          ({ code }) => code,
        );
      await expect.poll(told).toBe('let in');
    } finally {
      vi.useRealTimers();
    }
  });

  it('stops nobody after a restart when the key set was kept', async () => {
    let kept: string | undefined;
    const before = authority({}, { onKeyDocument: () => (kept = before.keyDocument) });
    const token = await issuer.sign(claims);
    await before.verify(token);
    issuer.answer = (req) => req.socket.destroy();
    await expect(authority({}, { keyDocument: kept }).verify(token)).resolves.toBeDefined();
  });
});

describe('introspection', () => {
  const settings = () => ({
    introspection: {
      url: issuer.introspectionUrl,
      client_id: 'sluice:1',
      client_secret: 'p&ss',
      content_type: 'form' as const,
      cache_max_age_s: 60,
    },
  });

  it('takes a token that the issuer calls active, and its word over the token’s', async () => {
    const token = await issuer.sign(claims);
    issuer.active.set(token, { sub: 'bob', scope: 'completions.write' });
    const verified = await authority(settings()).verify(token);
    expect(verified.claims).toMatchObject({
      organisation,
      user: 'bob',
      scopes: ['completions.write'],
    });
    expect(verified.validUntilMs).toBeLessThanOrEqual(Date.now() + 60_000);
    expect(issuer.introspected).toEqual([
      {
        token,
        contentType: 'application/x-www-form-urlencoded',
        authorization: `Basic ${Buffer.from('sluice%3A1:p%26ss').toString('base64')}`,
      },
    ]);
  });

  it('may be asked in JSON, and without a credential of ours', async () => {
    const token = await issuer.sign(claims);
    issuer.active.set(token, {});
    const { client_id: _, client_secret: __, ...open } = settings().introspection;
    await authority({ introspection: { ...open, content_type: 'json' } }).verify(token);
    expect(issuer.introspected).toEqual([
      { token, contentType: 'application/json', authorization: undefined },
    ]);
  });

  it('refuses what is not active, and does not ask about it again at once', async () => {
    const one = authority(settings());
    const token = await issuer.sign(claims);
    for (let i = 0; i < 5; i += 1)
      await expect(one.verify(token)).rejects.toMatchObject(refusal('not active'));
    expect(issuer.introspected).toHaveLength(1);
  });

  it('refuses an active token that has expired, or has no end', async () => {
    const one = authority(settings());
    for (const [exp, reason] of [
      [seconds(-60), 'expired'],
      [undefined, 'no claim exp'],
    ] as const) {
      const token = await issuer.sign({ ...claims, exp });
      issuer.active.set(token, {});
      await expect(one.verify(token)).rejects.toMatchObject(refusal(reason));
    }
  });

  it.each<[string, NonNullable<Issuer['answer']>]>([
    ['an error', (_req, res) => res.writeHead(401).end('{"active":true}')],
    ['a page', (_req, res) => res.end('<html>')],
    ['nothing', (req) => req.socket.destroy()],
  ])('lets nobody in when the answer is %s', async (_, fault) => {
    issuer.answer = fault;
    await expect(authority(settings()).verify(await issuer.sign(claims))).rejects.toMatchObject({
      code: 'auth.issuer_unavailable',
    });
  });

  it('answers of any shape but `true` do not make a token active', async () => {
    for (const active of ['true', 1, {}, undefined]) {
      issuer.answer = (_req, res) =>
        res.end(JSON.stringify({ ...claims, exp: seconds(60), active }));
      await expect(authority(settings()).verify(await issuer.sign(claims))).rejects.toMatchObject(
        refusal('not active'),
      );
    }
  });
});

describe('peekToken', () => {
  it.each(['a.b.c', 'eyJhIjoxfQ', 'eyJhIjoxfQ.W10.x', '..'])('reads nothing from %j', (text) => {
    expect(peekToken(text)).toBeUndefined();
  });
});
