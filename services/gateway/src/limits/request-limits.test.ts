import type { TargetFacts } from '@sluice/engine';
import { describe, expect, it } from 'vitest';
import { exampleBundle, exampleExchange, exampleKey } from '../../test/exchange.ts';
import { estimate } from '../../test/limits.ts';
import { MemoryLimits } from './memory-limits.ts';
import { RequestLimits } from './request-limits.ts';

const target: TargetFacts = { provider: 'openai', providerSlug: 'main', model: 'gpt-4o' };
const limit = (value: number, type = 'requests') => ({ type, unit: 'rpd', value: BigInt(value) });
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
const provider = {
  slug: 'main',
  provider: 'openai',
  integrationSlug: 'vendor',
  allowAllModels: true,
  rateLimits: [limit(5)],
  integrationRateLimits: [{ ...limit(2), id: 'grant' }],
};
const bundle = exampleBundle({
  rateLimits: [limit(20), limit(100, 'tokens')],
  providers: [provider, { ...provider, slug: 'other' }],
  rateLimitsPolicies: [
    policy('a'),
    policy('b', { conditions: [{ key: 'metadata.team', values: ['x'], excludes: [] }] }),
    policy('c', { groupBy: ['model'] }),
  ],
} as never);
const key = exampleKey({ rateLimits: [limit(3)] } as never);
const saved = bundle.providers.get('main');

function limitsOn(store: MemoryLimits): RequestLimits {
  return RequestLimits.of(store, exampleExchange({ key, bundle }));
}

const reserve = async (limits: RequestLimits, tokens = 30) =>
  limits.reserve(target, saved, () => estimate({ tokens }));
const leftOfRequest = async (limits: RequestLimits) =>
  (await limits.peekRequest()).map(({ state }) => state?.remaining);
const leftOfTarget = async (limits: RequestLimits) =>
  (await limits.peekTarget(target, saved)).map(({ state }) => state?.remaining);

describe('what a request asks its limits', () => {
  it('is shown in the order in which they refuse, with the policies that do not apply', async () => {
    const limits = limitsOn(new MemoryLimits());
    const shown = (await limits.peekRequest()).map(({ policy: from, state, unmet }) => [
      from?.id,
      state?.remaining,
      unmet,
    ]);
    expect(shown).toEqual([
      [undefined, 3, undefined],
      [undefined, 20, undefined],
      [undefined, 100, undefined],
      ['a', 10, undefined],
      ['b', undefined, 'metadata.team'],
    ]);
    const ofTarget = (await limits.peekTarget(target, saved)).map(({ state }) => [
      state?.counter.entity,
      state?.remaining,
    ]);
    expect(ofTarget).toEqual([
      ['virtual key "main"', 5],
      ['integration "vendor"', 2],
      ['model "@main/gpt-4o"', 10],
    ]);
  });

  it('is taken for the request and the target together, and agrees with what was shown', async () => {
    const limits = limitsOn(new MemoryLimits());
    const reservation = await reserve(limits);
    expect(await leftOfRequest(limits)).toEqual([2, 19, 70, 9, undefined]);
    expect(await leftOfTarget(limits)).toEqual([4, 1, 9]);
    expect(reservation?.states.map(({ remaining }) => remaining)).toEqual([2, 19, 70, 9, 4, 1, 9]);
  });

  it('comes back, all of it, when nothing was sent', async () => {
    const limits = limitsOn(new MemoryLimits());
    await reserve(limits);
    limits.close();
    expect(await leftOfRequest(limits)).toEqual([3, 20, 100, 10, undefined]);
    expect(await leftOfTarget(limits)).toEqual([5, 2, 10]);
  });

  it('is settled with what was used when the request and its last call are over', async () => {
    const limits = limitsOn(new MemoryLimits());
    const reservation = await reserve(limits);
    reservation?.begin();
    limits.close();
    // A stream goes on behind the answer.
    expect(await leftOfRequest(limits)).toEqual([2, 19, 70, 9, undefined]);
    reservation?.post({ tokens: 12, costNanoUsd: 0 });
    reservation?.finish();
    expect(await leftOfRequest(limits)).toEqual([2, 19, 88, 9, undefined]);
    expect(await leftOfTarget(limits)).toEqual([4, 1, 9]);
    // What is told even later is counted all the same.
    reservation?.post({ tokens: 8, costNanoUsd: 0 });
    expect(await leftOfRequest(limits)).toEqual([2, 19, 80, 9, undefined]);
  });

  it('stays held while the rest of an answer is asked for, and goes back where nobody is called for it', async () => {
    const limits = limitsOn(new MemoryLimits());
    const first = await reserve(limits);
    first?.begin();
    limits.close();
    limits.hold();
    first?.post({ tokens: 10, costNanoUsd: 0 });
    first?.finish();
    // The request's own are held still, and what was used of the first target's is counted.
    expect(await leftOfRequest(limits)).toEqual([2, 19, 70, 9, undefined]);
    await reserve(limits);
    expect(await leftOfTarget(limits)).toEqual([3, 0, 8]);
    limits.release();
    expect(await leftOfRequest(limits)).toEqual([2, 19, 90, 9, undefined]);
    expect(await leftOfTarget(limits)).toEqual([4, 1, 9]);
  });

  it('counts a request that was answered without a call, and nothing of the target', async () => {
    const limits = limitsOn(new MemoryLimits());
    await reserve(limits);
    limits.noteAnswered();
    limits.close();
    expect(await leftOfRequest(limits)).toEqual([2, 19, 100, 9, undefined]);
    expect(await leftOfTarget(limits)).toEqual([5, 2, 10]);
  });

  it('is held once over all targets, and each target keeps what it was called for', async () => {
    const store = new MemoryLimits();
    const limits = limitsOn(store);
    const first = await reserve(limits);
    first?.begin();
    first?.finish();
    const second = await limits.reserve(
      { ...target, providerSlug: 'other', model: 'gpt-4o-mini' },
      bundle.providers.get('other'),
      () => estimate({ tokens: 30 }),
    );
    expect(await leftOfRequest(limits)).toEqual([2, 19, 70, 9, undefined]);
    // The grant is shared by both.
    expect(await leftOfTarget(limits)).toEqual([4, 0, 9]);
    expect(second?.states).toHaveLength(7);
    limits.close();
    // Nothing was sent to the second.
    expect(await leftOfTarget(limits)).toEqual([4, 1, 9]);
  });

  it('holds more for a target that may use more, beside what those before it used', async () => {
    const limits = limitsOn(new MemoryLimits());
    const reserveAt = (slug: string, tokens: number) =>
      limits.reserve({ ...target, providerSlug: slug }, bundle.providers.get(slug), () =>
        estimate({ tokens }),
      );
    const first = await reserveAt('main', 30);
    first?.begin();
    first?.post({ tokens: 10, costNanoUsd: 0 });
    first?.finish();
    const second = await reserveAt('other', 60);
    expect(await leftOfRequest(limits)).toEqual([2, 19, 30, 9, undefined]);
    const counts = second?.takeCounts();
    expect([...(counts?.reserved.values() ?? [])]).toContain(70);
    second?.begin();
    second?.post({ tokens: 55, costNanoUsd: 0 });
    second?.finish();
    limits.close();
    expect(await leftOfRequest(limits)).toEqual([2, 19, 35, 9, undefined]);
  });

  it('takes what is left for such a target, tells what it lacks, and never ends by it', async () => {
    const store = new MemoryLimits();
    const limits = limitsOn(store);
    (await reserve(limits, 80))?.begin();
    const other = await limits.reserve(target, saved, () => estimate({ tokens: 150 }));
    expect(other?.refusedBy).toBeUndefined();
    const states = (await limits.peekRequest()).flatMap(({ state }) => state ?? []);
    expect(states.find(({ counter }) => counter.limit.type === 'tokens')).toMatchObject({
      remaining: 0,
      pending: 100,
      overshoot: 50,
    });
  });

  it('refuses such a target, and not the request, where all of it must fit', async () => {
    const strict = exampleKey({
      rateLimits: [{ ...limit(100, 'tokens'), rules: { admission: 'strict' } }],
    } as never);
    const limits = RequestLimits.of(
      new MemoryLimits(),
      exampleExchange({ key: strict, bundle: exampleBundle() }),
    );
    const reserveOf = (tokens: number) =>
      limits.reserve(target, undefined, () => estimate({ tokens }));
    (await reserveOf(80))?.begin();
    const dear = await reserveOf(101);
    expect(dear?.refusedBy?.counter.limit.type).toBe('tokens');
    expect(limits.isRefused).toBe(false);
    expect((await reserveOf(90))?.refusedBy).toBeUndefined();
    expect(await leftOfRequest(limits)).toEqual([10]);
  });

  it('takes no target without a price where a budget takes none, whichever is asked first', async () => {
    const budget = { id: 'b', type: 'cost', value: 100n, rules: { unpriced: 'refuse' } };
    const limits = RequestLimits.of(
      new MemoryLimits(),
      exampleExchange({
        key: exampleKey({ usageLimits: [budget] } as never),
        bundle: exampleBundle(),
      }),
    );
    const reserveOf = async (isUnpriced: boolean) =>
      limits.reserve(target, undefined, () => estimate({ costNanoUsd: 5, isUnpriced }));
    const unpriced = { code: 'limit.unpriced' };
    await expect(reserveOf(true)).rejects.toMatchObject(unpriced);
    (await reserveOf(false))?.begin();
    await expect(reserveOf(true)).rejects.toMatchObject(unpriced);
    expect(limits.isRefused).toBe(false);
  });

  it('says which of the target’s refuse, and keeps what is the request’s until it is over', async () => {
    const store = new MemoryLimits();
    for (let used = 0; used < 2; used++) {
      const limits = limitsOn(store);
      (await reserve(limits))?.begin();
    }
    const limits = limitsOn(store);
    const refused = await reserve(limits);
    expect(refused?.refusedBy?.counter.entity).toBe('integration "vendor"');
    expect(await leftOfRequest(limits)).toEqual([0, 17, 10, 7, undefined]);
    limits.close();
    // Two of three were used, and three were asked for.
    expect(await leftOfRequest(limits)).toEqual([1, 18, 40, 8, undefined]);
    expect(await leftOfTarget(limits)).toEqual([3, 0, 8]);
  });

  it('ends the request when one of its own refuses', async () => {
    const store = new MemoryLimits();
    const answered = async () => {
      const limits = limitsOn(store);
      await reserve(limits, 1);
      limits.noteAnswered();
      limits.close();
    };
    for (let used = 0; used < 3; used++) await answered();
    const limits = limitsOn(store);
    await expect(reserve(limits)).rejects.toMatchObject({ code: 'limit.rate_exceeded' });
    expect(limits.isRefused).toBe(true);
    // And the next one is refused by what is remembered.
    expect(() => limitsOn(store).refuseSpent()).toThrow('Rate limit exceeded for API key');
  });

  it('holds as much again for a second call at the same time, and settles both as one', async () => {
    const limits = limitsOn(new MemoryLimits());
    const reservation = await reserve(limits, 40);
    expect(await reservation?.extend()).toBe(true);
    expect(await leftOfRequest(limits)).toEqual([2, 19, 20, 9, undefined]);
    reservation?.begin();
    reservation?.begin();
    for (const tokens of [5, 7]) {
      reservation?.post({ tokens, costNanoUsd: 0 });
      reservation?.finish();
    }
    limits.close();
    expect(await leftOfRequest(limits)).toEqual([2, 19, 88, 9, undefined]);
  });

  it('tells records what was held and counted, each part once', async () => {
    const limits = limitsOn(new MemoryLimits());
    const reservation = await reserve(limits);
    const name = (id: string) => reservation?.states.find((each) => each.name.startsWith(id))?.name;
    const tokens = name('workspace:ws-1:tokens:rpd@') ?? '';
    const grant = name('grant@') ?? '';
    reservation?.begin();
    reservation?.post({ tokens: 12, costNanoUsd: 0 });
    const first = reservation?.takeCounts();
    expect([first?.reserved.get(tokens), first?.reserved.get(grant)]).toEqual([30, 1]);
    expect([first?.settled.get(tokens), first?.settled.get(grant)]).toEqual([12, 1]);
    reservation?.post({ tokens: 5, costNanoUsd: 0 });
    expect(reservation?.takeCounts()).toEqual({
      reserved: new Map(),
      settled: new Map([[tokens, 5]]),
    });
  });
});

describe('an exhausted key', () => {
  it('counts what work that is done used, as no request, whatever is spent', async () => {
    const store = new MemoryLimits();
    const posted = async () =>
      [
        ...(await limitsOn(store).peekRequest()),
        ...(await limitsOn(store).peekTarget(target, saved)),
      ]
        .flatMap(({ state }) => state ?? [])
        .map((state) => state.posted);
    for (const tokens of [90, 60]) {
      const limits = limitsOn(store);
      const reservation = await reserve(limits, tokens);
      reservation?.begin();
      reservation?.post({ tokens, costNanoUsd: 0 });
      reservation?.finish();
      limits.close();
    }
    // Of the key, the workspace twice, a policy; of the provider, its grant – which is spent, too –, a policy.
    expect(await posted()).toEqual([2, 2, 150, 2, 2, 2, 2]);
    const told: bigint[] = [];
    await limitsOn(store).postDone(target, saved, { tokens: 40, costNanoUsd: 7 }, (held) =>
      told.push(...[...held.takeCounts().settled.values()].map(BigInt)),
    );
    expect(await posted()).toEqual([2, 2, 190, 2, 2, 2, 2]);
    expect(told).toEqual([40n]);
  });

  it('is refused by its status where its budgets are not told with it', () => {
    const exhausted = exampleKey({ status: 2 } as never);
    const exchange = exampleExchange({ key: exhausted, bundle: exampleBundle() });
    expect(RequestLimits.areNone(exchange)).toBe(false);
    const limits = RequestLimits.of(new MemoryLimits(), exchange);
    expect(() => limits.refuseSpent()).toThrow('Budget exhausted');
  });

  it('is asked for its budget where that is told: its period may have ended since', () => {
    const budget = { id: 'b', type: 'tokens', value: 5n };
    const exhausted = exampleKey({ status: 2, usageLimits: [budget] } as never);
    const limits = RequestLimits.of(
      new MemoryLimits(),
      exampleExchange({ key: exhausted, bundle: exampleBundle() }),
    );
    expect(() => limits.refuseSpent()).not.toThrow();
  });
});
