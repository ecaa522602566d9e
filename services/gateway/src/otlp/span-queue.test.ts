import { describe, expect, it } from 'vitest';
import { spansIn } from './span-batch.ts';
import { type BatchSender, type Exported, SpanQueue } from './span-queue.ts';

/** A sender whose batches are answered when the test says so. */
class TestSender implements BatchSender {
  readonly records: number[] = [];
  readonly waiting: ((exported: Exported) => void)[] = [];

  send(batch: Uint8Array<ArrayBuffer>, onExported: (exported: Exported) => void): void {
    this.records.push([...spansIn(batch)].length);
    this.waiting.push(onExported);
  }

  async stop(): Promise<void> {}

  answer(taken: (records: number) => number): void {
    const records = this.records[this.records.length - this.waiting.length] ?? 0;
    this.waiting.shift()?.({ taken: taken(records), isAway: false });
  }
}

const record = Buffer.alloc(1000, 1);

describe('SpanQueue', () => {
  it('holds no more than it may while nobody answers, drops the rest, and counts each', async () => {
    const sender = new TestSender();
    const queue = new SpanQueue(sender, { bytesMax: 256 * 1024 });
    for (let count = 0; count < 10_000; count++) queue.add(record);
    expect(queue.bytes).toBeLessThanOrEqual(256 * 1024);
    expect(queue.bytes).toBeGreaterThan(192 * 1024);
    await queue.stop(1);
    expect([queue.taken, queue.dropped + queue.lost]).toEqual([0, 10_000]);
  });

  it('goes on when the receiver does, and counts what it refused', async () => {
    const sender = new TestSender();
    const queue = new SpanQueue(sender, { bytesMax: 256 * 1024 });
    for (let count = 0; count < 600; count++) queue.add(record);
    const { dropped } = queue;
    while (sender.waiting.length > 0) sender.answer((records) => records - 1);
    expect(queue.bytes).toBeLessThanOrEqual(64 * 1024);
    queue.add(record);
    const stopping = queue.stop(1000);
    while (sender.waiting.length > 0) sender.answer((records) => records);
    await stopping;
    expect(queue.taken + queue.lost + dropped).toBe(601);
    expect([queue.lost > 0, queue.bytes]).toEqual([true, 0]);
    queue.add(record);
    expect(queue.dropped).toBe(dropped + 1);
  });

  it('carries contents of any size with their records', async () => {
    const sender = new TestSender();
    const sent: [number, number | undefined][] = [];
    sender.send = (batch, onExported) => {
      for (const span of spansIn(batch)) sent.push([span.record.length, span.content?.length]);
      onExported({ taken: 1, isAway: false });
    };
    const queue = new SpanQueue(sender, { bytesMax: 1024 ** 2 });
    queue.add(record);
    queue.add(record, Buffer.alloc(200_000));
    queue.add(record, Buffer.alloc(2 * 1024 ** 2));
    await queue.stop(1000);
    expect(sent).toEqual([
      [1000, undefined],
      [1000, 200_000],
    ]);
    expect(queue.dropped).toBe(1);
  });
});
