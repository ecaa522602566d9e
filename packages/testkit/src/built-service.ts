import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { ServiceName } from '@sluice/stack';
import { eventually } from './eventually.ts';
import { runFile } from './run-folder.ts';

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
 * hundred, and these in a half of the time that their sources take. Whoever asks
 * first builds it.
 */
export async function builtService(name: ServiceName): Promise<string> {
  const folder = runFile(`built-${name}`);
  const dir = join(folder, name);
  if (isFirst(folder))
    await promisify(execFile)(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      join(root, 'scripts/build.ts'),
      name,
      dir,
    ]);
  // The build ends with it.
  await eventually(() => access(join(dir, 'sources.json')), { timeoutMs: 60_000 });
  return join(dir, 'main.mjs');
}

function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
