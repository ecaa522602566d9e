import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { ServiceName } from '@sluice/stack';
import { onceInRun } from './once-in-run.ts';

const root = resolve(import.meta.dirname, '../../..');

/** All of them. */
export async function builtServices(): Promise<Record<ServiceName, string>> {
  const [gateway, controlPlane, dataService] = await Promise.all([
    builtService('gateway'),
    builtService('control-plane'),
    builtService('data-service'),
  ]);
  return { gateway, 'control-plane': controlPlane, 'data-service': dataService };
}

/**
 * A service as one file, as `npm start` runs it. A run of all tests starts three
 * hundred, and these in a half of the time that their sources take.
 */
export async function builtService(name: ServiceName): Promise<string> {
  const folder = await onceInRun(`built-${name}`, async (made) => {
    await promisify(execFile)(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      join(root, 'scripts/build.ts'),
      name,
      join(made, name),
    ]);
  });
  return join(folder, name, 'main.mjs');
}
