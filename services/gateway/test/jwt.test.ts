import { eventually, type Issuer, json, startIssuer } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Records, readRecords } from './records.ts';
import { chatReply, errorOf, type Scenario, startScenario } from './scenario.ts';

const enabled = { JWT_ENABLED: 'ON' };
/** Serves an organisation that is not there: no token of ours is for it. */
const elsewhere = 1;

let scenario: Scenario;
let issuer: Issuer;
let records: Records;
beforeAll(async () => {
  [scenario, issuer] = await Promise.all([
    startScenario({
      gateways: 2,
      nats: true,
      environment: {
        gateway: { ...enabled, JWT_LOCAL_AUTH_DEFAULT_SCOPES: 'completions.write' },
        'gateway-2': { ...enabled, ORGANISATIONS_TO_SYNC: '0190c8a0-0000-7000-8000-000000000001' },
        'control-plane': enabled,
      },
    }),
    startIssuer(),
  ]);
  records = await readRecords(scenario.stack.nats?.url ?? '');
  scenario.upstream.handle(json(200, chatReply));
});
afterAll(async () => {
  await records?.close();
  await scenario?.stop();
  await issuer?.close();
});
beforeEach(() => trust());

const trust = (over: object | null = {}) =>
  scenario.admin('PUT', '/admin/organisation/auth-settings', {
    jwt: over === null ? null : { jwks_url: issuer.jwksUrl, ...over },
  });
const sign = (over: object = {}, options = {}) =>
  issuer.sign(
    {
      service_oid: scenario.stack.credentials.organisation_id,
      service_workspace: scenario.stack.credentials.workspace_slug,
      scope: 'completions.write',
      sub: 'alice',
      ...over,
    },
    options,
  );
const chat = async (over: object = {}, options = {}) =>
  scenario.chat({ key: await sign(over), ...options });
/** A change is heard within a second: what was refused before is not, or the other way round. */
const becomes = (status: number, call: () => Promise<Response>) =>
  eventually(
    async () => {
      const response = await call();
      await response.arrayBuffer();
      if (response.status !== status) throw new Error(`still ${response.status}`);
    },
    { intervalMs: 20 },
  );

describe('a JWT at the gateway', () => {
  it('calls models, and travels no further', async () => {
    const token = await sign();
    const before = scenario.upstream.requests.length;
    const response = await scenario.chat({
      key: token,
      headers: { 'x-service-forward-headers': 'x-service-api-key,x-copy', 'x-copy': token },
    });
    expect(response.status, await response.clone().text()).toBe(200);
    const sent = scenario.upstream.requests[before];
    expect(JSON.stringify([sent?.rawHeaders, sent?.body.toString()])).not.toContain('eyJ');
  });

  it('leaves a usage record of its user, under the id that all tokens of the user share', async () => {
    const [first, second] = await Promise.all(
      [{ jti: '1' }, { jti: '2' }].map(async (over) => {
        const response = await chat({ email_id: 'alice@example.com', ...over });
        return (await records.of(response.headers.get('x-service-request-id') ?? '', 1))[0];
      }),
    );
    expect(first).toMatchObject({
      userId: 'alice@example.com',
      organisationId: scenario.stack.credentials.organisation_id,
      workspaceId: scenario.stack.credentials.workspace_id,
      metadata: { _user: 'alice@example.com' },
    });
    expect(first?.apiKeyId).toMatch(/^[0-9a-f-]{36}$/);
    expect(second?.apiKeyId).toBe(first?.apiKeyId);
  });

  it('may come as a bearer token where a service key may', async () => {
    const response = await fetch(`${scenario.stack.gatewayUrls[0]}/v1/models`, {
      headers: { authorization: `Bearer ${await sign()}` },
    });
    expect(response.status).toBe(200);
  });

  it('is asked of nobody again while it is held', async () => {
    const token = await sign({ jti: 'held' });
    await (await scenario.chat({ key: token })).arrayBuffer();
    const fetches = issuer.fetches;
    issuer.answer = (req) => req.socket.destroy();
    try {
      for (let i = 0; i < 20; i += 1)
        expect((await scenario.chat({ key: token })).status).toBe(200);
    } finally {
      issuer.answer = undefined;
    }
    expect(issuer.fetches).toBe(fetches);
  });

  it('has the scopes of the gateway when it names none', async () => {
    expect((await chat({ scope: undefined })).status).toBe(200);
  });

  it('uses the config that it names when the request names none, and ignores one that is not there', async () => {
    const { workspace_id } = scenario.stack.credentials;
    const config = { provider: 'openai', override_params: { temperature: 0.123 } };
    const { data } = await scenario.admin<{ data: { slug: string } }>('POST', '/configs', {
      name: 'Of tokens',
      config,
      workspace_id,
    });
    await becomes(200, () => scenario.chat({ headers: { 'x-service-config': data.slug } }));
    const temperature = async (config_id: string) => {
      const before = scenario.upstream.requests.length;
      expect((await chat({ defaults: { config_id } })).status).toBe(200);
      const sent = scenario.upstream.requests[before]?.json() as
        | { temperature?: number }
        | undefined;
      return sent?.temperature;
    };
    expect(await temperature(data.slug)).toBe(0.123);
    expect(await temperature('pc-of-nobody')).toBeUndefined();
  });
});

describe('a JWT is refused', () => {
  it.each<[string, object, object, number, string]>([
    ['expired', { exp: 1 }, {}, 401, 'auth.invalid_token'],
    ['before its time', { nbf: 4e9 }, {}, 401, 'auth.invalid_token'],
    ['with an unknown key', {}, { header: { kid: 'other' } }, 401, 'auth.invalid_token'],
    ['without a key', {}, { header: { kid: undefined } }, 401, 'auth.invalid_token'],
    ['without an organisation', { service_oid: undefined }, {}, 401, 'auth.invalid_token'],
    [
      'in an unknown workspace',
      { service_workspace: 'nowhere' },
      {},
      403,
      'auth.token_not_accepted',
    ],
    ['without the scope', { scope: 'logs.read' }, {}, 403, 'auth.missing_scope'],
    ['when it is too long', { padding: 'x'.repeat(8_000) }, {}, 401, 'auth.invalid_token'],
  ])('%s', async (_, over, options, status, code) => {
    const key = await sign(over, options);
    expect(await errorOf(await scenario.chat({ key }))).toMatchObject({ status, code });
  });

  it('where its organisation is not served', async () => {
    expect(await errorOf(await chat({}, { gateway: elsewhere }))).toMatchObject({
      status: 403,
      code: 'auth.token_not_accepted',
    });
    // The only organisation that is served there is unknown to the control plane.
    expect(
      await errorOf(await chat({ service_oid: undefined }, { gateway: elsewhere })),
    ).toMatchObject({ status: 401, code: 'auth.invalid_token' });
  });

  it('and written to the audit log, once for a flood and with nothing to reuse', async () => {
    const token = await sign({ exp: 1, sub: 'mallory' });
    for (let i = 0; i < 20; i += 1) await scenario.chat({ key: token });
    const query = new URLSearchParams({
      start_time: new Date(Date.now() - 60_000).toISOString(),
      end_time: new Date(Date.now() + 60_000).toISOString(),
      resource_type: 'jwt',
    });
    const { records: entries } = await eventually(async () => {
      const found = await scenario.admin<{ records: Record<string, unknown>[] }>(
        'GET',
        `/audit-logs?${query}`,
      );
      if (found.records.length === 0) throw new Error('nothing is written yet');
      return found;
    });
    expect(entries.length).toBeLessThan(5);
    expect(entries[0]).toMatchObject({
      action: 'authenticate',
      uri: '/v1/chat/completions',
      response_status_code: 401,
      user_type: 'user',
    });
    expect(JSON.stringify(entries)).not.toContain(token.slice(-30));
  });
});

describe('a provider’s own token', () => {
  it('reaches the provider beside a service key, and is no key of ours without one', async () => {
    const theirs = await issuer.sign({ iss: 'https://accounts.example.com', sub: 'service' });
    const before = scenario.upstream.requests.length;
    const response = await scenario.chat({ headers: { authorization: `Bearer ${theirs}` } });
    expect(response.status).toBe(200);
    expect(scenario.upstream.requests[before]?.headers.authorization).toBe(`Bearer ${theirs}`);
    const alone = await fetch(`${scenario.stack.gatewayUrls[0]}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${theirs}` },
    });
    expect(await errorOf(alone)).toMatchObject({ status: 401, code: 'auth.invalid_key' });
  });
});

describe('limits', () => {
  it('in a token are counted for its user: a fresh token does not begin anew', async () => {
    // Two gateways without Redis have a half each.
    const rate_limits = [{ type: 'requests', unit: 'rpd', value: 4, status: 'active' }];
    const [one, two] = [
      await sign({ rate_limits, jti: '1' }),
      await sign({ rate_limits, jti: '2' }),
    ];
    for (const key of [one, two]) expect((await scenario.chat({ key })).status).toBe(200);
    for (const key of [one, two])
      expect(await errorOf(await scenario.chat({ key }))).toMatchObject({
        status: 429,
        code: 'limit.rate_exceeded',
        message: 'Rate limit exceeded for token of "alice": 4 requests per day allowed.',
      });
  });

  it('of a policy on all keys hold tokens too, and a new token does not escape them', async () => {
    const { workspace_id } = scenario.stack.credentials;
    const { id } = await scenario.admin<{ id: string }>('POST', '/policies/rate-limits', {
      name: 'Bob',
      conditions: [
        { key: 'api_key', value: '*' },
        { key: 'metadata._user', value: 'bob' },
      ],
      group_by: [{ key: 'api_key' }],
      type: 'requests',
      unit: 'rpd',
      value: 3,
      workspace_id,
    });
    let jti = 0;
    const bob = () => {
      jti += 1;
      return chat({ sub: 'bob', jti: String(jti) });
    };
    await becomes(429, bob);
    expect((await chat({ sub: 'carol' })).status).toBe(200);
    await scenario.admin('DELETE', `/policies/rate-limits/${id}`);
    await becomes(200, bob);
  });
});

describe('settings', () => {
  it('that change are in force at the gateway within a second, for tokens that it holds too', async () => {
    const key = await sign({ jti: 'settings' });
    expect((await scenario.chat({ key })).status).toBe(200);
    await trust({ claim_values: { aud: ['sluice'] } });
    await becomes(401, () => scenario.chat({ key }));
    await trust(null);
    await becomes(403, () => scenario.chat({ key }));
    await trust();
    await becomes(200, () => scenario.chat({ key }));
  });

  it('of a workspace that is new count within a second', async () => {
    const { slug } = await scenario.admin<{ slug: string }>('POST', '/admin/workspaces', {
      name: 'Fresh',
    });
    await becomes(200, () => chat({ service_workspace: slug }));
  });
});

describe('explain', () => {
  it('tells whose token it is', async () => {
    const response = await scenario.call('/v1/explain', {
      key: await sign({ email_id: 'alice@example.com' }),
      body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] },
    });
    expect(await response.json()).toMatchObject({
      key: { name: 'alice@example.com', workspace_id: scenario.stack.credentials.workspace_id },
    });
  });
});

describe('a JWT at the admin API, by way of the gateway', () => {
  it('reads what its scopes allow', async () => {
    const call = async (path: string) =>
      (
        await scenario.call(`/v1${path}`, {
          method: 'GET',
          host: null,
          key: await sign({ scope: 'configs.list' }),
        })
      ).status;
    expect([await call('/configs'), await call('/admin/workspaces')]).toEqual([200, 403]);
  });
});

// Last: afterwards neither the control plane nor the issuer is there.
describe('without control plane and issuer', () => {
  it('tokens never seen before are taken, also after a restart', async () => {
    expect((await chat()).status).toBe(200);
    issuer.answer = (req) => req.socket.destroy();
    await scenario.stack.part('control-plane').stop();
    await scenario.stack.part('gateway').stop();
    await scenario.stack.part('gateway').start();
    expect((await chat({ sub: 'dave' })).status).toBe(200);
    expect((await chat({ exp: 1 })).status).toBe(401);
    expect((await chat({}, { gateway: elsewhere })).status).toBe(403);
  });
});
