import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Instant } from './instants.ts';

const root = resolve(import.meta.dirname, '../..');

export interface InstantRun {
  readonly passed: boolean;
  readonly output: string;
}

/**
 * Runs test files in a world whose clock begins at an instant: their own
 * process, the services that they start, and Postgres. Timers go by the
 * clock that only counts, and are left alone.
 */
export function runAt(instant: Instant, suites: readonly string[]): InstantRun {
  const offset = Math.round((instant.at.getTime() - Date.now()) / 1000);
  const result = spawnSync(
    process.execPath,
    [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--testTimeout=60000', ...suites],
    {
      cwd: root,
      encoding: 'utf8',
      maxBuffer: 256 * 1024 * 1024,
      env: {
        ...process.env,
        TZ: instant.zone,
        LD_PRELOAD: faketimeLibrary(),
        FAKETIME: `+${offset}s`,
        FAKETIME_DONT_FAKE_MONOTONIC: '1',
        // Node and the library would disagree about the times of files.
        NO_FAKE_STAT: '1',
      },
    },
  );
  return { passed: result.status === 0, output: `${result.stdout}${result.stderr}` };
}

/** Of Debian's package `faketime`, which the tests' set-up installs. */
function faketimeLibrary(): string {
  const path = readdirSync('/usr/lib')
    .map((folder) => join('/usr/lib', folder, 'faketime/libfaketime.so.1'))
    .find(existsSync);
  if (path === undefined)
    throw new Error('Install faketime, for example: sudo apt-get install faketime');
  return path;
}
