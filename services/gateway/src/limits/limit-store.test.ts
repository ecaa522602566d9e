import { type Counter, windowEpoch } from '@sluice/engine';
import { eventually, type SpawnedServer, startRedis } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exampleCounter as counter, redisLimits, take } from '../../test/limits.ts';
import type { LimitStore } from './limit-store.ts';
import { MemoryLimits } from './memory-limits.ts';

let server: SpawnedServer;
const closers: (() => Promise<void>)[] = [];
beforeAll(async () => {
  server = await startRedis();
});
afterAll(async () => {
  for (const close of closers) await close();
  await server.stop();
});

async function inRedis(groupsMax?: number): Promise<LimitStore> {
  const { limits, close } = redisLimits(server.url, { groupsMax });
  closers.push(close);
  await eventually(() => limits.isShared);
  return limits;
}

describe.each([
  ['memory', async (groupsMax?: number): Promise<LimitStore> => new MemoryLimits({ groupsMax })],
  ['redis', inRedis],
])('limits in %s', (_name, create) => {
  let store: LimitStore;
  beforeAll(async () => {
    store = await create();
  });
  const left = async (counters: readonly Counter[]) =>
    (await store.peek('org', counters)).map(({ remaining }) => remaining);
  const admitted = async (...asked: Parameters<typeof take>) =>
    (await take(...asked)).refusedAt < 0;

  it('admit exactly as many requests as the value, however many come at once', async () => {
    const counters = [counter({ value: 100 })];
    const all = await Promise.all(
      Array.from({ length: 250 }, async () => admitted(store, counters)),
    );
    expect(all.filter(Boolean)).toHaveLength(100);
  });

  it('take nothing when one of the request’s own refuses', async () => {
    const [wide, narrow] = [counter({ value: 10 }), counter({ value: 1 })];
    await take(store, [wide, narrow]);
    for (let tries = 0; tries < 5; tries++)
      expect(await take(store, [wide, narrow])).toMatchObject({ refusedAt: 1 });
    expect(await left([wide])).toEqual([9]);
  });

  it('take what is the request’s, and nothing of the target’s, when only the target’s refuse', async () => {
    const [own, provider, spent] = [counter(), counter(), counter({ value: 0 })];
    const want = (each: Counter) => ({ counter: each, amount: 1, isSoft: false });
    const wants = { id: 'r', counters: [own, provider, spent].map(want), ofRequest: 1 };
    const { refusedAt, states } = await store.take('org', wants);
    expect(refusedAt).toBe(2);
    expect(states.map(({ held }) => held)).toEqual([1, 0, 0]);
    expect(await left([own, provider, spent])).toEqual([2, 3, 0]);
  });

  it('keep organisations apart', async () => {
    const one = [counter({ value: 1 })];
    expect(await admitted(store, one, {}, 'org-a')).toBe(true);
    expect(await admitted(store, one, {}, 'org-b')).toBe(true);
    expect(await admitted(store, one, {}, 'org-a')).toBe(false);
  });

  it('hold what is estimated, no more than is left, and refuse when nothing is', async () => {
    const one = [counter({ type: 'tokens', value: 100 })];
    const first = await take(store, one, { tokens: 70 });
    expect(first.states[0]).toMatchObject({ held: 70, remaining: 30, pending: 70, posted: 0 });
    const second = await take(store, one, { tokens: 70 });
    // It is cut short, and by how much is said.
    expect(second.states[0]).toMatchObject({ held: 30, short: 40, remaining: 0, overshoot: 40 });
    expect((await take(store, one, { tokens: 1 })).refusedAt).toBe(0);
    store.end('org', [{ hold: first.states[0]!, actual: 12 }]);
    await eventually(async () => expect(await left(one)).toEqual([18]));
    store.end('org', [{ hold: second.states[0]!, actual: 60 }]);
    await eventually(async () =>
      expect(await store.peek('org', one)).toMatchObject([
        { posted: 72, pending: 0, overshoot: 0, remaining: 28 },
      ]),
    );
  });

  it('add what is left to what a request holds already, refuse it nothing, and tell what it lacks', async () => {
    const [tokens, provider] = [counter({ type: 'tokens', value: 100 }), counter({ value: 1 })];
    const raise = (id: string, amount: number) =>
      store.take('org', {
        id,
        counters: [
          { counter: tokens, amount, isSoft: true },
          { counter: provider, amount: 1, isSoft: false },
        ],
        ofRequest: 0,
      });
    await take(store, [tokens], { tokens: 80 });
    const { refusedAt, states } = await raise('one', 50);
    expect(refusedAt).toBe(-1);
    expect(states[0]).toMatchObject({ held: 20, short: 30, pending: 100, overshoot: 30 });
    // Nothing is added for a target that is refused.
    expect(await raise('other', 50)).toMatchObject({ refusedAt: 1 });
    expect((await store.peek('org', [tokens]))[0]).toMatchObject({ pending: 100, overshoot: 30 });
    store.end('org', [{ hold: states[0]!, actual: 0 }]);
    await eventually(async () => expect(await left([tokens])).toEqual([20]));
  });

  it('count what is taken softly, also where all is spent or must fit, and of a group of which nobody has used anything', async () => {
    const rules = { isStrict: true };
    const spent = counter({ type: 'tokens', value: 100, rules });
    await take(store, [spent], { tokens: 100 });
    const others = [
      counter({ type: 'tokens', value: 0 }),
      counter({ type: 'cost', value: 5, period: {}, rules }),
      counter({ type: 'tokens', value: 7, group: 'by:nobody' }),
    ];
    const all = [spent, ...others];
    const wants = all.map((each) => ({ counter: each, amount: 40, isSoft: true }));
    const taken = await store.take('org', { id: 'done', counters: wants, ofRequest: 2 });
    expect(taken.refusedAt).toBe(-1);
    expect(taken.states.map(({ held }) => held)).toEqual([0, 0, 5, 7]);
    store.end(
      'org',
      taken.states.map((hold) => ({ hold, actual: 40 })),
    );
    await eventually(async () =>
      expect((await store.peek('org', all)).map(({ posted }) => posted)).toEqual([40, 40, 40, 40]),
    );
    // So does a target that may use more than the first, where nothing is left, and uses nothing.
    const none = await store.take('org', {
      id: 'more',
      counters: wants.slice(0, 1),
      ofRequest: 0,
    });
    expect(none.states).toMatchObject([{ held: 0, short: 40, overshoot: 40 }]);
    store.end('org', [{ hold: none.states[0]!, actual: 0 }]);
    await eventually(async () =>
      expect(await store.peek('org', [spent])).toMatchObject([{ pending: 100, overshoot: 0 }]),
    );
  });

  it('take what a request may use beyond what it holds for held: no limit is overshot by more than one', async () => {
    const one = [counter({ type: 'tokens', value: 2000 })];
    const ask = () => take(store, one, { tokens: 1505 });
    const first = await ask();
    const second = await ask();
    expect(second.states[0]).toMatchObject({ held: 495, short: 1010 });
    store.end('org', [{ hold: first.states[0]!, actual: 1500 }]);
    await eventually(async () =>
      expect(await store.peek('org', one)).toMatchObject([{ posted: 1500, pending: 495 }]),
    );
    expect((await ask()).refusedAt).toBe(0);
    store.end('org', [{ hold: second.states[0]!, actual: 400 }]);
    await eventually(async () => expect((await ask()).refusedAt).toBe(-1));
  });

  it('end each hold once, however often they are told', async () => {
    const counters = [
      counter({ type: 'cost', value: 9_007_199_254_740_991, period: {} }),
      counter({ value: 10 }),
    ];
    const { states } = await take(store, counters, { costNanoUsd: 5_000_000_000_000_001 });
    const ends = [
      { hold: states[0]!, actual: 4_000_000_000_000_003 },
      { hold: states[1]!, actual: 0 },
    ];
    for (let times = 0; times < 3; times++) store.end('org', ends);
    const posted = async () => (await store.peek('org', counters)).map((state) => state.posted);
    await eventually(async () => expect(await posted()).toEqual([4_000_000_000_000_003, 0]));
    expect(await left(counters)).toEqual([5_007_199_254_740_988, 10]);
  });

  it('demand that an estimate fits where the limit is strict', async () => {
    const strict = [counter({ type: 'tokens', value: 100, rules: { isStrict: true } })];
    expect(await admitted(store, strict, { tokens: 101 })).toBe(false);
    expect(await admitted(store, strict, { tokens: 60 })).toBe(true);
    expect(await admitted(store, strict, { tokens: 60 })).toBe(false);
    expect(await admitted(store, strict, { tokens: 40 })).toBe(true);
  });

  it('in shadow mode count and refuse nothing, and tell what they would have', async () => {
    const shadow = [counter({ value: 1, rules: { isShadow: true } })];
    const tokens = [counter({ type: 'tokens', value: 10, rules: { isShadow: true } })];
    const would = async (counters: Counter[]) =>
      (await take(store, counters, { tokens: 8 })).states.map((state) => state.wouldRefuse);
    expect([await would(shadow), await would(shadow)]).toEqual([[false], [true]]);
    expect([await would(tokens), await would(tokens), await would(tokens)]).toEqual([
      [false],
      [false],
      [true],
    ]);
    expect(await store.peek('org', tokens)).toMatchObject([{ pending: 24 }]);
  });

  it('are told without being used up, spent or not', async () => {
    const counters = [counter({ value: 2 }), counter({ type: 'tokens', value: 100 })];
    for (let looks = 0; looks < 3; looks++) expect(await left(counters)).toEqual([2, 100]);
    await take(store, counters, { tokens: 100 });
    await take(store, counters.slice(0, 1));
    expect(await left([...counters, counter({ value: 7 })])).toEqual([0, 0, 7]);
    expect(await store.peek('org', [])).toEqual([]);
  });

  it('say when the window ends', async () => {
    const { states } = await take(store, [counter({ unit: 'rph' })]);
    expect(states[0]?.resetAtMs).toBe(windowEpoch('rph', Date.now()).endMs);
  });

  it('count groups for which a policy has no room together, and the others exactly', async () => {
    const small = await create(10);
    const id = `p${crypto.randomUUID()}`;
    const pass = async (names: readonly string[]) => {
      let count = 0;
      for (const name of names)
        if (await admitted(small, [counter({ id, group: `by:${name}` })])) count++;
      return count;
    };
    const many = (prefix: string, length: number) =>
      Array.from({ length }, (_, index) => `${prefix}-${index}`);
    expect(await pass(many('own', 10))).toBe(10);
    expect(await pass(many('more', 50))).toBe(3);
    const [other] = await small.peek('org', [counter({ id, group: 'by:another' })]);
    expect(other).toMatchObject({ remaining: 0, isOverflow: true });
    expect(other?.name).toMatch(new RegExp(`^${id}:\\*@\\d+$`));
    expect(await pass(Array(5).fill('own-0'))).toBe(2);
    // Another policy has room of its own.
    expect(await admitted(small, [counter({ group: 'by:more-1', value: 1 })])).toBe(true);
  });

  it('know for a moment that a counter is spent, and ask when its value was raised', async () => {
    const one = counter({ value: 1 });
    await take(store, [one]);
    expect(store.findSpent('org', [one])).toBeUndefined();
    await take(store, [one]);
    expect(store.findSpent('org', [counter(), one])).toMatchObject({ counter: one, remaining: 0 });
    expect(store.findSpent('other', [one])).toBeUndefined();
    const raised = { ...one, limit: { ...one.limit, value: 2 } };
    expect(store.findSpent('org', [raised])).toBeUndefined();
    expect(await admitted(store, [raised])).toBe(true);
  });

  it('say when a period ends that was moved, of one that is known to be spent as well', async () => {
    const ends = [1, 30].map((days) => Date.now() + days * 86_400_000) as [number, number];
    const [one, moved] = ends.map((nextResetAtMs) =>
      counter({ id: 'moved', type: 'tokens', value: 1, period: { nextResetAtMs } }),
    ) as [Counter, Counter];
    const { states } = await take(store, [one]);
    store.end('org', [{ hold: states[0]!, actual: 1 }]);
    await store.settled?.('org');
    await take(store, [one]);
    expect(store.findSpent('org', [one])?.resetAtMs).toBe(ends[0]);
    expect(store.findSpent('org', [moved])?.resetAtMs).toBe(ends[1]);
  });

  it('tell of budgets that changed, each once', async () => {
    const budget = counter({ type: 'tokens', value: 100, period: {} });
    store.changedCounters(1000);
    const { states } = await take(store, [budget, counter()], { tokens: 30 });
    const changed = () =>
      store
        .changedCounters(1000)
        .map(({ state: { posted, pending, name } }) => [name, posted, pending]);
    const { name } = states[0]!;
    expect(changed()).toEqual([[name, 0, 30]]);
    expect(changed()).toEqual([]);
    store.end('org', [{ hold: states[0]!, actual: 12 }]);
    await eventually(() => expect(changed()).toEqual([[name, 12, 0]]));
  });
});
