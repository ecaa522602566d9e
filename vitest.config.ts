import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // One Postgres for the run, and the servers from Debian that some tests spawn.
    globalSetup: ['packages/testkit/src/global-setup.ts'],
    include: [
      'packages/*/src/**/*.test.ts',
      'services/*/{src,test}/**/*.test.ts',
      'scripts/**/*.test.ts',
    ],
    pool: 'forks',
    // Tests start real servers; more workers than this make them starve each other.
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    teardownTimeout: 30_000,
  },
});
