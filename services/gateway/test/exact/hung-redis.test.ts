import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab } from '../lab.ts';
import { openAiReply } from '../vendor-replies.ts';
import { isFull, tell } from './fleet.ts';

/** How long requests take while the Redis that their limits are counted in hangs. */

/** Of the short form: longer than anybody waits for a machine that is busy with other tests. */
const storeTimeoutMs = isFull ? 100 : 1_500;

let lab: Lab;
beforeAll(async () => {
  lab = await startLab({
    redis: true,
    environment: { gateway: { LIMIT_STORE_TIMEOUT: String(storeTimeoutMs) } },
  });
});
afterAll(() => lab?.stop(), 60_000);

/** Times in which Redis answers, and as many in which it hangs, one after the other: what the machine does meets both. */
const rounds = isFull ? 10 : 3;
const requestsEach = isFull ? 600 : 50;
const perSecond = isFull ? 200 : 60;
/** Those under way when Redis stops wait for it, once: as long as `LIMIT_STORE_TIMEOUT`. */
const noticedAfterMs = 300 + storeTimeoutMs;

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

describe('while Redis hangs', () => {
  it('requests take as long as before, and none is held up by it', {
    timeout: isFull ? 300_000 : 60_000,
  }, async () => {
    const trial = lab.trial();
    const upstream = await trial.upstream('gpt', openAiReply);
    const { scenario } = lab;
    const { key } = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'of a Redis that hangs',
      scopes: ['completions.write'],
      workspace_id: scenario.stack.credentials.workspace_id,
      rate_limits: [
        { type: 'requests', unit: 'rpd', value: 1_000_000 },
        { type: 'tokens', unit: 'rpd', value: 1_000_000_000 },
      ],
    });
    const config = JSON.stringify(upstream.target());
    const ask = async () => {
      const startedAt = performance.now();
      const answer = await scenario.call('/v1/chat/completions', {
        key,
        host: null,
        headers: { 'x-service-config': config },
      });
      await answer.arrayBuffer();
      expect(answer.status).toBe(200);
      return {
        ms: performance.now() - startedAt,
        isAlone: answer.headers.has('x-service-limits-degraded'),
      };
    };
    const isAlone = async () => (await ask()).isAlone;
    /** By the clock: one that waits keeps no other from coming. */
    const askMany = async () => {
      const all: ReturnType<typeof ask>[] = [];
      const startedAt = performance.now();
      while (all.length < requestsEach) {
        const due = ((performance.now() - startedAt) * perSecond) / 1_000;
        while (all.length < due && all.length < requestsEach) all.push(ask());
        await delay(1);
      }
      return Promise.all(all);
    };
    const redis = scenario.stack.redis?.pid ?? 0;
    const shared: number[] = [];
    const alone: number[] = [];
    const moreAtP99: number[] = [];
    await askMany();
    for (let round = 0; round < rounds; round += 1) {
      await expect.poll(isAlone).toBe(false);
      const before = await askMany();
      process.kill(redis, 'SIGSTOP');
      try {
        await ask();
        await delay(noticedAfterMs);
        const during = await askMany();
        expect(during.filter((each) => !each.isAlone)).toEqual([]);
        const times = [before, during].map((all) => all.map(({ ms }) => ms));
        shared.push(...(times[0] ?? []));
        alone.push(...(times[1] ?? []));
        moreAtP99.push(quantile(times[1] ?? [], 0.99) - quantile(times[0] ?? [], 0.99));
      } finally {
        process.kill(redis, 'SIGCONT');
      }
    }
    const figures = [shared, alone].map((all) =>
      [0.5, 0.9, 0.99].map((share) => Number(quantile(all, share).toFixed(2))),
    );
    tell(
      `p50, p90, p99 in ms: shared ${figures[0]?.join(', ')}; while Redis hangs ${figures[1]?.join(', ')}`,
      `p99 more, each round: ${moreAtP99.map((ms) => ms.toFixed(1)).join(', ')}`,
    );
    expect(Math.max(...alone)).toBeLessThan(
      isFull ? Number.POSITIVE_INFINITY : storeTimeoutMs * 0.9,
    );
    if (isFull) {
      // A machine that is busy with others adds its own pauses to both: half of the rounds say that it is not Redis.
      expect(quantile(moreAtP99, 0.5)).toBeLessThanOrEqual(5);
      expect(quantile(alone, 0.5)).toBeLessThanOrEqual(quantile(shared, 0.5) + 5);
    }
    await trial.close();
  });
});
