import { eventually } from '@sluice/testkit';
import { describe, expect, it } from 'vitest';
import type { ChangeFeed, FeedEvent } from '../../src/config-sync/change-feed.ts';
import { LiveGateways } from '../../src/config-sync/live-gateways.ts';
import type { Database } from '../../src/kernel/database/client.ts';

interface Said {
  readonly replica: number;
  readonly gateways: string;
}

/** Replicas that hear each other as Postgres would have it. */
function replicas(count: number, clock: { nowMs: number }, tellEveryMs = 20) {
  const listeners: ((event: FeedEvent) => void)[] = [];
  return Array.from({ length: count }, (_, replica) => {
    const feed: Pick<ChangeFeed, 'subscribe' | 'replica'> = {
      replica,
      subscribe(listener) {
        listeners.push(listener);
        return () => {};
      },
    };
    const db: Pick<Database, '$executeRaw'> = {
      $executeRaw: (async ({ values }: { values: string[] }) => {
        const payload = values[1] ?? '';
        // What Postgres takes in one notice.
        if (payload.length >= 8_000) throw new Error('payload string too long');
        const { replica, gateways } = JSON.parse(payload) as Said;
        const report = { replica, gateways: gateways.split(',') };
        for (const listener of listeners) listener({ type: 'gateways', report });
        return 1;
      }) as never,
    };
    return new LiveGateways({
      feed: feed as ChangeFeed,
      db: db as Database,
      now: () => clock.nowMs,
      tellEveryMs,
    });
  });
}

describe('live gateways', () => {
  it('are counted over all replicas, each with a number of its own', async () => {
    const [one, two] = replicas(2, { nowMs: 0 });
    if (one === undefined || two === undefined) throw new Error('there are two');
    let changes = 0;
    const leave = one.join('a', () => changes++);
    one.join('b', () => {});
    two.join('c', () => {});
    const ranks = () => [one.rankOf('a'), one.rankOf('b'), two.rankOf('c')];
    await eventually(() => expect(ranks().map(({ count }) => count)).toEqual([3, 3, 3]));
    expect(ranks().map(({ index }) => index)).toEqual(expect.arrayContaining([0, 1, 2]));
    await eventually(() => expect(changes).toBeGreaterThan(0));
    leave();
    await eventually(() => expect(two.rankOf('c').count).toBe(2));
  });

  it('that are few are told of at once, so that none takes the share of two', async () => {
    const [one] = replicas(1, { nowMs: 0 }, 60_000);
    const told: (number | undefined)[] = [];
    one?.join('a', () => told.push(one.rankOf('a').count));
    one?.join('b', () => {});
    await eventually(() => expect(told.at(-1)).toBe(2));
  });

  it('that come together are told of together', async () => {
    const [one] = replicas(1, { nowMs: 0 });
    if (one === undefined) throw new Error('there is one');
    const told: number[] = [];
    for (let each = 0; each < 200; each += 1)
      one.join(`gateway ${each}`, () => told.push(one.rankOf(`gateway ${each}`).count));
    expect(told.length).toBeLessThan(10);
    // Each of them learns how many there are at last.
    await eventually(() => expect(told.filter((count) => count === 200)).toHaveLength(200));
    expect(told.length).toBeLessThan(210);
  });

  it('are told to other replicas though they are a thousand', async () => {
    const [one, two] = replicas(2, { nowMs: 0 });
    for (let each = 0; each < 1_000; each += 1) one?.join(`gateway ${each}`, () => {});
    two?.join('another', () => {});
    await eventually(() => expect(two?.rankOf('another').count).toBe(1_001));
  });

  it('are forgotten with a replica that says nothing any more, and kept while it does', () => {
    const clock = { nowMs: 0 };
    const [one, two] = replicas(2, clock);
    one?.join('a', () => {});
    two?.join('b', () => {});
    clock.nowMs = 10_000;
    one?.beat();
    clock.nowMs = 20_000;
    expect([one?.rankOf('a').count, two?.rankOf('b').count]).toEqual([1, 2]);
  });
});
