import { setTimeout as delay } from 'node:timers/promises';
import { ToldSoFar } from '@sluice/a2a';
import { bytes, startUpstream, type Upstream, type UpstreamReply } from '@sluice/testkit';
import fc from 'fast-check';
import { Pool } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { UpstreamCall } from '../calls/upstream-call.ts';
import { agentStream, type StreamEnd } from './agent-stream.ts';

let agent: Upstream;
let pool: Pool;
beforeAll(async () => {
  agent = await startUpstream();
  pool = new Pool(agent.url);
});
afterAll(async () => {
  await pool.destroy();
  await agent.close();
});

/** Pieces with pauses between them, in ms. */
function pieces(list: readonly (string | Buffer | number)[]): UpstreamReply {
  return {
    async send(response) {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const one of list)
        if (typeof one === 'number') await delay(one);
        else response.write(one);
      response.end();
    },
  };
}

async function relay(
  reply: UpstreamReply,
  keepAliveMs = 10_000,
  noting?: (sofar: { told: ToldSoFar; written: string[] }) => Promise<void>,
) {
  agent.handle(reply);
  const call = new UpstreamCall(pool, {
    path: '/',
    method: 'GET',
    headers: {},
    body: null,
    timeoutMs: 5000,
    idleTimeoutMs: 5000,
    signal: new AbortController().signal,
  });
  await call.head;
  const told = new ToldSoFar();
  const written: string[] = [];
  const end = await new Promise<StreamEnd>((resolve) => {
    const stream = agentStream({
      call,
      headers: {},
      told,
      onNamed: () => noting?.({ told, written }),
      onEnd: async (ended) => resolve(ended),
      keepAliveMs,
    });
    stream.pipeTo({
      write: (chunk) => {
        written.push(chunk.toString('latin1'));
        return true;
      },
      onDrain: () => {},
      end: () => {},
      cut: () => {},
    });
  });
  return { end, told, written };
}

const event = (value: object, lineEnd = '\n') =>
  `data: ${JSON.stringify({ jsonrpc: '2.0', id: 1, result: value })}${lineEnd}${lineEnd}`;
const task = { kind: 'task', id: 't', contextId: 'c', status: { state: 'working' } };
const done = { kind: 'status-update', taskId: 't', status: { state: 'completed' } };

describe('agentStream', () => {
  it('says between events that it lives, and never within one', async () => {
    const second = event(done);
    const { written } = await relay(
      pieces([event(task), 120, second.slice(0, 20), 120, second.slice(20)]),
      25,
    );
    const text = written.join('');
    const pulse = ': keep-alive\n\n';
    expect(text).toContain(pulse);
    expect(text.replaceAll(pulse, '')).toBe(event(task) + second);
    expect(text).toContain(second);
  });

  it('keeps the last state when what comes after it tells only of usage', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4 };
    const last = { kind: 'artifact-update', taskId: 't', metadata: { usage } };
    const { told } = await relay(pieces([event(task), 5, event(done), 5, event(last), 5]));
    expect(told.state).toBe('completed');
    expect(told.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  });

  it('reads an event that begins with more blanks than one', async () => {
    const { told } = await relay(pieces([event(task).replace('data: ', 'data:  \t')]));
    expect(told.taskId).toBe('t');
  });

  it('passes the same bytes and reads the same, however they are cut', async () => {
    const usage = { metadata: { usage: { prompt_tokens: 3, completion_tokens: 4 } } };
    for (const lineEnd of ['\n', '\r\n', '\r']) {
      const whole = Buffer.from(
        `: hello${lineEnd}${lineEnd}` +
          event({ ...task, note: 'é' }, lineEnd) +
          event({ ...done, status: { state: 'working' }, ...usage }, lineEnd) +
          event(done, lineEnd),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(whole.length), { maxLength: 6 }), async (cuts) => {
          const at = [...new Set([0, ...cuts, whole.length])].sort((a, b) => a - b);
          const cut = at.slice(1).map((to, index) => whole.subarray(at[index], to));
          const { end, told, written } = await relay(pieces(cut.flatMap((one) => [one, 1])));
          expect(written.join('')).toBe(whole.toString('latin1'));
          expect([end.isWhole, told.taskId, told.contextId, told.state]).toEqual([
            true,
            't',
            'c',
            'completed',
          ]);
          expect(told.usage).toMatchObject({ inputTokens: 3, outputTokens: 4 });
        }),
        { numRuns: 15 },
      );
    }
  });

  it('holds what names a task until it is noted whose it is', async () => {
    let isNoted = false;
    const seen: boolean[] = [];
    const { written } = await relay(pieces([event(task), 30, event(done)]), 10_000, async () => {
      seen.push(isNoted);
      await delay(100);
      isNoted = true;
    });
    expect(seen).toEqual([false]);
    expect(isNoted).toBe(true);
    expect(written.join('')).toBe(event(task) + event(done));
  });

  it('holds what names a conversation while its task is being noted', async () => {
    const named: (string | undefined)[][] = [];
    const { contextId, ...only } = task;
    const second = event({ ...done, contextId });
    const { written } = await relay(
      pieces([event(only), 30, second, 200]),
      10_000,
      async ({ told, written: passed }) => {
        named.push([told.taskId, told.contextId, passed.join('')]);
        await delay(100);
      },
    );
    expect(named).toEqual([
      ['t', undefined, ''],
      ['t', 'c', ''],
    ]);
    expect(written.join('')).toBe(event(only) + second);
  });

  it('tells that it broke off, and passes what is no event as it is', async () => {
    const broken = await relay({
      async send(response) {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write(event(task));
        await delay(30);
        response.destroy();
      },
    });
    expect([broken.end.isWhole, broken.end.error?.code]).toEqual([false, 'upstream.stream_cut']);
    const garbage = Buffer.from('<html>\n\ndata: {"half\n\ndata: [1]\n\n');
    const odd = await relay(bytes(200, garbage, { 'content-type': 'text/event-stream' }));
    expect([odd.end.isWhole, odd.written.join(''), odd.told.taskId]).toEqual([
      true,
      garbage.toString(),
      undefined,
    ]);
  });
});
