import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Outbox } from './outbox.ts';
import { UsagePublisher, type UsageSink } from './publisher.ts';
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

const logger = { warn: () => {}, info: () => {} } as never;

/** A ledger that takes what it is given, and fails or hangs when told to. */
function ledger() {
  const taken: string[] = [];
  const sizes: number[] = [];
  const state = { fails: 0, hangs: false, closed: false, attempts: 0 };
  const sink: UsageSink = {
    name: 'test',
    async send(batch) {
      state.attempts++;
      if (state.hangs) await new Promise(() => {});
      if (state.fails > 0) {
        state.fails--;
        throw new Error('away');
      }
      sizes.push(batch.records.length);
      taken.push(...batch.records.map((record) => Buffer.from(record).toString()));
    },
    async close() {
      state.closed = true;
    },
  };
  return { sink, taken, sizes, state };
}

function publish(sink: UsageSink, batchMax = 3): UsagePublisher {
  publisher = new UsagePublisher({ outbox, sink, logger, batchMax, lingerMs: 1 });
  publisher.start();
  return publisher;
}
const add = (text: string) => outbox.end(uuidV7(1), Buffer.from(text));
const numbers = (count: number) => Array.from({ length: count }, (_, index) => String(index));

describe('UsagePublisher', () => {
  it('sends everything once, in order, in batches', async () => {
    const { sink, taken, sizes } = ledger();
    publish(sink);
    for (const text of numbers(10)) await add(text);
    await expect.poll(() => taken).toEqual(numbers(10));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(3);
    expect(outbox.hasMore).toBe(false);
  });

  it('a ledger away is asked again, and gets everything in order when it is back', async () => {
    const { sink, taken, state } = ledger();
    state.fails = 3;
    const tested = publish(sink);
    for (const text of numbers(7)) await add(text);
    await expect.poll(() => state.attempts).toBeGreaterThan(1);
    expect(tested.failing).toBe(true);
    await expect.poll(() => taken, { timeout: 5000 }).toEqual(numbers(7));
    expect(tested.failing).toBe(false);
  });

  it('a ledger away is not asked for every record', async () => {
    const { sink, state } = ledger();
    state.fails = Number.POSITIVE_INFINITY;
    publish(sink);
    for (const text of numbers(200)) await add(text);
    expect(state.attempts).toBeLessThan(5);
  });

  it('an orderly stop sends what is left', async () => {
    const { sink, taken, state } = ledger();
    const tested = publish(sink);
    for (const text of numbers(5)) await add(text);
    await tested.stop(1000);
    expect(taken).toEqual(numbers(5));
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
    expect(performance.now() - startedAt).toBeLessThan(1000);
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
