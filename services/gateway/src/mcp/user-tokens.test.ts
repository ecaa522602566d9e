import { create } from '@bufbuild/protobuf';
import { createGuardedFetch, hostileUrls, makeHostRules } from '@sluice/outbound';
import { config } from '@sluice/proto-stubs';
import { type Issuer, startIssuer } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CompiledMcpServer, findMcpServer } from '../compiled/mcp-servers.ts';
import { UserTokenFault, UserTokens, validationFault } from './user-tokens.ts';

let issuer: Issuer;
let now: number;
let tokens: UserTokens;
const fetch = createGuardedFetch({
  rules: makeHostRules({ trusted: ['127.0.0.1'], production: true }),
});

beforeAll(async () => {
  issuer = await startIssuer();
  now = Date.now();
  tokens = new UserTokens({ fetch, now: () => now });
});
afterAll(() => Promise.all([issuer.close(), fetch.close()]));

function serverWith(jwt_validation: object): CompiledMcpServer {
  const source = create(config.McpServerSchema, {
    id: 'id',
    slug: 'slug',
    configurationsJson: JSON.stringify({ jwt_validation }),
  });
  const server = findMcpServer({ get: () => source } as never, 'slug');
  if (server === undefined) throw new Error('there is no server');
  return server;
}

/** The reason of the refusal, or the claims. */
async function checked(server: CompiledMcpServer, token: string | undefined, credential = 'a-key') {
  const headers = token === undefined ? {} : { authorization: token };
  try {
    return (await tokens.check(server, { headers, credential, from: '127.0.0.1' }))?.claims;
  } catch (error) {
    if (error instanceof UserTokenFault) return error.message;
    throw error;
  }
}

it('proof 8: keys and introspection are asked of no host that must not be reached', async () => {
  const guarded = createGuardedFetch({ rules: makeHostRules({ trusted: [], production: true }) });
  const answers: string[] = [];
  const watched = Object.assign(
    (...args: Parameters<typeof guarded>) => {
      const answer = guarded(...args);
      answer.then(
        () => answers.push('reached'),
        (error: { code?: string }) => answers.push(error.code ?? 'unknown'),
      );
      return answer;
    },
    { stream: guarded.stream, close: guarded.close },
  );
  const strict = new UserTokens({ fetch: watched });
  const headers = { authorization: `Bearer ${await issuer.sign({ sub: 'ada' })}` };
  for (const url of hostileUrls)
    for (const setting of ['jwksUri', 'introspectEndpoint'])
      await expect(
        strict.check(serverWith({ [setting]: url }), {
          headers,
          credential: 'a-key',
          from: '127.0.0.1',
        }),
      ).rejects.toThrow();
  // Others are refused before that: they are no addresses.
  expect(answers.length).toBeGreaterThan(hostileUrls.length);
  expect(new Set(answers)).toEqual(new Set(['host.invalid']));
  await guarded.close();
});

describe('a token that is signed', () => {
  const bearer = async (...args: Parameters<Issuer['sign']>) =>
    `Bearer ${await issuer.sign(...args)}`;

  it('is taken for what its issuer stands by, and for nothing else', async () => {
    const server = serverWith({
      jwksUri: issuer.jwksUrl,
      audience: ['tools', 'more'],
      requiredClaims: ['team', 'sub'],
      claimValues: {
        groups: { values: ['tool', 'user'], matchType: 'containsAll' },
        plan: { values: '^gold-\\d$', matchType: 'regex' },
        region: { values: ['eu', 'us'], matchType: 'exact' },
      },
      headerPayloadMatch: ['tenant'],
      maxTokenAge: 600,
    });
    const claims = {
      sub: 'ada',
      aud: ['x', 'tools'],
      team: 't',
      groups: ['tools', 'users'],
      plan: 'gold-1',
      region: 'eu',
      tenant: 'one',
    };
    const header = { tenant: 'one' };
    const good = await bearer(claims, { header });
    expect(await checked(server, good)).toMatchObject({ sub: 'ada' });
    const seconds = Math.floor(now / 1000);
    const [head, body] = good.slice('Bearer '.length).split('.');
    const unsigned = Buffer.from('{"alg":"none","typ":"JWT","kid":"key-1"}').toString('base64url');
    // The public key as the secret of an HMAC.
    const secret = Buffer.from(JSON.stringify(issuer.published[0]));
    const refused: [string | undefined, RegExp][] = [
      [undefined, /^missing header: authorization/],
      ['Bearer', /^invalid header format/],
      ['Basic YTpi', /^invalid header format/],
      ['Bearer one two', /^invalid header format/],
      [`Bearer ${'x'.repeat(9_000)}`, /^invalid header format/],
      [`Bearer ${unsigned}.${body}.`, /^validation failed: .*algorithm/],
      [await bearer(claims, { header: { ...header, alg: 'HS256' }, key: secret }), /algorithm/],
      [`Bearer ${head}.${body}.AAAA`, /^validation failed: The signature/],
      [await bearer({ ...claims, exp: seconds - 6 }, { header }), /^expired/],
      [await bearer({ ...claims, iat: seconds - 606 }, { header }), /^expired/],
      [await bearer({ ...claims, nbf: seconds + 60 }, { header }), /^not yet valid/],
      [
        await bearer({ ...claims, team: null as never, sub: undefined }, { header }),
        /^missing required claims: team, sub\.$/,
      ],
      [await bearer({ ...claims, exp: undefined }, { header }), /^missing required claims: exp\.$/],
      [await bearer({ ...claims, aud: 'other' }, { header }), /^validation failed: .*audience/],
      [await bearer({ ...claims, groups: ['tool'] }, { header }), /claim groups/],
      [await bearer({ ...claims, plan: 'gold-12' }, { header }), /claim plan/],
      [await bearer({ ...claims, region: 'eu-1' }, { header }), /claim region/],
      [await bearer(claims, { header: { tenant: 'two' } }), /differ in tenant/],
    ];
    for (const [token, reason] of refused)
      expect(await checked(server, token), String(token)).toMatch(reason);
    // A verdict lasts no longer than its token.
    const before = now;
    now += 400_000;
    expect(await checked(server, good)).toMatch(/^expired/);
    now = before;
  });

  it('of a key that nobody knows makes one fetch, however many there are', async () => {
    const server = serverWith({ jwksUri: issuer.jwksUrl });
    const key = issuer.addKey('hidden', { publish: false });
    await checked(server, await bearer({}));
    const before = issuer.fetches;
    const forged = await Promise.all(
      Array.from({ length: 30 }, (_, at) => bearer({}, { kid: `forged-${at}`, key })),
    );
    for (const token of forged)
      expect(await checked(server, token)).toMatch(/^validation failed: The token’s key/);
    expect(issuer.fetches - before).toBe(1);
    // A key that is new is found as soon as one may ask again.
    issuer.addKey('new');
    const fresh = await bearer({ sub: 'bob' }, { kid: 'new' });
    now += 10_000;
    expect(await checked(server, fresh)).toMatchObject({ sub: 'bob' });
  });
});

describe('a token that its issuer is asked about', () => {
  it('is shown in the form and with the credential of the settings; refusals are remembered', async () => {
    const settings = {
      introspectEndpoint: issuer.introspectionUrl,
      introspectContentType: 'application/x-www-form-urlencoded',
      introspectClientId: 'gateway',
      introspectClientSecret: 'a:secret',
    };
    const server = serverWith(settings);
    issuer.active.set('opaque', { sub: 'eve' });
    const seen = () => issuer.introspected.length;
    expect(await checked(server, 'Bearer opaque')).toMatchObject({ sub: 'eve' });
    expect(issuer.introspected.at(-1)).toEqual({
      token: 'opaque',
      contentType: 'application/x-www-form-urlencoded',
      authorization: `Basic ${Buffer.from('gateway:a%3Asecret').toString('base64')}`,
    });
    // Nothing is kept by default: who is taken back is out with the next call.
    issuer.active.delete('opaque');
    expect(await checked(server, 'Bearer opaque')).toMatch(/^not active/);
    const before = seen();
    expect(await checked(server, 'Bearer opaque')).toMatch(/^not active/);
    expect(seen()).toBe(before);
    issuer.active.set('old', { exp: Math.floor(now / 1000) - 10 });
    expect(await checked(server, 'Bearer old')).toMatch(/^expired/);
    const keeping = serverWith({ ...settings, introspectCacheMaxAge: 60 });
    issuer.active.set('kept', { sub: 'eve' });
    for (let at = 0; at < 3; at++)
      expect(await checked(keeping, 'Bearer kept')).toMatchObject({ sub: 'eve' });
    expect(issuer.introspected.filter(({ token }) => token === 'kept')).toHaveLength(1);
  });

  it('is never what opens the gateway', async () => {
    const server = serverWith({ introspectEndpoint: issuer.introspectionUrl });
    issuer.active.set('our-key', { sub: 'eve' });
    const before = issuer.introspected.length;
    expect(await checked(server, 'Bearer our-key', 'our-key')).toMatch(/^missing header/);
    expect(issuer.introspected.length).toBe(before);
  });
});

it('is not served by settings that let everybody in', () => {
  expect(validationFault({ jwks: { keys: [{ kty: 'oct', kid: 'a' }] } })).toBeDefined();
  expect(validationFault({ jwksUri: issuer.jwksUrl, algorithms: ['HS256'] })).toBeDefined();
  expect(validationFault({})).toBeDefined();
  const claimValues = { a: { values: '(', matchType: 'regex' } };
  expect(validationFault({ jwksUri: issuer.jwksUrl, claimValues })).toBeDefined();
  expect(validationFault({ jwksUri: issuer.jwksUrl })).toBeUndefined();
});
