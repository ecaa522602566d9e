import { expect, it } from 'vitest';
import type { TestSpecification } from 'vitest/node';
import { LongestFirst } from './longest-first.ts';

it('leaves the files of a project together, the longest of each first', async () => {
  const results = new Map([
    ['/a/control-plane/test/small.test.ts', 20],
    ['/a/gateway/test/small.test.ts', 30],
    ['/a/gateway/test/smaller.test.ts', 10],
    ['/a/gateway/test/ledger.test.ts', 5],
    ['/a/control-plane/test/matrix.test.ts', 5],
    ['/a/engine/src/unit.test.ts', 40],
  ]);
  const projectOf = (path: string) =>
    path.includes('/src/') ? 'units' : path.includes('gateway') ? 'installations' : 'control-plane';
  const files = [...results.keys()].map((moduleId) => ({
    moduleId,
    project: {
      name: projectOf(moduleId),
      config: { isolate: false, sequence: { groupOrder: 0 } },
    },
  }));
  const order = new LongestFirst({
    cache: {
      getTestSpecificationResult: ({ moduleId }: TestSpecification) => ({
        failed: false,
        duration: results.get(moduleId),
      }),
    },
  } as never);
  const sorted = await order.sort(files as never);
  expect(sorted.map(({ moduleId }) => moduleId)).toEqual([
    '/a/control-plane/test/matrix.test.ts',
    '/a/control-plane/test/small.test.ts',
    '/a/gateway/test/ledger.test.ts',
    '/a/gateway/test/small.test.ts',
    '/a/gateway/test/smaller.test.ts',
    '/a/engine/src/unit.test.ts',
  ]);
});
