import type { TargetFacts } from '@sluice/engine';
import { describe, expect, it } from 'vitest';
import { exampleBundle, exampleExchange, exampleKey } from '../../test/exchange.ts';
import { MemoryLimits } from './memory-limits.ts';
import { requestFacts } from './request-facts.ts';
import { RequestLimits } from './request-limits.ts';

const target: TargetFacts = { provider: 'openai', providerSlug: 'main', model: 'gpt-4o' };
const limit = (value: number) => [{ type: 'requests', unit: 'rpd', value: BigInt(value) }];
const policy = (id: string, over: object = {}) => ({
  id,
  name: `policy ${id}`,
  type: 'requests',
  unit: 'rpd',
  value: 10n,
  conditions: [],
  groupBy: ['api_key'],
  ...over,
});
const bundle = exampleBundle({
  rateLimits: limit(20),
  providers: [{ slug: 'main', provider: 'openai', allowAllModels: true, rateLimits: limit(1) }],
  rateLimitsPolicies: [
    policy('a'),
    policy('b', { conditions: [{ key: 'metadata.team', values: ['x'], excludes: [] }] }),
    policy('c', { groupBy: ['model'] }),
  ],
} as never);
const key = exampleKey({ rateLimits: limit(3) } as never);

function limitsOn(store: MemoryLimits): RequestLimits {
  const exchange = exampleExchange({ key, bundle });
  return new RequestLimits(store, key, bundle, requestFacts(exchange));
}

describe('peekRequest', () => {
  it('shows limits in the order they refuse, and the policies that do not apply', async () => {
    const store = new MemoryLimits();
    const limits = limitsOn(store);
    await limits.reserveRequest();
    const shown = (await limits.peekRequest()).map(({ policy: from, state, unmet }) => [
      from?.id,
      state?.remaining,
      unmet,
    ]);
    expect(shown).toEqual([
      [undefined, 2, undefined],
      [undefined, 19, undefined],
      ['a', 9, undefined],
      ['b', undefined, 'metadata.team'],
    ]);
  });

  it('takes nothing, and agrees with the next reservation', async () => {
    const limits = limitsOn(new MemoryLimits());
    for (let looks = 0; looks < 5; looks++) await limits.peekRequest();
    for (let left = 3; left > 0; left--) {
      expect((await limits.peekRequest())[0]?.state?.remaining).toBe(left);
      await limits.reserveRequest();
    }
    expect((await limits.peekRequest())[0]?.state?.remaining).toBe(0);
    expect(() => limits.reserveRequest()).toThrow('Rate limit exceeded');
  });
});

describe('peekTarget', () => {
  it('shows limits of the provider and of policies that look at the target', async () => {
    const limits = limitsOn(new MemoryLimits());
    const saved = bundle.providers.get('main');
    const peek = async () =>
      (await limits.peekTarget(target, saved)).map(({ policy: from, state }) => [
        from?.id,
        state?.remaining,
      ]);
    expect(await peek()).toEqual([
      [undefined, 1],
      ['c', 10],
    ]);
    await limits.reserveTarget(target, saved);
    expect(await peek()).toEqual([
      [undefined, 0],
      ['c', 9],
    ]);
    expect(await limits.peekTarget({ ...target, providerSlug: undefined }, undefined)).toHaveLength(
      1,
    );
  });
});
