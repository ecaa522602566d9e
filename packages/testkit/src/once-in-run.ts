import { mkdirSync, writeFileSync } from 'node:fs';
import { access } from 'node:fs/promises';
import { eventually } from './eventually.ts';
import { testMs } from './patience.ts';
import { runFile } from './run-folder.ts';

/** A folder that all tests of a run share: whoever asks first makes what is in it, the others wait until it is whole. */
export async function onceInRun(
  name: string,
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const folder = runFile(name);
  const note = `${folder}.made`;
  if (isFirst(folder)) {
    await make(folder);
    writeFileSync(note, '');
  }
  await eventually(() => access(note), { timeoutMs: testMs });
  return folder;
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
