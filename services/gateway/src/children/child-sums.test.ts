import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SharedStores, startSharedStores } from '../../test/shared-stores.ts';
import { ChildSums } from './child-sums.ts';

const use = (costNanoUsd: number) => ({ inputTokens: 10, outputTokens: 20, costNanoUsd });
const all = { inputTokens: 1000, outputTokens: 1000, costNanoUsd: 2 ** 50 };
const costs = async (sums: ChildSums, names: string[], most = all, isOver = false) =>
  (await sums.take('org', names, most, isOver)).costNanoUsd;

describe('sums of one gateway', () => {
  it('give what was added once, of each count no more than is wanted', async () => {
    const sums = new ChildSums(undefined);
    sums.add('org', ['a', 'b'], use(500));
    sums.add('org', ['a'], use(0.4));
    sums.add('another', ['a'], use(70));
    const wanted = { inputTokens: 15, outputTokens: 1000, costNanoUsd: 300 };
    expect(await sums.take('org', ['a'], wanted, false)).toEqual({
      inputTokens: 15,
      outputTokens: 40,
      costNanoUsd: 300,
      isPartial: false,
    });
    expect([await costs(sums, ['a']), await costs(sums, ['a']), await costs(sums, ['b'])]).toEqual([
      200, 0, 500,
    ]);
    expect(await costs(sums, [])).toBe(0);
    sums.add('org', ['over'], use(9));
    expect(await costs(sums, ['over'], { ...all, costNanoUsd: 1 }, true)).toBe(1);
    expect(await costs(sums, ['over'])).toBe(0);
  });

  it('are forgotten when there are too many: then more is billed, not less', async () => {
    const sums = new ChildSums(undefined, 2);
    for (const name of ['a', 'b', 'c']) sums.add('org', [name], use(5));
    expect([await costs(sums, ['a']), await costs(sums, ['c'])]).toEqual([0, 5]);
  });
});

describe('sums of gateways with one Redis', () => {
  let stores: SharedStores;
  const gateway = async () => {
    const store = stores.open();
    const part = store.share({ name: 'agents', deadlineMs: 500 });
    await eventually(() => expect(part.degraded).toBe(false));
    return new ChildSums(part);
  };
  beforeAll(async () => {
    stores = await startSharedStores();
  });
  afterAll(() => stores.stop());

  it('are one, whoever adds and takes', async () => {
    const [one, other] = [await gateway(), await gateway()];
    await Promise.all(
      Array.from({ length: 50 }, (_, at) => (at % 2 ? one : other).add('org', ['a', 'b'], use(3))),
    );
    const took = await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        costs(at % 2 ? one : other, ['a'], { ...all, costNanoUsd: 20 }),
      ),
    );
    expect(took.reduce((sum, cost) => sum + cost, 0)).toBe(150);
    expect([await costs(one, ['b', 'a']), await costs(other, ['b'])]).toEqual([150, 0]);
    // Sums that are exact in a script, too.
    await one.add('org', ['large'], use(2 ** 51 + 1));
    await one.add('org', ['large'], use(1));
    expect(await costs(other, ['large'], { ...all, costNanoUsd: 2 ** 52 })).toBe(2 ** 51 + 2);
  });

  it('are gone with what nobody asks for again', async () => {
    const sums = await gateway();
    await sums.add('org', ['over'], use(9));
    expect(await costs(sums, ['over'], { ...all, costNanoUsd: 1 }, true)).toBe(1);
    expect(await costs(sums, ['over'])).toBe(0);
  });

  it('are each gateway’s own while Redis is away, and never counted twice after', async () => {
    const sums = await gateway();
    await sums.add('org', ['s'], use(100));
    await stores.server.kill();
    await eventually(() => expect(sums.isAlone).toBe(true));
    sums.add('org', ['s'], use(7));
    expect(await sums.take('org', ['s'], { ...all, costNanoUsd: 4 }, false)).toMatchObject({
      costNanoUsd: 4,
      isPartial: true,
    });
    await stores.server.restart();
    await eventually(() => expect(sums.isAlone).toBe(false));
    expect(await costs(sums, ['s'], { ...all, costNanoUsd: 5 })).toBeGreaterThanOrEqual(3);
    await costs(sums, ['s']);
    expect(await sums.take('org', ['s'], all, false)).toMatchObject({
      costNanoUsd: 0,
      isPartial: false,
    });
  });
});
