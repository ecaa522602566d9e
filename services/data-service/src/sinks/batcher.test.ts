import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type BatcherOptions, createBatcher } from './batcher.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('createBatcher', () => {
  it('stores what several callers bring within the interval in one insert', async () => {
    const { batcher, inserted } = recorder();
    const added = Promise.all([batcher.add([1]), batcher.add([2, 3])]);
    await vi.advanceTimersByTimeAsync(199);
    expect(inserted).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    await added;
    expect(inserted).toEqual([[1, 2, 3]]);
  });

  it('does not wait for the interval when a batch is full, and never splits an entry', async () => {
    const { batcher, inserted } = recorder({ itemsMax: 3 });
    await Promise.all([batcher.add([1, 2]), batcher.add([3, 4]), batcher.add([5, 6, 7])]);
    expect(inserted).toEqual([
      [1, 2, 3, 4],
      [5, 6, 7],
    ]);
  });

  it('resolves only after the insert that holds the items', async () => {
    let finish = () => {};
    const { batcher } = recorder({ insert: () => new Promise((resolve) => (finish = resolve)) });
    let isStored = false;
    const added = batcher.add([1]).then(() => {
      isStored = true;
    });
    await vi.advanceTimersByTimeAsync(5000);
    expect(isStored).toBe(false);
    finish();
    await added;
    expect(isStored).toBe(true);
  });

  it('tries the same items again, waiting longer each time, until they are stored', async () => {
    const attempts: number[] = [];
    const start = Date.now();
    const { batcher } = recorder({
      insert: async () => {
        attempts.push(Date.now() - start);
        if (attempts.length < 6) throw new Error('down');
      },
    });
    const added = batcher.add([1]);
    await vi.advanceTimersByTimeAsync(10_000);
    await added;
    expect(attempts).toEqual([200, 300, 500, 900, 1700, 2700]);
  });

  it('refuses what does not fit the queue, and takes more once it has room', async () => {
    let isDown = true;
    const { batcher } = recorder({
      queueMax: 3,
      insert: async () => {
        if (isDown) throw new Error('down');
      },
    });
    const first = batcher.add([1, 2]);
    await expect(batcher.add([3, 4])).rejects.toMatchObject({ code: 'gateway.ledger_full' });
    const second = batcher.add([3]);
    isDown = false;
    await vi.advanceTimersByTimeAsync(10_000);
    await Promise.all([first, second]);
    expect(batcher.size).toBe(0);
    await Promise.all([batcher.add([1, 2, 3, 4, 5]), vi.advanceTimersByTimeAsync(200)]);
  });

  it('forgets the waiting items of a caller who left, and only those', async () => {
    const { batcher, inserted } = recorder();
    const left = new AbortController();
    const abandoned = batcher.add([1], left.signal);
    const kept = batcher.add([2]);
    left.abort(new Error('gone'));
    await expect(abandoned).rejects.toThrow('gone');
    await vi.advanceTimersByTimeAsync(200);
    await kept;
    expect(inserted).toEqual([[2]]);
    expect(batcher.size).toBe(0);
  });

  it('stores what waits when it is closed, without the interval', async () => {
    const { batcher, inserted } = recorder();
    const added = batcher.add([1]);
    await batcher.close(1000);
    await added;
    expect(inserted).toEqual([[1]]);
    await expect(batcher.add([2])).rejects.toMatchObject({ code: 'gateway.draining' });
  });

  it('tells every caller when the store stays down past the grace of close', async () => {
    const { batcher } = recorder({ insert: () => Promise.reject(new Error('down')), itemsMax: 1 });
    const added = [batcher.add([1]), batcher.add([2])].map((adding) =>
      expect(adding).rejects.toMatchObject({ code: 'gateway.draining' }),
    );
    const closed = batcher.close(1000);
    await vi.advanceTimersByTimeAsync(1000);
    await closed;
    await Promise.all(added);
  });

  it('does not wait past the grace of close for an insert that hangs', async () => {
    const { batcher } = recorder({ insert: () => new Promise(() => {}) });
    void batcher.add([1]);
    const closed = batcher.close(1000);
    await vi.advanceTimersByTimeAsync(1000);
    await closed;
  });
});

function recorder(some: Partial<BatcherOptions<number, number[]>> = {}) {
  const inserted: number[][] = [];
  const batcher = createBatcher<number, number[]>({
    prepare: (items) => items,
    insert: async (items) => {
      inserted.push(items);
    },
    itemsMax: 100,
    intervalMs: 200,
    queueMax: 1000,
    retryMinMs: 100,
    retryMaxMs: 1000,
    ...some,
  });
  return { batcher, inserted };
}
