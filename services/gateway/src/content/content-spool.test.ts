import { readdirSync, readFileSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, temporaryFolder } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import { ContentSpool, type LossCause, type SegmentSender, type Sent } from './content-spool.ts';
import { type Holding, KeptContent } from './kept-content.ts';
import { entriesOf } from './segment.ts';
import { storedLogOf } from './stored-log-of.ts';

/** A store that notes what it is given, and is away when told so. */
class TestStore implements SegmentSender {
  readonly logs: ReturnType<typeof storedLogOf>[] = [];
  isAway = false;

  async send(path: string): Promise<Sent> {
    if (this.isAway) return { isAway: true, stored: 0, refused: 0 };
    const entries = [...entriesOf(readFileSync(path))];
    this.logs.push(...entries.map(storedLogOf));
    rmSync(path);
    return { isAway: false, stored: entries.length, refused: 0 };
  }

  async stop(): Promise<void> {}
}

async function open(over: { bytesMax?: number; memoryBytesMax?: number; dir?: string } = {}) {
  const store = new TestStore();
  const losses: [number, LossCause][] = [];
  const told: string[] = [];
  const dir = over.dir ?? (await temporaryFolder('content-spool'));
  const holding: Holding = {
    bytes: 0,
    bytesMax: over.memoryBytesMax ?? 1024 ** 2,
    dropOldest: () => spool.dropOldest(),
  };
  const spool = new ContentSpool({
    dir,
    holding,
    bytesMax: over.bytesMax ?? 1024 ** 2,
    headers: { sensitive: [], hash: () => '#' },
    sender: store,
    listener: { onAway: (reason) => told.push(reason), onBack: () => told.push('back') },
    onLoss: (logs, because) => losses.push([logs, because]),
  });
  spool.start();
  let number = 0;
  const add = (response: readonly string[], contentType = 'application/json', bytesMax = 1000) => {
    const content = new KeptContent(
      {
        logId: `019388b0-7c00-7000-8000-${String(number++).padStart(12, '0')}`,
        format: 'v1',
        organisationId: 'org',
        workspaceId: 'ws',
        workspaceSlug: 'ws-a',
        createdAtMs: 1_700_000_000_000,
        method: 'POST',
        url: '/v1/chat/completions',
        optionPath: 'config',
        streamFormat: 'openai-chat',
        status: 200,
        requestHeaders: { authorization: 'Bearer canary' },
        responseHeaders: { 'content-type': contentType },
        sent: undefined,
      },
      { startedAt: performance.now(), bytesMax, keepsResponse: true, holding, takers: 1 },
    );
    content.addRequest(Buffer.from('{"asked":1}'));
    for (const piece of response) content.addResponse(Buffer.from(piece));
    spool.add(content.end());
  };
  return { spool, store, losses, dir, add, holding };
}

describe('ContentSpool', () => {
  it('hands logs to the store, holds nothing afterwards, and lets no credential out', async () => {
    const { spool, store, dir, add, holding } = await open();
    add(['{"answer"', ':"yes"}']);
    await eventually(() => expect(store.logs).toHaveLength(1));
    expect(store.logs[0]).toMatchObject({
      request: { body: { asked: 1 }, headers: { authorization: '[masked]' } },
      response: { status: 200, body: { answer: 'yes' } },
    });
    await spool.stop(1000);
    expect([spool.bytes, holding.bytes, readdirSync(dir)]).toEqual([0, 0, []]);
  });

  it('cuts a long body, and says how long it was', async () => {
    const { spool, store, add } = await open();
    add(['{"a":"', 'x'.repeat(2000), '"}']);
    await spool.stop(1000);
    expect(store.logs[0]?.response.body).toEqual({
      text: `{"a":"${'x'.repeat(994)}`,
      truncated: true,
      bytes: 2008,
    });
  });

  it('keeps the events of a stream as the answer that they add up to, and of a cut one its text', async () => {
    const { spool, store, add } = await open();
    const delta = (text: string, end = 'null') =>
      `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"${text}"},"finish_reason":${end}}]}\n\n`;
    add([delta('Hello'), delta(' there', '"stop"'), 'data: [DONE]\n\n'], 'text/event-stream');
    add([delta('Hello'), delta('x'.repeat(2000))], 'text/event-stream');
    await spool.stop(1000);
    expect(store.logs[0]?.response.body).toMatchObject({
      choices: [{ message: { content: 'Hello there' } }],
    });
    expect(store.logs[1]?.response.body).toMatchObject({ truncated: true });
  });

  it('waits for a store that is away, on disk, and beyond the bound drops the oldest and tells', async () => {
    const { spool, store, losses, dir, add, holding } = await open({ bytesMax: 4000 });
    store.isAway = true;
    for (let count = 0; count < 12; count++) {
      add(['{"a":1}']);
      await eventually(() => expect(readdirSync(dir).length).toBeGreaterThan(0));
      await eventually(() => expect(holding.bytes).toBe(0));
    }
    expect(losses.length).toBeGreaterThan(0);
    expect(losses.every(([logs, because]) => logs === 1 && because === 'spool-full')).toBe(true);
    expect(spool.bytes).toBeLessThanOrEqual(4000);
    store.isAway = false;
    await eventually(() => expect(store.logs.length + losses.length).toBe(12));
    // The newest are those that are kept.
    expect(store.logs.at(-1)?._id).toBe('019388b0-7c00-7000-8000-000000000011');
    await spool.stop(1000);
  });

  it('holds no more in memory than it may, and drops the oldest', async () => {
    const { spool, store, losses, add, holding } = await open({ memoryBytesMax: 8_000 });
    for (let count = 0; count < 100; count++) {
      add([`{"a":${count}}`]);
      expect(holding.bytes).toBeLessThanOrEqual(8_000);
    }
    await spool.stop(1000);
    expect(holding.bytes).toBe(0);
    const lost = losses.reduce((sum, [logs]) => sum + logs, 0);
    expect(losses.every(([, because]) => because === 'memory')).toBe(true);
    // What was being written when there was no more room, and the newest: all of them are told of.
    const kept = store.logs.map(({ response }) => (response.body as { a: number }).a);
    expect(kept.length + lost).toBe(100);
    expect(kept.length).toBeGreaterThan(5);
    expect(kept.slice(-5)).toEqual([95, 96, 97, 98, 99]);
  });

  it('a log that is longer than a segment has one of its own', async () => {
    const { spool, store, add, dir } = await open({ memoryBytesMax: 100_000 });
    store.isAway = true;
    add(['{"a":1}']);
    add([`{"a":"${'x'.repeat(40_000)}"}`], 'application/json', 50_000);
    add(['{"a":3}']);
    await eventually(() => expect(readdirSync(dir)).toHaveLength(3));
    store.isAway = false;
    await eventually(() => expect(store.logs).toHaveLength(3));
    expect(store.logs.map(({ response }) => JSON.stringify(response.body).length)).toEqual([
      7, 40_008, 7,
    ]);
    await spool.stop(1000);
  });

  it('goes on with what an earlier life left, as far as that was written', async () => {
    const first = await open();
    first.store.isAway = true;
    first.add(['{"a":1}']);
    first.add(['{"a":2}']);
    await first.spool.stop(1000);
    const [name = ''] = readdirSync(first.dir);
    const path = join(first.dir, name);
    truncateSync(path, readFileSync(path).length - 3);
    const second = await open({ dir: first.dir });
    await eventually(() => expect(second.store.logs).toHaveLength(1));
    expect(second.store.logs[0]?.response.body).toEqual({ a: 1 });
    await second.spool.stop(1000);
    expect(readdirSync(first.dir)).toEqual([]);
  });
});
