import { ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fixtureServer } from './fixture-server.ts';
import { startSseUpstream } from './legacy-upstream.ts';
import { type McpLab, type SavedServer, startMcpLab } from './mcp-lab.ts';
import { type ModernUpstream, startModernUpstream } from './modern-upstream.ts';

/** What a session is told at one of two gateways of what was asked at the other. */
let lab: McpLab;
let upstream: ModernUpstream;
let saved: SavedServer;

beforeAll(async () => {
  [lab, upstream] = await Promise.all([
    startMcpLab({ gateways: 2, redis: true }),
    startModernUpstream(),
  ]);
  saved = await lab.save({ url: upstream.url });
});
afterAll(async () => {
  await lab?.stop();
  await upstream?.close();
});

async function connect(slug: string) {
  const heard: string[] = [];
  const { client } = await lab.connect(slug, {
    prepare: (client) =>
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
        expect(Object.keys(params)).toEqual(['uri']);
        heard.push(params.uri);
      }),
  });
  return { client, heard };
}

/** Told until it is heard: a subscription stands a moment after it was answered. */
const hears = (heard: string[], uri: string, shown = uri) =>
  eventually(() => {
    upstream.notify.resourceUpdated(uri);
    expect(heard).toContain(shown);
  });

describe('resources/subscribe at a server of the newer era', () => {
  it('is advertised, and tells its client alone of what was named, until it is taken back', async () => {
    const [one, other] = [await connect(saved.slug), await connect(saved.slug)];
    expect(one.client.getServerCapabilities()?.resources?.subscribe).toBe(true);
    await one.client.subscribeResource({ uri: 'test://a' });
    await one.client.subscribeResource({ uri: 'test://b' });
    await other.client.subscribeResource({ uri: 'test://c' });
    await hears(one.heard, 'test://a');
    await hears(one.heard, 'test://b');
    await hears(other.heard, 'test://c');
    expect(one.heard).not.toContain('test://c');
    expect([...new Set(other.heard)]).toEqual(['test://c']);
    await one.client.unsubscribeResource({ uri: 'test://a' });
    // What it heard is not missed while the subscription changes.
    await eventually(() => {
      one.heard.length = 0;
      upstream.notify.resourceUpdated('test://a');
      upstream.notify.resourceUpdated('test://b');
      return eventually(() => expect(one.heard).toEqual(['test://b']), { timeoutMs: 300 });
    });
    await one.client.unsubscribeResource({ uri: 'test://never' });
    await Promise.all([one.client.close(), other.client.close()]);
  });

  it('outlives a stream that its server cuts', async () => {
    const { client, heard } = await connect(saved.slug);
    await client.subscribeResource({ uri: 'test://cut' });
    await hears(heard, 'test://cut');
    upstream.cut();
    heard.length = 0;
    await hears(heard, 'test://cut');
    await client.close();
  });

  it('names what may be read, a hundred at most, and none that is long', async () => {
    const own = await lab.save({
      url: upstream.url,
      more: { new_capabilities: 'disabled' },
    });
    const secret = await connect(own.slug);
    await expect(secret.client.subscribeResource({ uri: 'test://secret' })).rejects.toMatchObject({
      code: -32602,
    });
    const { client, heard } = await connect(saved.slug);
    for (let at = 0; at < 100; at++) await client.subscribeResource({ uri: `test://${at}` });
    await client.subscribeResource({ uri: 'test://99' });
    await expect(client.subscribeResource({ uri: 'test://100' })).rejects.toMatchObject({
      code: -32602,
    });
    await client.unsubscribeResource({ uri: 'test://0' });
    await expect(
      client.subscribeResource({ uri: `test://${'x'.repeat(3_000)}` }),
    ).rejects.toMatchObject({ code: -32602, message: expect.stringMatching('at most 2048') });
    await hears(heard, 'test://99');
    upstream.notify.resourceUpdated('test://secret');
    await hears(heard, 'test://98');
    expect(heard).not.toContain('test://secret');
    expect(secret.heard).toEqual([]);
    await Promise.all([client.close(), secret.client.close()]);
  });

  it('reaches a member of a merged server, under the name that it has there', async () => {
    const merged = await lab.merge([
      { server_id: saved.id },
      { server_id: (await lab.save({ url: upstream.url })).id },
    ]);
    const { client, heard } = await connect(merged.slug);
    const shown = `mcp-member://${saved.slug}/test://within`;
    await client.subscribeResource({ uri: shown });
    await hears(heard, 'test://within', shown);
    expect([...new Set(heard)]).toEqual([shown]);
    await client.close();
  });
});

describe('a call at another gateway than the one that has the link of HTTP+SSE', () => {
  it('is told of its progress before its answer, however fast that comes', async () => {
    const bySse = await startSseUpstream(() => fixtureServer({ writes: 0, cancelled: 0 }));
    const server = await lab.save({ url: bySse.url, transport: 'sse' });
    const [begins = '', asks = ''] = lab.urls(server.slug);
    const headers = {
      'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    };
    const post = (url: string, message: object, more = {}) =>
      fetch(url, {
        method: 'POST',
        headers: { ...headers, ...more },
        body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      });
    const clientInfo = { name: 'alone', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const hello = await post(begins, { id: 0, method: 'initialize', params });
    const session = { 'mcp-session-id': hello.headers.get('mcp-session-id') ?? '' };
    await hello.text();
    await post(begins, { method: 'notifications/initialized' }, session);
    for (let id = 1; id <= 5; id++) {
      const call = {
        name: 'progress',
        arguments: { steps: 5, ms: 0 },
        _meta: { progressToken: id },
      };
      const answer = await post(asks, { id, method: 'tools/call', params: call }, session);
      const told = [...(await answer.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '']) =>
        JSON.parse(data),
      );
      const steps = told.filter(({ params }) => params?.progressToken === id);
      expect(steps.map(({ params }) => params.progress)).toEqual([1, 2, 3, 4, 5]);
      expect(told.at(-1)).toMatchObject({ id, result: { content: [{ text: 'done' }] } });
    }
    await bySse.close();
  });
});
