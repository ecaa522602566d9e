import { describe, expect, it } from 'vitest';
import type { ChangeFeed, FeedEvent } from '../../src/config-sync/change-feed.ts';
import { LiveGateways } from '../../src/config-sync/live-gateways.ts';
import type { Database } from '../../src/kernel/database/client.ts';

/** Replicas that hear each other as Postgres would have it. */
function replicas(count: number, clock: { nowMs: number }) {
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
        const report = JSON.parse(values[1] ?? '') as { replica: number; gateways: string[] };
        for (const listener of listeners) listener({ type: 'gateways', report });
        return 1;
      }) as never,
    };
    return new LiveGateways({
      feed: feed as ChangeFeed,
      db: db as Database,
      now: () => clock.nowMs,
    });
  });
}

describe('live gateways', () => {
  it('are counted over all replicas, each with a number of its own', () => {
    const [one, two] = replicas(2, { nowMs: 0 });
    if (one === undefined || two === undefined) throw new Error('there are two');
    let changes = 0;
    const leave = one.join('a', () => changes++);
    one.join('b', () => {});
    two.join('c', () => {});
    const ranks = [one.rankOf('a'), one.rankOf('b'), two.rankOf('c')];
    expect(ranks.map(({ index }) => index).sort()).toEqual([0, 1, 2]);
    expect(ranks.map(({ count }) => count)).toEqual([3, 3, 3]);
    expect(changes).toBe(2);
    leave();
    expect(two.rankOf('c').count).toBe(2);
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
