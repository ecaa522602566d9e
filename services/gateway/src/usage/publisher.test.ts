import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { readEntry } from '@sluice/usage';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Life } from './life.ts';
import { Outbox } from './outbox.ts';
import { UsagePublisher, type UsageSink } from './publisher.ts';
import { SequenceNumbers } from './sequence-numbers.ts';
import { uuidV7 } from './uuid.ts';

let dir: string;
let outbox: Outbox;
let publisher: UsagePublisher | undefined;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'sluice-publisher-'));
  outbox = new Outbox({ dir, bytesMax: 1024 ** 3 });
});
afterEach(async () => {
  await publisher?.stop(0);
  rmSync(dir, { recursive: true, force: true });
});

const said: unknown[] = [];
const logger = {
  warn: (fields: unknown) => said.push(fields),
  info: (fields: unknown) => said.push(fields),
} as never;

/** A ledger that takes what it is given, and fails or hangs when told to. */
function ledger() {
  const taken: string[] = [];
  const sizes: number[] = [];
  const lives: usage.Life[] = [];
  const state = {
    fails: 0,
    failsAfter: Number.POSITIVE_INFINITY,
    hangs: false,
    closed: false,
    attempts: 0,
  };
  const sink: UsageSink = {
    name: 'test',
    address: 'there:1',
    async send(batch) {
      state.attempts++;
      if (state.hangs) await new Promise(() => {});
      if (state.fails > 0 || state.failsAfter <= 0) {
        state.fails--;
        throw new Error('away');
      }
      state.failsAfter--;
      const entries = batch.records.map(readEntry);
      const records = entries.filter(({ kind }) => kind !== usage.EntryKind.LIFE);
      sizes.push(records.length);
      taken.push(...records.map(({ body }) => Buffer.from(body).toString()));
      for (const { kind, body } of entries)
        if (kind === usage.EntryKind.LIFE)
          lives.push(fromBinary(usage.LifeSchema, Buffer.from(body)));
    },
    async close() {
      state.closed = true;
    },
  };
  return { sink, taken, sizes, lives, state };
}

let numbers: SequenceNumbers;
let life: Life;
beforeEach(() => {
  numbers = new SequenceNumbers();
  life = new Life({ outbox, numbers, replicaId: 'me', dir });
});

function publish(sink: UsageSink, batchMax = 3, aliveEveryMs = 10_000): UsagePublisher {
  publisher = new UsagePublisher({
    outbox,
    life,
    sink,
    logger,
    batchMax,
    lingerMs: 1,
    aliveEveryMs,
  });
  publisher.start();
  return publisher;
}
const add = (text: string) => outbox.end(uuidV7(1), Buffer.from(text));
const texts = (count: number) => Array.from({ length: count }, (_, index) => String(index));

describe('UsagePublisher', () => {
  it('sends everything once, in order, in batches', async () => {
    const { sink, taken, sizes } = ledger();
    publish(sink);
    for (const text of texts(10)) await add(text);
    await expect.poll(() => taken).toEqual(texts(10));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(3);
    expect(outbox.hasMore).toBe(false);
  });

  it('a ledger away is asked again, and gets everything in order when it is back', async () => {
    const { sink, taken, state } = ledger();
    state.fails = 3;
    const tested = publish(sink);
    for (const text of texts(7)) await add(text);
    await expect.poll(() => state.attempts).toBeGreaterThan(1);
    expect(tested.failing).toBe(true);
    await expect.poll(() => taken).toEqual(texts(7));
    expect(tested.failing).toBe(false);
    const there = { sink: 'test', address: 'there:1' };
    expect(said.splice(0)).toEqual([
      { ...there, reason: 'away' },
      { ...there, away_ms: expect.any(Number) },
    ]);
  });

  it('tells the ledger that it is there whatever is done to the time of day', async () => {
    const { sink, lives } = ledger();
    publish(sink, 3, 30);
    await expect.poll(() => lives.length).toBeGreaterThan(1);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 });
    try {
      const before = lives.length;
      await expect.poll(() => lives.length).toBeGreaterThan(before + 2);
    } finally {
      vi.useRealTimers();
    }
  });

  it('a ledger away is not asked for every record', async () => {
    const { sink, state } = ledger();
    state.fails = Number.POSITIVE_INFINITY;
    publish(sink);
    for (const text of texts(200)) await add(text);
    expect(state.attempts).toBeLessThan(5);
  });

  it('tells how old the oldest record is that the ledger does not have', async () => {
    const { sink, taken, state } = ledger();
    state.fails = Number.POSITIVE_INFINITY;
    const publisher = publish(sink, 2);
    expect(publisher.oldestUnsentAtMs).toBe(0);
    for (const atMs of [1000, 2000, 3000]) void outbox.end(uuidV7(atMs), Buffer.from(String(atMs)));
    await expect.poll(() => publisher.oldestUnsentAtMs).toBe(1000);
    state.fails = 0;
    state.failsAfter = 1;
    await expect.poll(() => publisher.oldestUnsentAtMs).toBe(3000);
    state.failsAfter = Number.POSITIVE_INFINITY;
    await expect.poll(() => taken.length).toBe(3);
    await expect.poll(() => publisher.oldestUnsentAtMs).toBe(0);
  });

  it('an orderly stop sends what is left', async () => {
    const { sink, taken, state } = ledger();
    const tested = publish(sink);
    for (const text of texts(5)) await add(text);
    await tested.stop(1000);
    expect(taken).toEqual(texts(5));
    expect(state.closed).toBe(true);
  });

  it('a ledger that hangs delays the stop by its deadline only, and what it did not take is kept', async () => {
    const { sink, state } = ledger();
    state.hangs = true;
    const tested = publish(sink);
    await add('a');
    await expect.poll(() => state.attempts).toBe(1);
    const startedAt = performance.now();
    await tested.stop(100);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    // Nothing was sent beside the batch under way.
    expect(state.attempts).toBe(1);
    expect(outbox.hasMore).toBe(true);
  });

  it('sends nothing once it has stopped', async () => {
    const { sink, taken } = ledger();
    const tested = publish(sink);
    await tested.stop(100);
    await add('late');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(taken).toEqual([]);
  });
});

describe('Life', () => {
  const { BEGUN, ALIVE, ENDED } = usage.LifeState;
  const told = ({ replicaId, state, sequence, completeTo }: usage.Life) => ({
    replicaId,
    state,
    sequence: Number(sequence),
    completeTo: Number(completeTo),
  });

  it('tells its beginning at once, and that it lives when there is nothing to send', async () => {
    const { sink, lives } = ledger();
    publish(sink, 3, 20);
    await expect.poll(() => lives.length).toBeGreaterThan(2);
    expect(lives.slice(0, 2).map(told)).toEqual([
      { replicaId: 'me', state: BEGUN, sequence: 0, completeTo: 0 },
      { replicaId: 'me', state: ALIVE, sequence: 0, completeTo: 0 },
    ]);
  });

  it('tells with each batch how many it has recorded, sent or not, and up to where all were sent', async () => {
    const { sink, lives, state } = ledger();
    state.fails = 1;
    for (const _ of texts(5)) {
      numbers.take();
      await add('record');
    }
    const open = numbers.open();
    publish(sink, 3, 20);
    await expect.poll(() => lives.length).toBeGreaterThan(3);
    expect(lives.slice(0, 3).map(told)).toEqual([
      { replicaId: 'me', state: BEGUN, sequence: 6, completeTo: 0 },
      { replicaId: 'me', state: ALIVE, sequence: 6, completeTo: 0 },
      { replicaId: 'me', state: ALIVE, sequence: 6, completeTo: 5 },
    ]);
    numbers.close(open);
    await expect.poll(() => Number(lives.at(-1)?.completeTo)).toBe(6);
  });

  it('does not say that all was sent when a batch was short for its bytes', async () => {
    const { sink, lives } = ledger();
    for (const _ of texts(4)) {
      numbers.take();
      await add('x'.repeat(200_000));
    }
    publish(sink, 500, 20);
    await expect.poll(() => Number(lives.at(-1)?.completeTo)).toBe(4);
    const before = lives.slice(0, 4).map(({ completeTo }) => Number(completeTo));
    expect(before).toEqual([0, 0, 0, 0]);
  });

  it('tells its end behind its records, also when the ledger comes back with the next life', async () => {
    const { sink, state } = ledger();
    state.fails = Number.POSITIVE_INFINITY;
    life.begin();
    publish(sink);
    numbers.take();
    await add('a');
    life.end();
    await publisher?.stop(50);
    outbox.close();

    outbox = new Outbox({ dir, bytesMax: 1024 ** 3 });
    life = new Life({ outbox, numbers: new SequenceNumbers(), replicaId: 'next', dir });
    life.begin();
    const { sink: back, taken, lives } = ledger();
    publish(back);
    await expect.poll(() => lives.length).toBeGreaterThan(1);
    expect(taken).toEqual(['a']);
    expect(told(lives[0]!)).toEqual({ replicaId: 'me', state: ENDED, sequence: 1, completeTo: 1 });
    expect(told(lives[1]!)).toEqual({
      replicaId: 'next',
      state: BEGUN,
      sequence: 0,
      completeTo: 0,
    });
  });

  it('stops no gateway whose disk refuses to keep its name', async () => {
    mkdirSync(join(dir, 'life'));
    expect(() => life.begin()).not.toThrow();
    expect(() => life.end()).not.toThrow();
  });

  it('tells the end of a life that was killed, of which the next sends the records', async () => {
    life.begin();
    await add('a');
    const { sink, taken, lives } = ledger();
    const next = new Life({ outbox, numbers: new SequenceNumbers(), replicaId: 'next', dir });
    next.begin();
    life = next;
    publish(sink);
    await expect.poll(() => lives.length).toBeGreaterThan(1);
    expect(taken).toEqual(['a']);
    expect(told(lives[0]!)).toEqual({ replicaId: 'me', state: ENDED, sequence: 0, completeTo: 0 });
  });
});
