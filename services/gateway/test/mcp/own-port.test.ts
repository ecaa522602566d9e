import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { freePort } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import { type LegacyUpstream, startLegacyUpstream } from './legacy-upstream.ts';
import { type McpLab, type SavedServer, startMcpLab } from './mcp-lab.ts';

/** MCP on a port of its own, beside the gateway's. */
let lab: McpLab;
let upstream: LegacyUpstream;
let server: SavedServer;
let origin: string;

beforeAll(async () => {
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  const log: FixtureLog = { writes: 0, cancelled: 0 };
  [lab, upstream] = await Promise.all([
    startMcpLab({ environment: { gateway: { MCP_PORT: String(port) } } }),
    startLegacyUpstream({ makeServer: () => fixtureServer(log) }),
  ]);
  server = await lab.save({ url: upstream.url });
});
afterAll(async () => {
  await lab?.stop();
  await upstream?.close();
});

it('serves MCP, the log-in of its clients and probes there, and nothing else; the same sessions at both', async () => {
  const { client, transport } = await lab.connect(server.slug);
  const headers = {
    'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  };
  const called = await fetch(`${origin}/${server.slug}/mcp`, {
    method: 'POST',
    headers: { ...headers, 'mcp-session-id': transport.sessionId ?? '' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  });
  expect([called.status, await called.text()]).toEqual([200, expect.stringContaining('"echo"')]);
  await client.close();

  const refused = await fetch(`${origin}/${server.slug}/mcp`, { method: 'POST' });
  expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
    401,
    expect.stringContaining(
      `resource_metadata="${origin}/.well-known/oauth-protected-resource/${server.slug}/mcp"`,
    ),
  ]);
  const document = await fetch(`${origin}/.well-known/oauth-protected-resource/${server.slug}/mcp`);
  expect(await document.json()).toMatchObject({ resource: `${origin}/${server.slug}/mcp` });
  expect((await fetch(`${origin}/health`)).status).toBe(200);

  const upgrade = { connection: 'upgrade', upgrade: 'websocket' };
  for (const [path, more] of [
    ['/v1/models', {}],
    ['/v1/mcp-servers', {}],
    ['/v1/agent/x/', {}],
    ['/docs', {}],
    ['/v1/realtime?model=m', upgrade],
  ] as const) {
    const other = await get(`${origin}${path}`, { ...headers, ...more });
    expect([path, other]).toEqual([path, [404, expect.stringContaining('route_not_found')]]);
  }
});

/** As `fetch` cannot: also with headers of the connection. */
async function get(url: string, headers: Record<string, string>): Promise<[number?, string?]> {
  const [response] = (await once(request(url, { headers }).end(), 'response')) as [IncomingMessage];
  return [response.statusCode, await text(response)];
}
