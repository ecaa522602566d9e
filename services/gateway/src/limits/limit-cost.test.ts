import type { TargetFacts } from '@sluice/engine';
import { eventually, type SpawnedServer, startRedis } from '@sluice/testkit';
import { ownTime } from '@sluice/testkit/own-time';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleBundle, exampleExchange, exampleKey } from '../../test/exchange.ts';
import { estimate, redisLimits } from '../../test/limits.ts';
import { keepStringsFast } from '../redis/keep-strings-fast.ts';
import type { RedisLimits } from './redis-limits.ts';
import { RequestLimits } from './request-limits.ts';

/** What ten policies that match cost a request; `LIMIT_COST` = so many µs, on a machine that does nothing else. */
const allowedUs = Number(process.env.LIMIT_COST ?? 400);

const policies = Array.from({ length: 10 }, (_, index) => ({
  id: `policy-${index}-of-requests-and-tokens`,
  name: `policy ${index}`,
  type: index % 2 === 0 ? 'requests' : 'tokens',
  unit: 'rpd',
  value: 1_000_000_000n,
  conditions: [{ key: 'api_key', values: ['*'], excludes: [] }],
  groupBy: ['metadata._user'],
}));
const bundle = exampleBundle({ rateLimitsPolicies: policies } as never);
const key = exampleKey();
const target: TargetFacts = { provider: 'openai', providerSlug: 'main', model: 'gpt-4o' };

let server: SpawnedServer;
let limits: RedisLimits;
let close: () => Promise<void>;
beforeAll(async () => {
  // As the gateway does.
  keepStringsFast();
  server = await startRedis();
  ({ limits, close } = redisLimits(server.url));
  await eventually(() => limits.isShared);
});
afterAll(async () => {
  await close();
  await server.stop();
});

async function request(user: number): Promise<void> {
  const exchange = exampleExchange({ key, bundle });
  exchange.metadata = { _user: `user-${user % 50}` };
  const ofRequest = RequestLimits.of(limits, exchange);
  ofRequest.refuseSpent();
  const reservation = await ofRequest.reserve(target, undefined, () => estimate({ tokens: 500 }));
  reservation?.begin();
  reservation?.post({ tokens: 321, costNanoUsd: 0 });
  reservation?.takeCounts();
  reservation?.finish();
  ofRequest.close();
}

describe('ten policies that match', () => {
  it('cost a request little CPU, and one call of Redis that is waited for', async ({
    annotate,
  }) => {
    const rounds = async (count: number) => {
      for (let done = 0; done < count; done += 20)
        await Promise.all(Array.from({ length: 20 }, (_, index) => request(done + index)));
      await eventually(() => limits.settling.lines === 0);
    };
    await rounds(4000);
    const plainMs = ownTime();
    for (let index = 0; index < 8000; index++) exampleExchange({ key, bundle });
    const exchangesUs = (1000 * plainMs()) / 8000;
    const spentMs = ownTime();
    await rounds(8000);
    const us = (1000 * spentMs()) / 8000 - exchangesUs;
    await annotate(`limit stage with ten policies: ${us.toFixed(1)} µs of CPU`);
    expect(us).toBeLessThan(allowedUs);
  });
});
