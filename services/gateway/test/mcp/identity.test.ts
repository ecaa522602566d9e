import { randomBytes } from 'node:crypto';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  eventually,
  type Issuer,
  json,
  startIssuer,
  startUpstream,
  type Upstream,
} from '@sluice/testkit';
import { calculateJwkThumbprint, createRemoteJWKSet, type JWK, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatReply } from '../scenario.ts';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import { type LegacyUpstream, startLegacyUpstream } from './legacy-upstream.ts';
import { type McpLab, startMcpLab } from './mcp-lab.ts';
import { type ModernUpstream, startModernUpstream } from './modern-upstream.ts';

/** Who calls: what servers ask of users, and what they are told of them. */
let lab: McpLab;
let legacy: LegacyUpstream;
let modern: ModernUpstream;
let issuer: Issuer;
let agent: Upstream;
let base: string;
const log: FixtureLog = { writes: 0, cancelled: 0 };

beforeAll(async () => {
  [lab, legacy, modern, issuer, agent] = await Promise.all([
    startMcpLab(),
    startLegacyUpstream({ makeServer: () => fixtureServer(log), json: true }),
    startModernUpstream(),
    startIssuer(),
    startUpstream(),
  ]);
  base = lab.scenario.stack.gatewayUrls[0] ?? '';
});
afterAll(async () => {
  await lab?.stop();
  await Promise.all([legacy?.close(), modern?.close(), issuer?.close(), agent?.close()]);
});

async function connect(
  slug: string,
  headers: Record<string, string> = {},
  mode: 'auto' | 'legacy' = 'auto',
) {
  const client = new Client({ name: 'stranger', version: '2' }, { versionNegotiation: { mode } });
  const { workspace_key } = lab.scenario.stack.credentials;
  const transport = new StreamableHTTPClientTransport(new URL(`${base}/${slug}/mcp`), {
    requestInit: { headers: { 'x-service-api-key': workspace_key, ...headers } },
  });
  await client.connect(transport);
  return { client, transport };
}

/** One request without a client. */
async function post(slug: string, headers: Record<string, string>, body: object) {
  const answer = await fetch(`${base}/${slug}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: JSON.parse(text || 'null') };
}

let agents = 0;
async function saveAgent(configurations: object) {
  agents += 1;
  const slug = `agent-${agents}`;
  const { admin, stack } = lab.scenario;
  const { workspace_id } = stack.credentials;
  const { id } = await admin<{ id: string }>('POST', '/agent-integrations', {
    name: slug,
    slug,
    url: agent.url,
    configurations,
  });
  await admin('PUT', `/agent-integrations/${id}/workspaces`, {
    workspaces: [{ id: workspace_id, enabled: true }],
  });
  await admin('POST', '/agent-servers', {
    name: slug,
    slug,
    agent_integration_id: id,
    workspace_id,
  });
  return { slug };
}

async function callAgent(slug: string, headers: Record<string, string> = {}) {
  const status = { state: 'completed' };
  const result = { kind: 'task', id: `t-${slug}`, contextId: `c-${slug}`, status };
  agent.handle(json(200, { jsonrpc: '2.0', id: 1, result }));
  const message = { kind: 'message', messageId: 'm', role: 'user', parts: [] };
  return fetch(`${base}/v1/agent/${slug}/`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'message/send', params: { message } }),
  });
}

describe('a server that asks for a token of the user', () => {
  it.each(['older', 'newer'] as const)('of the %s era is reached with one only', async (era) => {
    const upstream = era === 'older' ? legacy : modern;
    const { slug, integrationId } = await lab.save({
      url: upstream.url,
      configurations: { jwt_validation: { jwksUri: issuer.jwksUrl, audience: 'tools' } },
    });
    const bearer = (claims: object) =>
      issuer.sign({ sub: 'ada', aud: 'tools', ...claims }).then((token) => `Bearer ${token}`);
    const seen = () => (era === 'older' ? legacy.requests : modern.headers).length;
    const before = seen();
    const ping = { method: 'tools/list' };
    for (const [authorization, reason] of [
      [undefined, /^missing header/],
      [await bearer({ aud: 'others' }), /^validation failed/],
      [await bearer({ exp: 1 }), /^expired/],
    ] as const) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const { status, headers: told, body } = await post(slug, headers, ping);
      expect([status, body]).toEqual([
        401,
        { error: 'unauthorized', error_description: expect.stringMatching(reason) },
      ]);
      expect(told.get('www-authenticate')).toMatch(/^Bearer error="invalid_token"/);
    }
    // The gateway's own credential is asked for first.
    const stranger = { 'x-service-api-key': 'nobody', authorization: await bearer({}) };
    expect((await post(slug, stranger, ping)).body.error).not.toBe('unauthorized');
    expect(seen()).toBe(before);
    const { client, transport } = await connect(
      slug,
      { authorization: await bearer({}) },
      era === 'older' ? 'legacy' : 'auto',
    );
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    // The user's token was the gateway's to check, not the server's to keep.
    const told = [...legacy.requests.map(({ headers }) => headers), ...modern.headers];
    expect(told.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
    // What the token says decides, each value of a list.
    await lab.scenario.admin('PUT', `/mcp-integrations/${integrationId}`, {
      policy: {
        access: {
          rules: [
            { effect: 'allow', query: { 'claims.groups': 'ops' } },
            { effect: 'deny', query: {} },
          ],
        },
      },
    });
    for (const groups of [undefined, 'ops', ['dev'], ['dev', 'ops']]) {
      const authorization = await bearer({ groups });
      const own = await connect(slug, { authorization }, era === 'older' ? 'legacy' : 'auto');
      const { tools } = await own.client.listTools();
      expect(tools.length > 0).toBe(groups?.includes('ops') === true);
      await own.client.close();
    }
    await lab.scenario.admin('PUT', `/mcp-integrations/${integrationId}`, { policy: null });
    if (era === 'newer') return client.close();
    // A session is of the user who began it, whoever else has the same key.
    const session = { 'mcp-session-id': transport.sessionId ?? '' };
    const statusFor = async (sub: string) =>
      (await post(slug, { ...session, authorization: await bearer({ sub }) }, ping)).status;
    expect([await statusFor('ada'), await statusFor('bob')]).toEqual([200, 404]);
    await client.close();
  });
});

describe('M26: who calls, signed', () => {
  const forwarding = (more: object = {}) => ({
    user_identity_forwarding: { method: 'jwt_header', ...more },
  });
  const keys = () => createRemoteJWKSet(new URL(`${base}/.well-known/jwks.json`));

  it('verifies by the keys at the gateway, for this server alone', async () => {
    const { slug } = await lab.save({ url: legacy.url, configurations: forwarding() });
    const { client } = await connect(slug, { 'x-user-jwt': 'forged' }, 'legacy');
    await client.listTools();
    const token = String(legacy.requests.at(-1)?.headers['x-user-jwt']);
    const { payload, protectedHeader } = await jwtVerify(token, keys(), {
      algorithms: ['RS256'],
      audience: legacy.url,
      issuer: 'service-mcp-gateway',
    });
    const { organisation_id, workspace_id } = lab.scenario.stack.credentials;
    expect(payload).toMatchObject({ organisation_id, workspace_id, sub: expect.any(String) });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(300);
    const { keys: published } = (await (await fetch(`${base}/.well-known/jwks.json`)).json()) as {
      keys: JWK[];
    };
    const [jwk] = published.filter(({ kid }) => kid === protectedHeader.kid);
    expect(await calculateJwkThumbprint(jwk as JWK)).toBe(protectedHeader.kid);
    // It opens nothing here.
    const { status } = await post(
      slug,
      { authorization: `Bearer ${token}`, 'x-service-api-key': '' },
      { method: 'tools/list' },
    );
    expect(status).toBe(401);
    await client.close();
  });

  it('says what an administrator chose, in the header they chose, to a server of the newer era too', async () => {
    const configurations = forwarding({ header_name: 'X-Who', include_claims: ['sub'] });
    const { slug } = await lab.save({ url: modern.url, configurations });
    const { client } = await connect(slug);
    await client.listTools();
    const { 'x-who': token, 'x-user-jwt': usual } = modern.headers.at(-1) ?? {};
    expect(usual).toBeUndefined();
    const { payload } = await jwtVerify(String(token), keys(), { audience: modern.url });
    expect(Object.keys(payload).sort()).toEqual(['aud', 'exp', 'iat', 'iss', 'sub']);
    await client.close();
  });

  it('is told to agents alike', async () => {
    const { slug } = await saveAgent(forwarding());
    const { status } = await callAgent(slug);
    expect(status).toBe(200);
    const token = String(agent.requests.at(-1)?.headers['x-user-jwt']);
    await jwtVerify(token, keys(), { audience: agent.url, issuer: 'service-mcp-gateway' });
  });

  it('by a caller’s own token is off unless an administrator insists, and never a key', async () => {
    const bearer = (more: object = {}) => ({
      url: modern.url,
      configurations: { user_identity_forwarding: { method: 'bearer', ...more } },
    });
    const before = modern.headers.length;
    const { slug: off } = await lab.save(bearer());
    expect((await post(off, {}, { method: 'tools/list' })).status).toBe(503);
    const { slug: on } = await lab.save(bearer({ forward_gateway_token: true }));
    expect((await post(on, {}, { method: 'tools/list' })).status).toBe(403);
    expect(modern.headers.length).toBe(before);
  });
});

describe('a run whose trace is named in messages', () => {
  const traceOf = (id: string) =>
    lab.scenario.admin<{ requests: { url: string }[] }>('GET', `/traces/${id}`);

  it('has its model call, its calls of tools and its call of an agent under one trace', async () => {
    const id = randomBytes(16).toString('hex');
    const context = {
      traceparent: `00-${id}-00f067aa0ba902b7-01`,
      tracestate: 'vendor=1',
      baggage: 'user=ada',
    };
    const [older, newer] = [
      await lab.save({ url: legacy.url }),
      await lab.save({ url: modern.url }),
    ];
    const { slug: agentSlug } = await saveAgent({});
    lab.scenario.upstream.handle(json(200, chatReply));
    const { traceparent } = context;
    expect((await lab.scenario.chat({ headers: { traceparent } })).status).toBe(200);
    expect((await callAgent(agentSlug, { traceparent })).status).toBe(200);
    for (const [slug, mode] of [
      [older.slug, 'legacy'],
      [newer.slug, 'auto'],
    ] as const) {
      const { client } = await connect(slug, {}, mode);
      await client.callTool({ name: 'echo', arguments: { say: 'x' }, _meta: context });
      await client.close();
    }
    const called = legacy.requests.find(({ body }) => body?.method === 'tools/call');
    expect(called?.headers).toMatchObject(context);
    expect(called?.body?.params?._meta).toMatchObject(context);
    expect(modern.headers).toContainEqual(expect.objectContaining(context));
    const urls = await eventually(
      async () => {
        const found = (await traceOf(id)).requests.map(({ url }) => url).sort();
        if (found.length < 4) throw new Error(`only ${found.join()} so far`);
        return found;
      },
      { intervalMs: 200 },
    );
    expect(urls).toEqual([
      '/v1/chat/completions',
      `agent://${agentSlug}/message/send`,
      `mcp://${older.slug}/tools/echo`,
      `mcp://${newer.slug}/tools/echo`,
    ]);
  });

  it('stays what headers say, and takes no trace that is none', async () => {
    const { slug } = await lab.save({ url: modern.url });
    const told = async (headers: Record<string, string>, traceparent: unknown) => {
      const meta = { traceparent, baggage: 'a=b\r\nx-evil: 1' };
      const answer = await post(slug, headers, { method: 'tools/list', params: { _meta: meta } });
      return answer.headers.get('x-service-trace-id');
    };
    const [one, other] = ['a'.repeat(32), 'b'.repeat(32)];
    const parent = (id: string) => `00-${id}-00f067aa0ba902b7-01`;
    expect(await told({}, parent(one))).toBe(one);
    expect(await told({ traceparent: parent(other) }, parent(one))).toBe(other);
    expect(await told({ 'x-service-trace-id': 'mine' }, parent(one))).toBe('mine');
    for (const bad of [`${parent(one)}\r\nx: 1`, parent('0'.repeat(32)), 7, {}, 'x'.repeat(9_000)])
      expect(await told({}, bad)).not.toBe(one);
  });
});
