import { defineConfig } from 'vitest/config';
import { LongestFirst } from './packages/testkit/src/longest-first.ts';
import { testMs, waitMs } from './packages/testkit/src/patience.ts';
import { SlowestFiles } from './packages/testkit/src/slowest-files.ts';

const installations = ['packages/{stack,testkit,demo-upstream}/src/**/*.test.ts'];

export default defineConfig({
  test: {
    // One Postgres and one demo upstream for the run, and the servers from Debian that some tests spawn.
    globalSetup: ['packages/testkit/src/global-setup.ts'],
    setupFiles: [
      // The CPU of each file, which the list of the slowest shows.
      'packages/testkit/src/note-cpu.ts',
      'packages/testkit/src/bring-back-after-failure.ts',
    ],
    projects: [
      // Beside their source: each file takes its modules as the one before left them, which halves its time.
      {
        extends: true,
        test: {
          name: 'units',
          include: ['packages/*/src/**/*.test.ts', 'services/*/src/**/*.test.ts'],
          exclude: installations,
          isolate: false,
        },
      },
      // The control plane in the worker's own process: its files share modules, not databases.
      {
        extends: true,
        test: {
          name: 'control-plane',
          include: ['services/control-plane/test/**/*.test.ts'],
          isolate: false,
        },
      },
      // Start processes and servers of their own, which are what each file has for itself.
      {
        extends: true,
        test: {
          name: 'installations',
          isolate: false,
          include: [
            ...installations,
            'services/{gateway,data-service}/test/**/*.test.ts',
            'scripts/**/*.test.ts',
          ],
        },
      },
    ],
    pool: 'forks',
    // Tests start real servers: many workers make them starve each other. More than half of the time of
    // one worker is waiting: with four an eighth of two cores was idle.
    maxWorkers: 5,
    reporters: ['default', new SlowestFiles()],
    sequence: { sequencer: LongestFirst },
    // Each test fails twice on purpose (`npm run test:goes`).
    ...(process.env.SLUICE_FAILED_GOES === 'true' && {
      runner: './packages/testkit/src/failed-goes.ts',
      retry: { count: 2, delay: 300 },
    }),
    testTimeout: testMs,
    hookTimeout: testMs,
    // One second is the runner's own, which a busy machine takes for a single request.
    expect: { poll: { timeout: waitMs } },
    teardownTimeout: 30_000,
  },
});
