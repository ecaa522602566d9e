import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from './eventually.ts';
import { runFile } from './run-folder.ts';

const root = resolve(import.meta.dirname, '../../..');

/**
 * The gateway as one file, as images carry it and `npm start` runs it. A run
 * starts a hundred, and this one in a third of the time that its sources take.
 * Whoever asks first builds it.
 */
export async function builtGateway(): Promise<string> {
  const folder = runFile('built-gateway');
  const dir = join(folder, 'gateway');
  if (isFirst(folder))
    await promisify(execFile)(process.execPath, [
      '--disable-warning=ExperimentalWarning',
      join(root, 'scripts/build.ts'),
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
