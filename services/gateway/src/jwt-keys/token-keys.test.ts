import { create } from '@bufbuild/protobuf';
import { RefusalLog, type RefusalReport } from '@sluice/jwt';
import { createGuardedFetch, makeHostRules } from '@sluice/outbound';
import { config } from '@sluice/proto-stubs';
import { type Issuer, startIssuer } from '@sluice/testkit';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { exampleExchange } from '../../test/exchange.ts';
import { Organisations } from '../held/organisations.ts';
import { TokenKeys, type TokenKeysOptions } from './token-keys.ts';

const id = '0190c8a0-0000-7000-8000-000000000001';
const otherId = '0190c8a0-0000-7000-8000-000000000002';
const fetch = createGuardedFetch({
  rules: makeHostRules({ trusted: ['127.0.0.1'], production: true }),
});
const logger = { info: () => {}, warn: () => {}, error: () => {} } as never;

let issuer: Issuer;
let settings: Record<string, unknown> | undefined;
let organisations: Organisations;
let reports: RefusalReport[];
let hash: number;
beforeEach(async () => {
  issuer = await startIssuer();
  settings = {
    jwks_url: issuer.jwksUrl,
    algorithms: ['RS256'],
    clock_tolerance_s: 5,
    jwks_max_age_s: 600,
  };
  reports = [];
  hash = 1;
  const source = {
    getOrganisation: async (asked: string) =>
      asked === id
        ? create(config.OrganisationSchema, {
            id,
            hash: String(hash),
            jwtSettingsJson: settings === undefined ? '' : JSON.stringify(settings),
            workspaces: [
              { id: 'w-1', slug: 'main' },
              { id: 'w-2', slug: 'second' },
            ],
            defaultWorkspaceId: 'w-1',
          })
        : ('gone' as const),
  };
  organisations = new Organisations({ source, fetch, logger, listed: [] });
});
afterEach(() => issuer.close());

function tokens(over: Partial<TokenKeysOptions> = {}): TokenKeys {
  const refusals = new RefusalLog({
    write: async (report) => void reports.push(report),
    onError: () => {},
  });
  return new TokenKeys({
    organisations,
    refusals,
    listed: undefined,
    defaultScopes: [],
    ...over,
  });
}

/** A request that carries the token in our own header, or as a bearer token. */
const carrying = (token: string, header = 'x-service-api-key') =>
  exampleExchange({
    headers: { [header]: header === 'authorization' ? `Bearer ${token}` : token },
  }).arrival;
const find = (keys: TokenKeys, token: string, header?: string) =>
  keys.find(token, carrying(token, header));

describe('a token', () => {
  it('answers everything that is asked of a key', async () => {
    const token = await issuer.sign({
      service_oid: id,
      service_workspace: 'second',
      scope: 'service.completions.write organisation_users.delete',
      email_id: 'alice@example.com',
      defaults: { config_id: 'pc-x-1', metadata: { team: 'a' } },
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 3 }],
      usage_limits: [{ id: 'u', type: 'tokens', credit_limit: 5 }],
    });
    const key = await find(tokens(), token);
    expect(key).toMatchObject({
      isWorkspaceKey: true,
      source: {
        organisationId: id,
        workspaceId: 'w-2',
        workspaceSlug: 'second',
        userId: 'alice@example.com',
        slug: 'alice@example.com',
        configSlug: 'pc-x-1',
        allowConfigOverride: true,
        metadata: { _user: 'alice@example.com', team: 'a' },
      },
    });
    expect([...(key?.scopes ?? [])]).toEqual(['completions.write']);
    expect(key?.counters).toMatchObject([
      {
        limit: { type: 'requests', value: 3, span: { kind: 'rate', unit: 'rpm' } },
        entity: 'token of "alice@example.com"',
      },
      { limit: { type: 'tokens', value: 5, span: { kind: 'budget' } } },
    ]);
    expect(
      JSON.stringify(key, (_, value) => (typeof value === 'bigint' ? '' : value)),
    ).not.toContain(token);
  });

  it('has an id and counters that are its user’s: a fresh token does not begin anew', async () => {
    const keys = tokens();
    const claims = {
      service_oid: id,
      rate_limits: [{ type: 'requests', unit: 'rpm', value: 3 }],
      usage_limits: [
        { id: 'march', type: 'cost', credit_limit: 1.5 },
        { type: 'tokens', credit_limit: 100 },
      ],
    };
    const sign = (sub: string, jti: string) => issuer.sign({ ...claims, sub, jti });
    const [one, two, bob] = await Promise.all(
      [await sign('alice', '1'), await sign('alice', '2'), await sign('bob', '1')].map((token) =>
        find(keys, token),
      ),
    );
    expect(one?.source.id).toBe(two?.source.id);
    expect(one?.source.id).not.toBe(bob?.source.id);
    const limitsOf = (key: typeof one) => key?.counters.map(({ limit }) => [limit.id, limit.value]);
    const scope = `token:${one?.source.id}`;
    expect(limitsOf(one)).toEqual([
      [`${scope}:requests:rpm`, 3],
      [`${scope}:march`, 1_500_000_000],
      [`${scope}:tokens`, 100],
    ]);
    expect(limitsOf(two)).toEqual(limitsOf(one));
    expect(limitsOf(bob)).not.toEqual(limitsOf(one));
  });

  it('that is too long is told so', async () => {
    const token = await issuer.sign({ service_oid: id, sub: 'x'.repeat(8_192) });
    await expect(find(tokens(), token)).rejects.toThrow('too long');
  });

  it('has another counter where a budget of the same id counts something else', async () => {
    const keys = tokens();
    const counterOf = async (type: string) => {
      const usage_limits = [{ id: 'march', type, credit_limit: 5 }];
      const token = await issuer.sign({ service_oid: id, sub: 'alice', usage_limits });
      return (await find(keys, token))?.counters[0]?.limit.id;
    };
    expect(await counterOf('cost')).not.toBe(await counterOf('tokens'));
  });

  it('has the scopes of the organisation’s settings, else of the gateway’s, when it names none', async () => {
    const token = await issuer.sign({ service_oid: id });
    const keys = tokens({ defaultScopes: ['completions.write', 'nonsense'] });
    expect([...((await find(keys, token))?.scopes ?? [])]).toEqual(['completions.write']);
    settings = { ...settings, default_scopes: ['logs.read'] };
    hash += 1;
    organisations.changed(id);
    await expect
      .poll(async () => [...((await find(keys, token))?.scopes ?? [])])
      .toEqual(['logs.read']);
  });

  it('is held until it ends, and no longer', async () => {
    const keys = tokens();
    const token = await issuer.sign({ service_oid: id });
    expect(keys.held(token, Date.now())).toBeUndefined();
    const key = await find(keys, token);
    expect(keys.held(token, Date.now())).toBe(key);
    expect(keys.held(token, (key?.validUntilMs ?? 0) - 1)).toBe(key);
    expect(keys.held(token, key?.validUntilMs ?? 0)).toBeUndefined();
  });

  it('is looked at anew when the settings of its organisation change', async () => {
    const keys = tokens();
    const token = await issuer.sign({ service_oid: id });
    await find(keys, token);
    settings = { ...settings, required_claims: ['jti'] };
    hash += 1;
    organisations.changed(id);
    await expect.poll(() => keys.held(token, Date.now())).toBeUndefined();
    await expect(find(keys, token)).rejects.toMatchObject({ code: 'auth.invalid_token' });
  });
});

describe('the organisation of a token', () => {
  const refusal = (keys: TokenKeys, claims: object) =>
    issuer
      .sign({ ...claims })
      .then((token) => find(keys, token))
      .then(
        () => 200,
        (error: { status: number }) => error.status,
      );

  it.each<[string, readonly string[] | undefined, object, number]>([
    ['is named', [id, otherId], { service_oid: id }, 200],
    ['is named in capitals', [id], { organisation_id: id.toUpperCase() }, 200],
    ['is the only one that is served', [id], {}, 200],
    ['is named, and none is listed', undefined, { service_oid: id }, 200],
    ['is not told, and several are served', [id, otherId], {}, 401],
    ['is not told, and none is listed', undefined, {}, 401],
    ['is not listed', [otherId], { service_oid: id }, 403],
    ['does not exist', [otherId], { service_oid: otherId }, 401],
    ['is no id', undefined, { service_oid: 'x' }, 401],
  ])('%s', async (_, listed, claims, status) => {
    expect(await refusal(tokens({ listed }), claims)).toBe(status);
  });

  it('must have said how its tokens are validated', async () => {
    settings = undefined;
    expect(await refusal(tokens(), { service_oid: id })).toBe(403);
  });

  it('must have the workspace', async () => {
    expect(await refusal(tokens(), { service_oid: id, service_workspace: 'nowhere' })).toBe(403);
  });

  it('must be what its introspection endpoint says', async () => {
    settings = {
      ...settings,
      jwks_url: undefined,
      introspection: { url: issuer.introspectionUrl, content_type: 'form', cache_max_age_s: 60 },
    };
    const token = await issuer.sign({ service_oid: id });
    issuer.active.set(token, { service_oid: otherId });
    await expect(find(tokens(), token)).rejects.toMatchObject({ code: 'auth.invalid_token' });
  });
});

describe('a token that is not meant for us', () => {
  it('is nobody’s business outside our own header: no report, no question', async () => {
    settings = {
      ...settings,
      jwks_url: undefined,
      introspection: { url: issuer.introspectionUrl, content_type: 'form', cache_max_age_s: 60 },
    };
    const keys = tokens({ listed: [id] });
    const token = await issuer.sign({ iss: 'https://accounts.example.com', sub: 'service' });
    for (const header of ['authorization', 'x-api-key'])
      expect(await find(keys, token, header)).toBeUndefined();
    expect([reports, issuer.introspected]).toEqual([[], []]);
    await expect(find(keys, token)).rejects.toMatchObject({ code: 'auth.invalid_token' });
  });
});

describe('a refused token', () => {
  it('is reported once for a flood, masked', async () => {
    const keys = tokens();
    const token = await issuer.sign({ service_oid: id, sub: 'mallory', exp: 1 });
    for (let i = 0; i < 50; i += 1) await find(keys, token).catch(() => undefined);
    expect(reports).toEqual([
      {
        organisationId: id,
        count: 1,
        samples: [
          {
            token: expect.stringMatching(/^ey\*{7}..$/),
            reason: 'The token has expired.',
            status: 401,
            subject: 'mallory',
            method: 'POST',
            path: '/v1/chat/completions',
            requestId: expect.any(String),
            clientIp: '192.0.2.1',
          },
        ],
      },
    ]);
  });

  it('is not reported for an organisation that nobody knows, or when nobody could say', async () => {
    const keys = tokens();
    for (const service_oid of [otherId, 'x', undefined])
      await find(keys, await issuer.sign({ service_oid })).catch(() => undefined);
    issuer.answer = (req) => req.socket.destroy();
    await expect(find(keys, await issuer.sign({ service_oid: id }))).rejects.toMatchObject({
      code: 'auth.issuer_unavailable',
    });
    expect(reports).toEqual([]);
  });
});
