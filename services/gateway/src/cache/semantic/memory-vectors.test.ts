import { describe, expect, it } from 'vitest';
import { exampleVectors } from '../../../test/example-vectors.ts';
import { MemoryVectors } from './memory-vectors.ts';
import type { Partition } from './vector-index.ts';

const partition: Partition = { organisationId: 'org', key: 'p' };
const wanted = { atLeast: 0.95, countMax: 1 };
const dimensions = 384;
const { unit, nearTo } = exampleVectors(dimensions);

describe('MemoryVectors', () => {
  it('finds among 5,000 the one that is near, and says how near', () => {
    const vectors = new MemoryVectors({ dimensions, bytesMax: 100_000_000 });
    const kept = Array.from({ length: 5000 }, unit);
    for (const [at, vector] of kept.entries()) vectors.add(partition, `v${at}`, vector, 60_000);
    for (let at = 0; at < kept.length; at += 50) {
      const asked = nearTo(kept[at] as Float32Array, 0.96);
      const [found] = vectors.near(partition, asked, wanted);
      expect(found?.id).toBe(`v${at}`);
      expect(found?.similarity).toBeCloseTo(0.96, 4);
    }
  });

  it('finds the nearest among more that are near than it compares', () => {
    const vectors = new MemoryVectors({ dimensions, bytesMax: 100_000_000 });
    const vector = unit();
    for (let at = 0; at < 1000; at++)
      vectors.add(partition, `v${at}`, nearTo(vector, at === 500 ? 0.999 : 0.96), 60_000);
    expect(vectors.near(partition, vector, wanted)).toMatchObject([{ id: 'v500' }]);
  });

  it('finds nothing that is not as near as is wanted', () => {
    const vectors = new MemoryVectors({ dimensions, bytesMax: 100_000_000 });
    const vector = unit();
    vectors.add(partition, 'a', vector, 60_000);
    expect(vectors.near(partition, nearTo(vector, 0.949), wanted)).toEqual([]);
    expect(vectors.near(partition, nearTo(vector, 0.951), wanted)).toHaveLength(1);
    expect(vectors.near(partition, unit(), wanted)).toEqual([]);
  });

  it('tells the nearest first, as many as are wanted', () => {
    const vectors = new MemoryVectors({ dimensions, bytesMax: 100_000_000 });
    const vector = unit();
    for (const cosine of [0.96, 0.99, 0.97, 0.9])
      vectors.add(partition, String(cosine), nearTo(vector, cosine), 60_000);
    const ids = (countMax: number) =>
      vectors.near(partition, vector, { atLeast: 0.95, countMax }).map(({ id }) => id);
    expect(ids(100)).toEqual(['0.99', '0.97', '0.96']);
    expect(ids(2)).toEqual(['0.99', '0.97']);
  });

  it('looks into no other partition and no other organisation', () => {
    const vectors = new MemoryVectors({ dimensions, bytesMax: 100_000_000 });
    const vector = unit();
    vectors.add(partition, 'a', vector, 60_000);
    expect(vectors.near({ ...partition, key: 'q' }, vector, wanted)).toEqual([]);
    expect(vectors.near({ ...partition, organisationId: 'other' }, vector, wanted)).toEqual([]);
  });

  it('forgets what its time is over of, what it is told to, and what is replaced', () => {
    let nowMs = 1_000_000;
    const vectors = new MemoryVectors({ dimensions, bytesMax: 100_000_000, now: () => nowMs });
    const [one, other] = [unit(), unit()];
    vectors.add(partition, 'a', one, 1000);
    vectors.add(partition, 'b', other, 100_000);
    vectors.add(partition, 'b', one, 100_000);
    expect(vectors.near(partition, other, wanted)).toEqual([]);
    expect(vectors.near(partition, one, { ...wanted, countMax: 9 })).toHaveLength(2);
    nowMs += 1000;
    expect(vectors.near(partition, one, { ...wanted, countMax: 9 })).toHaveLength(1);
    vectors.forget(partition, 'b');
    expect(vectors.size).toBe(0);
    // What nobody asks for goes as well.
    vectors.add(partition, 'c', one, 1000);
    nowMs += 100_000;
    vectors.add({ organisationId: 'other', key: 'p' }, 'd', one, 1000);
    expect(vectors.size).toBe(1);
  });

  it('stays within its bytes: whoever holds most gives up what it has not used', () => {
    const probe = new MemoryVectors({ dimensions, bytesMax: 100_000_000 });
    probe.add(partition, 'a', unit(), 1000);
    const vectors = new MemoryVectors({ dimensions, bytesMax: 10 * probe.bytes });
    const small: Partition = { organisationId: 'small', key: 'p' };
    const [kept, used] = [unit(), unit()];
    vectors.add(small, 'kept', kept, 60_000);
    vectors.add(partition, 'used', used, 60_000);
    for (let at = 0; at < 30; at++) {
      vectors.add(partition, `v${at}`, unit(), 60_000);
      expect(vectors.near(partition, used, wanted)).toHaveLength(1);
    }
    expect(vectors.size).toBe(10);
    expect(vectors.bytes).toBeLessThanOrEqual(10 * probe.bytes);
    expect(vectors.near(small, kept, wanted)).toHaveLength(1);
  });

  it('keeps nothing where there is no room', () => {
    const vectors = new MemoryVectors({ dimensions, bytesMax: 0 });
    vectors.add(partition, 'a', unit(), 1000);
    expect(vectors.size).toBe(0);
  });
});
