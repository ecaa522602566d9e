import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { CallDeadline } from './upstream.ts';

const gone = () => new AbortController();

describe('CallDeadline', () => {
  it('ends a call that takes too long, and none that was over before', async () => {
    const times = { timeoutMs: 41, wholeMs: 5_000 };
    const [late, over] = [
      new CallDeadline(times, gone().signal),
      new CallDeadline(times, gone().signal),
    ];
    over.stop();
    await expect.poll(() => late.isOver).toBe(true);
    expect(late.signal.reason).toMatchObject({ code: 'upstream.timeout' });
    expect([over.isOver, over.signal.aborted]).toEqual([false, false]);
  });

  it('begins its time anew with progress, but not that of the whole', async () => {
    const startedAt = performance.now();
    const deadline = new CallDeadline({ timeoutMs: 1_003, wholeMs: 1_500 }, gone().signal);
    while (!deadline.isOver && performance.now() - startedAt < 8_000) {
      deadline.progress();
      await delay(20);
    }
    expect(performance.now() - startedAt).toBeGreaterThan(1_400);
    expect(deadline.isOver).toBe(true);
  });

  it('waits for people up to the end of the whole, and goes on with progress', async () => {
    const startedAt = performance.now();
    const held = new CallDeadline({ timeoutMs: 53, wholeMs: 900 }, gone().signal);
    held.hold();
    const resumed = new CallDeadline({ timeoutMs: 53, wholeMs: 60_000 }, gone().signal);
    resumed.hold();
    resumed.progress();
    await expect.poll(() => resumed.isOver).toBe(true);
    await expect.poll(() => held.isOver).toBe(true);
    expect(performance.now() - startedAt).toBeGreaterThan(850);
  });

  it('has no end while it is lifted, and one after it', async () => {
    const deadline = new CallDeadline({ timeoutMs: 61, wholeMs: 60_000 }, gone().signal);
    deadline.lift();
    await delay(150);
    expect(deadline.isOver).toBe(false);
    deadline.restart();
    await expect.poll(() => deadline.isOver).toBe(true);
  });

  it('hears of a caller who leaves, until it is stopped', () => {
    const [first, second] = [gone(), gone()];
    const times = { timeoutMs: 60_000, wholeMs: 60_000 };
    const left = new CallDeadline(times, first.signal);
    const stopped = new CallDeadline(times, second.signal);
    stopped.stop();
    first.abort();
    second.abort();
    expect([left.signal.aborted, left.isOver]).toEqual([true, false]);
    expect(left.signal.reason).toMatchObject({ code: 'request.aborted' });
    expect(stopped.signal.aborted).toBe(false);
    left.stop();
  });
});
