import { setTimeout as delay } from 'node:timers/promises';
import {
  Client as NewClient,
  StreamableHTTPClientTransport as NewTransport,
} from '@modelcontextprotocol/client';
import {
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { eventually, inTurns } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectBoth, type EraMode } from './eras/client-of-both.ts';
import { type FixtureLog, fixtureServer } from './fixture-server.ts';
import {
  type LegacyUpstream,
  type SeenRequest,
  startLegacyUpstream,
  startSseUpstream,
} from './legacy-upstream.ts';
import { type McpLab, type SavedServer, startMcpLab } from './mcp-lab.ts';
import { type ModernUpstream, startModernUpstream } from './modern-upstream.ts';
import { startQuietServer } from './quiet-server.ts';

/** Clients of one era at servers of the other, through two gateways in turn that share a Redis. */
let lab: McpLab;
let older: LegacyUpstream;
let bySse: Awaited<ReturnType<typeof startSseUpstream>>;
let bySseServer: SavedServer;
const olderSessions = new Set<ReturnType<typeof fixtureServer>>();
let newer: ModernUpstream;
let olderServer: SavedServer;
let newerServer: SavedServer;
const log: FixtureLog = { writes: 0, cancelled: 0 };

const makeServer = () => {
  const made = fixtureServer(log);
  olderSessions.add(made);
  return made;
};

beforeAll(async () => {
  [lab, older, bySse, newer] = await Promise.all([
    startMcpLab({ gateways: 2, redis: true }),
    startLegacyUpstream({ makeServer }),
    startSseUpstream(makeServer),
    startModernUpstream(),
  ]);
  bySseServer = await lab.save({ url: bySse.url, transport: 'sse' });
  olderServer = await lab.save({ url: older.url });
  newerServer = await lab.save({ url: newer.url });
});
afterAll(async () => {
  await lab?.stop();
  await older?.close();
  await bySse?.close();
  await newer?.close();
});

const textOf = (result: unknown) =>
  (result as { content: { text: string }[] }).content[0]?.text ?? '';

const connectNew = (slug: string, mode: EraMode) => connectBoth(lab, slug, mode);

const modes: EraMode[] = ['legacy', 'auto', { pin: '2026-07-28' }];

describe.each(modes)('a client of both eras (%j)', (mode) => {
  it('M8: works with a server of the older era', async () => {
    const client = await connectNew(olderServer.slug, mode);
    expect(client.getInstructions()).toBe('Be careful with write.');
    expect(client.getServerVersion()?.name).toBe('fixture');
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['echo', 'write', 'ask']));
    const said = await client.callTool({ name: 'echo', arguments: { a: 'ü' } });
    expect(textOf(said)).toBe('{"a":"ü"}');
    expect((await client.callTool({ name: 'fails' })).isError).toBe(true);
    const steps: number[] = [];
    await client.callTool(
      { name: 'progress', arguments: { steps: 3, ms: 2 } },
      { onprogress: ({ progress }) => steps.push(progress) },
    );
    expect(steps).toEqual([1, 2, 3]);
    expect(textOf(await client.callTool({ name: 'ask' }))).toContain('"Ada"');
    expect(textOf(await client.callTool({ name: 'ask apart' }))).toContain('"Ada"');
    expect(textOf(await client.callTool({ name: 'sample', arguments: { say: 'x' } }))).toContain(
      'sampled',
    );
    expect(textOf(await client.callTool({ name: 'roots' }))).toContain('file:///here');
    expect((await client.readResource({ uri: 'test://one' })).contents[0]).toMatchObject({
      text: 'content of test://one',
    });
    await client.close();
  });

  it('M8: works with a server of the newer era', async () => {
    const client = await connectNew(newerServer.slug, mode);
    expect(client.getInstructions()).toBe('Ask first.');
    expect(client.getServerVersion()?.name).toBe('modern-fixture');
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['echo', 'confirm']));
    expect(textOf(await client.callTool({ name: 'echo', arguments: { say: 'hü' } }))).toBe('hü');
    const steps: number[] = [];
    await client.callTool(
      { name: 'progress' },
      { onprogress: ({ progress }) => steps.push(progress) },
    );
    expect(steps).toEqual([1, 2, 3]);
    const confirmed = await client.callTool({ name: 'confirm', arguments: { say: 'go' } });
    expect(textOf(confirmed)).toBe('go by Ada');
    await client.close();
  });
});

describe('a client of the newer era, at a server of the older one that asks twice', () => {
  it('answers each question once, however often it says so', async () => {
    const urls = lab.urls(olderServer.slug);
    const call = async (
      said?: { name: string; state: unknown },
      at = said?.name === 'Ada' ? 0 : 1,
    ) => {
      const answer = { action: 'accept', content: { name: said?.name } };
      const response = await fetch(urls[at] as string, {
        method: 'POST',
        headers: {
          'x-service-api-key': lab.scenario.stack.credentials.workspace_key,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'ask',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: {
            name: 'ask',
            arguments: { times: 2 },
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
            },
            ...(said && { requestState: said.state, inputResponses: { asked: answer } }),
          },
        }),
      });
      const text = await response.text();
      const { result, error } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
      return result ?? { ...error, status: response.status };
    };
    const first = await call();
    const ada = { name: 'Ada', state: first.requestState };
    const second = await call(ada);
    expect(second).toMatchObject({ resultType: 'input_required' });
    const given = {
      status: 400,
      code: -32602,
      message: expect.stringContaining('was answered before'),
    };
    for (const at of [0, 1, 0]) expect(await call(ada, at)).toEqual(given);
    const bea = { name: 'Bea', state: second.requestState };
    const last = await call(bea);
    expect(textOf(last).match(/Ada|Bea/g)).toEqual(['Ada', 'Bea']);
    for (const at of [0, 1]) expect(await call(bea, at)).toEqual(given);
  });
});

describe('a client of the older era alone, at a server of the newer one', () => {
  it('answers what the server asks, and hears what changes', async () => {
    const changes: string[] = [];
    const { client, transport } = await lab.connect(newerServer.slug, {
      capabilities: { elicitation: {} },
      prepare(client) {
        client.setRequestHandler(ElicitRequestSchema, () => ({
          action: 'accept' as const,
          content: { name: 'Grace' },
        }));
        client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
          changes.push('tools');
        });
      },
    });
    const confirmed = await client.callTool({ name: 'confirm', arguments: { say: 'stop' } });
    expect(textOf(confirmed)).toBe('stop by Grace');
    await eventually(() => {
      if (changes.length === 0) newer.notify.toolsChanged();
      expect(changes.length).toBeGreaterThan(0);
    });
    const abort = new AbortController();
    const broken = newer.broken.length;
    const seen = newer.headers.length;
    const call = client.callTool({ name: 'slow' }, undefined, { signal: abort.signal });
    await eventually(() =>
      expect(newer.headers.slice(seen).map((sent) => sent['mcp-name'])).toContain('slow'),
    );
    abort.abort();
    await expect(call).rejects.toThrow();
    await eventually(() => expect(newer.broken.length).toBe(broken + 1));
    await transport.terminateSession();
    await client.close();
  });
});

describe('a client of the older era, whose server of the newer one ends what it listens to', () => {
  it('hears of changes all the same', async () => {
    const own = await startModernUpstream();
    const server = await lab.save({ url: own.url });
    let changes = 0;
    const { client } = await lab.connect(server.slug, {
      prepare: (client) =>
        client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
          changes += 1;
        }),
    });
    const heard = async () => {
      const before = changes;
      await eventually(() => {
        own.notify.toolsChanged();
        expect(changes).toBeGreaterThan(before);
      });
    };
    await heard();
    own.cut();
    await heard();
    await client.close();
    await own.close();
  });
});

describe('a client of the newer era, at a server of the older one', () => {
  it('hears what changes there, and ends a call by leaving', async () => {
    const client = await connectNew(olderServer.slug, { pin: '2026-07-28' });
    const told: string[] = [];
    client.setNotificationHandler('notifications/resources/updated', async ({ params }) => {
      told.push(params.uri);
    });
    const subscription = await client.listen({
      toolsListChanged: true,
      resourceSubscriptions: ['test://one', 'test://none'],
    });
    // Of what its server tells nothing nothing is promised.
    expect(subscription.honoredFilter.resourceSubscriptions).toEqual(['test://one']);
    expect(older.requests.map(({ body }) => body?.method)).toContain('resources/subscribe');
    await subscription.close();
    const cancelled = log.cancelled;
    const abort = new AbortController();
    const seen = older.requests.length;
    const call = client.callTool({ name: 'slow' }, { signal: abort.signal });
    await eventually(() =>
      expect(older.requests.slice(seen).map(({ body }) => body?.params?.name)).toContain('slow'),
    );
    abort.abort();
    await expect(call).rejects.toThrow();
    await eventually(() => expect(log.cancelled).toBe(cancelled + 1));
    await client.close();
  });

  it('hears of changes although its server ended the stream, and forgot who listens', async () => {
    const client = await connectNew(olderServer.slug, { pin: '2026-07-28' });
    let changes = 0;
    client.setNotificationHandler('notifications/tools/list_changed', async () => {
      changes += 1;
    });
    const subscription = await client.listen({ toolsListChanged: true });
    const announce = () => {
      for (const session of olderSessions) session.sendToolListChanged().catch(() => {});
    };
    const heard = async () => {
      const before = changes;
      await eventually(() => {
        announce();
        expect(changes).toBeGreaterThan(before);
      });
    };
    await heard();
    for (const session of older.sessions.values()) session.closeStandaloneSSEStream();
    await heard();
    const begun = () => older.requests.filter(({ body }) => body?.method === 'initialize').length;
    const before = begun();
    for (const session of older.sessions.values()) session.closeStandaloneSSEStream();
    older.forget();
    await eventually(() => expect(begun()).toBeGreaterThan(before));
    await heard();
    await subscription.close();
    await client.close();
  });

  it.each(['http', 'sse'] as const)(
    'is asked nothing but what it said that it can be (%s)',
    async (transport) => {
      const own = transport === 'sse' ? bySseServer : olderServer;
      const client = new NewClient(
        { name: 'stranger', version: '2' },
        { versionNegotiation: { mode: { pin: '2026-07-28' } } },
      );
      await client.connect(
        new NewTransport(new URL(lab.urls(own.slug)[0] as string), {
          requestInit: {
            headers: { 'x-service-api-key': lab.scenario.stack.credentials.workspace_key },
          },
        }),
      );
      for (const name of ['sample', 'ask', 'roots'])
        await expect(client.callTool({ name, arguments: { say: 'x' } })).rejects.toMatchObject({
          code: -32601,
          message: expect.stringContaining('has not said that it may be asked'),
        });
      await client.close();
    },
  );

  it('has a session of its own for each call where an admin says so', async () => {
    const own = await lab.save({
      url: older.url,
      configurations: { disablePooling: true },
    });
    const client = await connectNew(own.slug, { pin: '2026-07-28' });
    const before = older.requests.length;
    for (let time = 0; time < 3; time++) await client.callTool({ name: 'echo' });
    // Questions keep it until they are answered.
    expect(textOf(await client.callTool({ name: 'ask' }))).toContain('"Ada"');
    const sessionsOf = (isOne: (request: SeenRequest) => boolean) =>
      older.requests
        .slice(before)
        .filter(isOne)
        .map(({ headers }) => headers['mcp-session-id']);
    const used = sessionsOf(({ body }) => body?.method === 'tools/call');
    expect([used.length, new Set(used).size]).toEqual([4, 4]);
    await eventually(() =>
      expect(sessionsOf(({ method }) => method === 'DELETE')).toEqual(expect.arrayContaining(used)),
    );
    await client.close();
  });

  it('shares a session with nobody else', async () => {
    const before = older.requests.length;
    const url = lab.urls(olderServer.slug)[0] as string;
    const ask = async (key: string) => {
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          'x-service-api-key': key,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2026-07-28',
          'mcp-method': 'tools/call',
          'mcp-name': 'echo',
        },
        body: JSON.stringify({
          jsonrpc: '2.0',
          id: 1,
          method: 'tools/call',
          params: {
            name: 'echo',
            arguments: {},
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientCapabilities': {},
            },
          },
        }),
      });
      expect(response.status).toBe(200);
      await response.text();
    };
    const keys = [await lab.newKey(), await lab.newKey()] as const;
    for (const key of [keys[0], keys[1], keys[0], keys[1]]) await ask(key);
    const calls = older.requests
      .slice(before)
      .filter(({ body }) => body?.method === 'tools/call')
      .map(({ headers }) => headers['mcp-session-id']);
    expect(calls).toHaveLength(4);
    expect(new Set(calls).size).toBe(2);
    expect([calls[0], calls[1]]).toEqual([calls[2], calls[3]]);
  });
});

describe('a client of the newer era, at a server of HTTP+SSE', () => {
  it('has one link for all its calls, and another one after a restart', async () => {
    const before = bySse.sessions.size;
    const client = await connectNew(bySseServer.slug, { pin: '2026-07-28' });
    const echo = async (say: number) =>
      textOf(await client.callTool({ name: 'echo', arguments: { say } }));
    const all = await Promise.all(Array.from({ length: 20 }, (_, say) => echo(say)));
    expect(all).toEqual(Array.from({ length: 20 }, (_, say) => `{"say":${say}}`));
    // One a gateway.
    expect(bySse.sessions.size).toBeLessThanOrEqual(before + 2);
    // In the middle of a call that may have been carried out: an error, at once.
    const slow = client.callTool({ name: 'slow', arguments: { ms: 20_000 } });
    slow.catch(() => {});
    await eventually(() =>
      expect(bySse.messages.map((message) => message?.params?.name)).toContain('slow'),
    );
    bySse.forget();
    await expect(slow).rejects.toMatchObject({ code: -32603 });
    expect(await echo(2)).toBe('{"say":2}');
    // Its link lives, and the server has forgotten whose it is.
    for (const id of [...bySse.sessions.keys()]) bySse.forgetOne(id);
    expect([await echo(3), await echo(4)]).toEqual(['{"say":3}', '{"say":4}']);
    await client.close();
  });

  it('is told at once that a call was lost while its question waited', async () => {
    const client = await connectNew(bySseServer.slug, { pin: '2026-07-28' });
    client.setRequestHandler('elicitation/create', async () => {
      bySse.forget();
      return { action: 'accept', content: { name: 'Ada' } };
    });
    await expect(client.callTool({ name: 'ask' })).rejects.toMatchObject({ code: -32603 });
    await client.close();
  });

  it('hears of changes after a restart, too', async () => {
    const client = await connectNew(bySseServer.slug, { pin: '2026-07-28' });
    let changes = 0;
    client.setNotificationHandler('notifications/tools/list_changed', async () => {
      changes += 1;
    });
    const subscription = await client.listen({ toolsListChanged: true });
    const heard = async () => {
      const before = changes;
      await eventually(() => {
        for (const session of olderSessions) session.sendToolListChanged().catch(() => {});
        expect(changes).toBeGreaterThan(before);
      });
    };
    await heard();
    bySse.forget();
    await heard();
    await subscription.close();
    await eventually(() => expect(bySse.sessions.size).toBe(0));
    await client.close();
  });

  it('reaches it as a member of a merged server', async () => {
    const merged = await lab.merge([{ server_id: bySseServer.id }, { server_id: newerServer.id }]);
    const client = await connectNew(merged.slug, { pin: '2026-07-28' });
    const names = (await client.listTools()).tools.map(({ name }) => name);
    const [ask = ''] = names.filter((name) => /(?:^|_)ask$/.test(name));
    expect(textOf(await client.callTool({ name: ask }))).toContain('"Ada"');
    const steps: number[] = [];
    const [progress = ''] = names.filter((name) => /progress$/.test(name));
    await client.callTool(
      { name: progress, arguments: { steps: 3, ms: 2 } },
      { onprogress: ({ progress: step }) => steps.push(step) },
    );
    expect(steps).toEqual([1, 2, 3]);
    await client.close();
  });
});

describe.each(['older', 'newer'] as const)(
  'a server of the %s era that tells of no change',
  (era) => {
    // In the suite one kind of client for each (`npm run test:long`: both).
    it.each(inTurns(['legacy', { pin: '2026-07-28' }] as const, 2, era === 'older' ? 1 : 0))(
      'is told to have them, and clients hear of ours (%j)',
      async (mode) => {
        const own = await startQuietServer(era);
        const server = await lab.save({ url: own.url });
        const client = await connectNew(server.slug, mode);
        expect(client.getServerCapabilities()).toEqual({ tools: { listChanged: true } });
        let changes = 0;
        client.setNotificationHandler('notifications/tools/list_changed', async () => {
          changes += 1;
        });
        if (mode !== 'legacy') await client.listen({ toolsListChanged: true });
        expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['stays', 'goes']);
        const toggle = (enabled: boolean) =>
          lab.scenario.admin('PUT', `/mcp-servers/${server.id}/capabilities`, {
            capabilities: [{ name: 'goes', type: 'tool', enabled }],
          });
        await toggle(false);
        await eventually(() => expect(changes).toBeGreaterThan(0));
        expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['stays']);
        // What is listed for the first time is pinned, which is told as a change of its own, or with the other.
        await eventually(async () => {
          const before = changes;
          await delay(600);
          expect(changes).toBe(before);
        });
        const before = changes;
        await toggle(true);
        await eventually(() => expect(changes).toBe(before + 1));
        expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['stays', 'goes']);
        await client.close();
        await own.close();
      },
    );
  },
);
