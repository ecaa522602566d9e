import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab, type Trial } from '../lab.ts';
import { patientStore } from '../scenario.ts';
import { openAiReply } from '../vendor-replies.ts';

/** Limits by metadata: callers name the groups, and must neither fill Redis nor escape by new names. */
const groupsMax = 5;
let lab: Lab;
let redis: Redis;
beforeAll(async () => {
  lab = await startLab({
    redis: true,
    environment: { gateway: { ...patientStore.gateway, LIMIT_GROUPS_MAX: String(groupsMax) } },
  });
  redis = new Redis(lab.scenario.stack.redis?.url ?? '');
  await lab.manage('POST', '/policies/rate-limits', {
    name: 'per user',
    conditions: [{ key: 'metadata.by', value: 'user' }],
    group_by: [{ key: 'metadata.user' }],
    type: 'requests',
    unit: 'rpd',
    value: 3,
  });
});
afterAll(async () => {
  redis?.disconnect();
  await lab?.stop();
});

async function statusesOf(trial: Trial, users: readonly string[]): Promise<number[]> {
  const upstream = await trial.upstream('first', openAiReply);
  const statuses: number[] = [];
  for (const user of users) {
    const { answer } = await trial.ask({
      config: upstream.target(),
      headers: { 'x-service-metadata': JSON.stringify({ by: 'user', user }) },
    });
    statuses.push(answer.status);
  }
  return statuses;
}

describe('a limit for each value of a caller’s metadata', () => {
  it('keeps as many counters as it may, and counts all further values together', async () => {
    const trial = lab.trial();
    try {
      await expect
        .poll(async () => (await statusesOf(trial, Array(4).fill('known'))).at(-1))
        .toBe(429);
      const before = (await redis.keys('*')).length;
      const users = Array.from({ length: 40 }, (_, index) => `made-up-${index}`);
      const statuses = await statusesOf(trial, users);
      // Those that got a counter of their own, and three that share one.
      expect(statuses.filter((status) => status === 200)).toHaveLength(groupsMax - 1 + 3);
      expect((await redis.keys('*')).length).toBeLessThanOrEqual(before + groupsMax);
      // Who had a counter keeps it.
      expect(await statusesOf(trial, ['made-up-0', 'made-up-0', 'made-up-0'])).toEqual([
        200, 200, 429,
      ]);
    } finally {
      await trial.close();
    }
  });
});
