import { defineConfig } from 'vitest/config';
import { LongestFirst } from './packages/testkit/src/longest-first.ts';

export default defineConfig({
  test: {
    // One Postgres and one demo upstream for the run, and the servers from Debian that some tests spawn.
    globalSetup: ['packages/testkit/src/global-setup.ts'],
    include: [
      'packages/*/src/**/*.test.ts',
      'services/*/{src,test}/**/*.test.ts',
      'scripts/**/*.test.ts',
    ],
    pool: 'forks',
    // Tests start real servers: many workers make them starve each other. A third of the time of
    // one worker is waiting, so that two cores are busy with three.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    testTimeout: 20_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
  },
});
