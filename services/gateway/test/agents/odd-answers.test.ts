import type { ServerResponse } from 'node:http';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { bytes, json, startUpstream, type Upstream, type UpstreamReply } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AgentLab, startAgentLab } from './agent-lab.ts';

/** Agents that say of their answers what they are not, or pack them though nobody asked for that. */
let lab: AgentLab;
let agent: Upstream;
let slug: string;
let raw: string;
beforeAll(async () => {
  [lab, agent] = await Promise.all([startAgentLab(), startUpstream()]);
  ({ slug } = await lab.save(`${agent.url}/base`));
  ({ slug: raw } = await lab.save(`${agent.url}/raw`, { protocol: 'raw' }));
});
afterAll(() => Promise.all([lab?.stop(), agent?.close()]));

let tasks = 0;
const message = {
  message: { messageId: 'm', role: 'user', parts: [{ kind: 'text', text: 'Hi' }] },
};
const usage = { prompt_tokens: 30, completion_tokens: 12 };
const taskOf = (id: string) =>
  JSON.stringify({
    jsonrpc: '2.0',
    id: 'call-1',
    result: {
      kind: 'task',
      id,
      contextId: `c-${id}`,
      status: { state: 'completed' },
      metadata: { usage },
    },
  });

/** What became of a task that was begun by such an answer: what was counted, and whether its caller finds it. */
async function begin(reply: (body: string) => Parameters<Upstream['handle']>[0]) {
  const id = `odd-${++tasks}`;
  agent.handle(reply(taskOf(id)));
  const answer = await lab.rpc(slug, 'message/send', message);
  const said = await answer.text();
  const [record] = await lab.records.of(answer.headers.get('x-service-request-id') ?? '', 1);
  agent.handle(json(200, taskOf(id)));
  const seen = await lab.rpc(slug, 'tasks/get', { id });
  const { error } = (await seen.json()) as { error?: { code: number } };
  return {
    status: answer.status,
    said,
    expected: taskOf(id),
    encoding: answer.headers.get('content-encoding'),
    tokens: [Number(record?.inputTokens), Number(record?.outputTokens)],
    error: error?.code,
  };
}

describe('an answer of an agent', () => {
  it.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ] as const)(
    'that is packed (%s) is unpacked: its task is known, and its usage',
    async (encoding, pack) => {
      const type = { 'content-type': 'application/json', 'content-encoding': encoding };
      const { said, expected, ...came } = await begin((body) => bytes(200, pack(body), type));
      expect(said).toBe(expected);
      expect(came).toEqual({ status: 200, encoding: null, tokens: [30, 12], error: undefined });
    },
  );

  it.each([
    'text/plain; charset=utf-8',
    'text/json',
    'application/octet-stream',
    'text/html',
    undefined,
  ])('that is called %s is read as what its caller reads it as', async (type) => {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    const { said, expected, ...came } = await begin((body) =>
      bytes(200, Buffer.from(body), headers),
    );
    expect(said).toBe(expected);
    expect(came).toEqual({ status: 200, encoding: null, tokens: [30, 12], error: undefined });
  });

  it('that unpacks to more than may be read, or cannot be, is one clear error', async () => {
    const type = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    const bomb = await begin(() => bytes(200, gzipSync(Buffer.alloc(50_000_000, ' ')), type));
    expect([bomb.status, bomb.said]).toEqual([502, expect.stringContaining('16777216 bytes')]);
    const broken = await begin(() => bytes(200, Buffer.from('{}'), type));
    expect([broken.status, broken.said]).toEqual([502, expect.stringContaining('unpacked')]);
    const stream = await begin((body) =>
      bytes(200, gzipSync(`data: ${body}\n\n`), { ...type, 'content-type': 'text/event-stream' }),
    );
    expect([stream.status, stream.said]).toEqual([
      502,
      expect.stringContaining('compressed its stream'),
    ]);
  });

  it('that breaks off in the middle, or stalls there, is the agent’s', async () => {
    const configurations = { idle_timeout_ms: 300 };
    const { slug: stalling } = await lab.save(`${agent.url}/base`, { configurations });
    const half = (then: (response: ServerResponse) => void): UpstreamReply => ({
      async send(response) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.write('{"jsonrpc":');
        then(response);
      },
    });
    for (const [reply, status, code, words] of [
      [
        half((response) => setTimeout(() => response.destroy(), 20)),
        502,
        'unreachable',
        'The agent',
      ],
      [half(() => {}), 504, 'timeout', 'in time'],
    ] as const) {
      agent.handle(reply);
      const answer = await lab.rpc(stalling, 'message/send', message);
      expect(answer.status).toBe(status);
      const said = await answer.text();
      expect(said).toContain(`"code":"agent.${code}"`);
      expect(said).toContain(words);
    }
  });

  it('that is a card leads through the gateway, whatever it is called and however it is packed', async () => {
    const card = JSON.stringify({ name: 'A', url: `${agent.url}/base`, skills: [] });
    for (const [body, headers] of [
      [gzipSync(card), { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
      [Buffer.from(card), { 'content-type': 'text/plain' }],
    ] as const) {
      agent.handle(bytes(200, body, headers));
      for (const path of ['.well-known/agent-card.json', 'about']) {
        const shown = await lab.ask(slug, path);
        expect(await shown.text()).not.toContain(agent.url);
      }
    }
  });

  it('that was asked for as a card leads nowhere else, though it has no name', async () => {
    const card = { url: `${agent.url}/base`, capabilities: {}, skills: [] };
    agent.handle(json(200, card));
    expect(await (await lab.ask(slug, 'v1/card')).text()).not.toContain(agent.url);
    agent.handle(json(200, { jsonrpc: '2.0', id: 'call-1', result: card }));
    const answer = await lab.rpc(slug, 'GetExtendedAgentCard', {});
    expect(await answer.text()).not.toContain(agent.url);
    const error = { jsonrpc: '2.0', id: 'call-1', error: { code: -32007, message: 'none' } };
    agent.handle(json(200, error));
    expect(await (await lab.rpc(slug, 'GetExtendedAgentCard', {})).json()).toEqual(error);
  });

  it('of another protocol that cannot be unpacked passes as it came', async () => {
    const type = { 'content-type': 'application/json', 'content-encoding': 'gzip' };
    agent.handle(bytes(404, Buffer.from('{}'), type));
    const answer = await lab
      .ask(raw, 'any', { headers: { accept: '*/*' } })
      .then(({ status, headers }) => [status, headers.get('content-encoding')]);
    expect(answer).toEqual([404, 'gzip']);
  });
});
