import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import { type LegacyUpstream, startLegacyUpstream } from './legacy-upstream.ts';
import { type McpLab, type SavedServer, startMcpLab } from './mcp-lab.ts';
import { type ModernUpstream, startModernUpstream } from './modern-upstream.ts';

/** Servers made of others, through three gateways in turn that share a Redis. */
let lab: McpLab;
const log: FixtureLog = { writes: 0, cancelled: 0 };
let wide: LegacyUpstream;
let narrow: LegacyUpstream;
let modern: ModernUpstream;
let a: SavedServer;
let b: SavedServer;
let m: SavedServer;

beforeAll(async () => {
  [lab, wide, narrow, modern] = await Promise.all([
    startMcpLab({
      gateways: 3,
      redis: true,
      environment: { gateway: { MCP_MEMBER_TIMEOUT_MS: '700' } },
    }),
    startLegacyUpstream({ makeServer: () => fixtureServer(log) }),
    startLegacyUpstream({ makeServer: () => smallServer(['echo', 'only']) }),
    startModernUpstream(),
  ]);
  [a, b, m] = [
    await lab.save({ url: wide.url }),
    await lab.save({ url: narrow.url }),
    await lab.save({ url: modern.url }),
  ];
});
afterAll(async () => {
  await lab?.stop();
  await Promise.all([wide?.close(), narrow?.close(), modern?.close()]);
});

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] });
const textOf = (result: unknown) =>
  (result as { content: { text: string }[] }).content[0]?.text ?? '';

function smallServer(names: readonly string[]): Server {
  const server = new Server(
    { name: 'small', version: '1' },
    { instructions: 'Small.', capabilities: { tools: {}, resources: {} } },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: names.map((name) => ({ name, inputSchema: { type: 'object' as const } })),
  }));
  server.setRequestHandler(ListResourcesRequestSchema, () => ({
    resources: [{ uri: 'test://one', name: 'one' }],
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) =>
    text(`small ${params.name}`),
  );
  return server;
}

describe('a server made of others', () => {
  it('lists all of them in order, with names that are nobody else’s, and calls whose they are', async () => {
    const { slug } = await lab.merge([
      { server_id: a.id },
      { server_id: b.slug },
      { server_id: m.id },
    ]);
    const { client } = await lab.connect(slug);
    const names = async () => (await client.listTools()).tools.map(({ name }) => name);
    const first = await names();
    expect(first).toContain(`${a.slug}_echo`);
    expect(first).toContain(`${b.slug}_echo`);
    expect(first).toContain(`${m.slug}_echo`);
    expect(first).toContain('only');
    expect(first).toContain('confirm');
    expect(await names()).toEqual(first);
    expect(textOf(await client.callTool({ name: `${a.slug}_echo`, arguments: { x: 1 } }))).toBe(
      '{"x":1}',
    );
    expect(textOf(await client.callTool({ name: `${b.slug}_echo` }))).toBe('small echo');
    expect(
      textOf(await client.callTool({ name: `${m.slug}_echo`, arguments: { say: 'hm' } })),
    ).toBe('hm');
    await expect(client.callTool({ name: 'echo' })).rejects.toThrow(/not found/);
    expect(client.getInstructions()).toContain('Be careful with write.');
    expect(client.getInstructions()).toContain('Ask first.');
    const { resources } = await client.listResources();
    const uris = resources.map(({ uri }) => uri);
    expect(uris).toEqual([
      `mcp-member://${a.slug}/test://one`,
      `mcp-member://${a.slug}/test://two`,
      `mcp-member://${b.slug}/test://one`,
      `mcp-member://${m.slug}/test://one`,
    ]);
    const read = await client.readResource({ uri: uris[1] as string });
    expect(read.contents).toEqual([{ uri: uris[1], text: 'content of test://two' }]);
    expect((await client.readResource({ uri: uris[3] as string })).contents[0]).toMatchObject({
      uri: uris[3],
      text: 'content',
    });
    await client.close();
  });
});
