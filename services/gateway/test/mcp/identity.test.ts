import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { type Issuer, startIssuer } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import { type LegacyUpstream, startLegacyUpstream } from './legacy-upstream.ts';
import { type McpLab, startMcpLab } from './mcp-lab.ts';
import { type ModernUpstream, startModernUpstream } from './modern-upstream.ts';

/** Who calls: what servers ask of users, and what they are told of them. */
let lab: McpLab;
let legacy: LegacyUpstream;
let modern: ModernUpstream;
let issuer: Issuer;
let base: string;
const log: FixtureLog = { writes: 0, cancelled: 0 };

beforeAll(async () => {
  [lab, legacy, modern, issuer] = await Promise.all([
    startMcpLab(),
    startLegacyUpstream({ makeServer: () => fixtureServer(log), json: true }),
    startModernUpstream(),
    startIssuer(),
  ]);
  base = lab.scenario.stack.gatewayUrls[0] ?? '';
});
afterAll(async () => {
  await lab?.stop();
  await Promise.all([legacy?.close(), modern?.close(), issuer?.close()]);
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

describe('a server that asks for a token of the user', () => {
  it.each(['older', 'newer'] as const)('of the %s era is reached with one only', async (era) => {
    const upstream = era === 'older' ? legacy : modern;
    const { slug } = await lab.save({
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
    if (era === 'newer') return client.close();
    // A session is of the user who began it, whoever else has the same key.
    const session = { 'mcp-session-id': transport.sessionId ?? '' };
    const statusFor = async (sub: string) =>
      (await post(slug, { ...session, authorization: await bearer({ sub }) }, ping)).status;
    expect([await statusFor('ada'), await statusFor('bob')]).toEqual([200, 404]);
    await client.close();
  });
});
