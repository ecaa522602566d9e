import { eventually, type SpawnedServer, startRedis } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { exampleCounter as counter, redisLimits, take } from '../../test/limits.ts';

let server: SpawnedServer;
beforeAll(async () => {
  server = await startRedis();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(() => server?.stop());

it('windows and periods are those of the clock of Redis, wherever that of the machine jumps', async () => {
  const { limits, close } = redisLimits(server.url);
  await eventually(() => limits.isShared);
  const trueNow = Date.now;
  const dayMs = 86_400_000;
  const daily = [
    counter({ value: 4 }),
    counter({
      type: 'cost',
      value: 100,
      // As a bundle tells it that was made a while ago.
      period: { nextResetAtMs: trueNow() - dayMs, cadence: 'days', days: 30 },
    }),
  ];
  const jumped = async (days: number) => {
    vi.spyOn(Date, 'now').mockImplementation(() => trueNow() + days * dayMs);
    const { refusedAt, states } = await take(limits, daily, { costNanoUsd: 5 });
    return [refusedAt, ...states.map(({ name, posted, pending }) => [name, posted + pending])];
  };
  const [, requests, cost] = (await jumped(0)) as [number, [string], [string]];
  const names = [requests[0], cost[0]];
  expect(await jumped(40)).toEqual([-1, [names[0], 2], [names[1], 10]]);
  expect(await jumped(-40)).toEqual([-1, [names[0], 3], [names[1], 15]]);
  expect(await jumped(0)).toEqual([-1, [names[0], 4], [names[1], 20]]);
  expect((await jumped(1))[0]).toBe(0);
  await close();
});
