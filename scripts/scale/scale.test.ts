import { builtService, testDatabase } from '@sluice/testkit';
import { expect, it } from 'vitest';
import { measureScale } from './measure-scale.ts';

/** The full size is `npm run scale`: the same code, with aims for time and memory. */
it('after a restart of the control plane its followers are fresh soon, and ask for what has changed and nothing else', async () => {
  const figures = await measureScale({
    databaseUrl: await testDatabase(),
    controlPlane: await builtService('control-plane'),
    watchers: 10,
    processes: 2,
    workspaces: 50,
    workspacesEach: 10,
    keys: 2_000,
    changed: 5,
  });
  // `npm run scale` has ten seconds, for many more; a machine of a third of the speed took 14 here.
  expect(figures.freshAfterReadyMs).toBeLessThan(60_000);
  expect(figures.bundlesChanged).toBeGreaterThanOrEqual(10);
  expect(figures.bundlesAsked).toBeLessThanOrEqual(figures.bundlesChanged);
  expect(figures.bundlesAsked).toBeGreaterThanOrEqual(10);
  expect(figures.keysAsked).toBe(figures.keysChanged);
  expect(figures.keyListsAsked).toBe(0);
  expect(figures.holders).toBe(2);
  expect(figures.holderBytesMax).toBeLessThan(500);
  expect([figures.othersBytes, figures.othersAsked]).toEqual([0, 0]);
});
