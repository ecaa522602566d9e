import { type OauthServer, startOauthServer } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import { type LegacyUpstream, startLegacyUpstream } from './legacy-upstream.ts';
import { type McpLab, startMcpLab } from './mcp-lab.ts';

/** Servers that want an OAuth token of the gateway itself: two gateways, one control plane, one authorisation server. */
let lab: McpLab;
let as: OauthServer;
let upstream: LegacyUpstream;
const log: FixtureLog = { writes: 0, cancelled: 0 };
const client = { client_id: 'sluice', client_secret: 's3cret-of-the-client' };

beforeAll(async () => {
  as = await startOauthServer();
  as.clients.set(client.client_id, { secret: client.client_secret, redirectUris: [] });
  [lab, upstream] = await Promise.all([
    startMcpLab({ gateways: 2 }),
    startLegacyUpstream({
      makeServer: () => fixtureServer(log),
      guard: (req, res) => as.guard(req, res),
    }),
  ]);
  as.resource = upstream.url;
});
afterAll(async () => {
  await lab?.stop();
  await upstream?.close();
  await as?.close();
});
const usual = { lastsSeconds: 3600, tokenStatus: 200, tokenDelayMs: 0 };
beforeEach(() => {
  Object.assign(as.settings, usual);
  as.tokenRequests.length = 0;
  upstream.requests.length = 0;
});

const save = (metadata: object = client) =>
  lab.save({
    url: upstream.url,
    authType: 'oauth_client_credentials',
    configurations: { oauth_metadata: metadata },
  });

const headersOf = (result: unknown) =>
  JSON.parse((result as { content: { text: string }[] }).content[0]?.text ?? '{}');

describe('oauth_client_credentials', () => {
  it('sends one token with all that a client does, through two gateways in turn', async () => {
    const { slug } = await save();
    as.settings.tokenDelayMs = 200;
    const connected = await Promise.all(Array.from({ length: 6 }, () => lab.connect(slug)));
    const { client: mcp } = connected[0]!;
    await mcp.listTools();
    const told = headersOf(await mcp.callTool({ name: 'headers', arguments: {} }));
    await mcp.listPrompts();
    await mcp.getPrompt({ name: 'greet', arguments: { who: 'you' } });
    await mcp.readResource({ uri: 'test://one' });
    await mcp.complete({
      ref: { type: 'ref/prompt', name: 'greet' },
      argument: { name: 'who', value: 'y' },
    });
    await connected[0]!.transport.terminateSession();
    expect(as.tokenRequests).toHaveLength(1);
    expect(as.tokenRequests[0]?.form).toEqual({
      grant_type: 'client_credentials',
      resource: upstream.url,
      scope: 'tools',
    });
    expect(told.authorization).toBe(`Bearer ${as.given.at(-1)}`);
    const sent = new Set(
      upstream.requests
        .filter(({ body, headers }) => body?.method !== 'ping' && headers.host !== undefined)
        .filter(({ method }) => ['POST', 'GET', 'DELETE'].includes(method))
        .filter(({ headers }) => headers.accept !== 'application/json')
        .map(({ headers }) => headers.authorization),
    );
    expect([...sent]).toEqual([`Bearer ${as.given.at(-1)}`]);
    const methods = new Set(upstream.requests.map(({ method, body }) => body?.method ?? method));
    for (const each of ['GET', 'DELETE', 'tools/call', 'completion/complete', 'resources/read'])
      expect([...methods]).toContain(each);
  });

  it('forgets a token that the server does not take, and asks for one other whoever notices', async () => {
    const { slug } = await save();
    const { client: mcp } = await lab.connect(slug);
    await mcp.listTools();
    await mcp.listTools();
    expect(as.tokenRequests).toHaveLength(1);
    as.revoked.add(as.given.at(-1) ?? '');
    as.settings.tokenDelayMs = 300;
    await Promise.all(Array.from({ length: 8 }, () => mcp.listTools()));
    expect(as.tokenRequests).toHaveLength(2);
  }, 30_000);

  it('works on with what it holds while the authorisation server fails, until that expires', async () => {
    as.settings.lastsSeconds = 4;
    const { slug } = await save();
    const { client: mcp } = await lab.connect(slug);
    await mcp.listTools();
    await mcp.listTools();
    as.settings.tokenStatus = 500;
    // Asked for anew from here on.
    await new Promise((resolve) => setTimeout(resolve, 3_300));
    await mcp.listTools();
    await mcp.listTools();
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await expect(mcp.listTools()).rejects.toThrow(/has no token for the MCP server/);
  }, 30_000);

  it('tells a client why there is none, without what was said, and asks no more than now and then', async () => {
    const { slug } = await save({ ...client, client_secret: 'wrong' });
    const [first = ''] = lab.urls(slug);
    const begin = async () => {
      const answer = await fetch(first, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 'a',
          method: 'initialize',
          params: {
            protocolVersion: '2025-11-25',
            capabilities: {},
            clientInfo: { name: 'c', version: '1' },
          },
        }),
      });
      return { status: answer.status, body: await answer.json() };
    };
    expect(await begin()).toEqual({
      status: 200,
      body: {
        jsonrpc: '2.0',
        id: 'a',
        error: {
          code: -32603,
          message:
            'The gateway has no token for the MCP server: The token endpoint refused: invalid_client.',
          data: { reason: 'upstream_sign_in', error: 'invalid_client' },
        },
      },
    });
    for (let time = 0; time < 5; time++) await begin();
    expect(as.tokenRequests).toHaveLength(1);
    expect(upstream.requests.filter(({ body }) => body?.method === 'initialize')).toEqual([]);
  });
});
