import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { effectiveAtOf, readPriceFiles } from './read-price-files.ts';

export interface ApplyOptions {
  /** The folder that services read. */
  dir: string;
  /** New files, `<provider>.json`. */
  from: string;
  /** From when they are in force, a day or an instant in UTC: `2026-12-01`, `2026-12-01T12-00Z`. */
  at: string;
}

/**
 * Puts files beside those there are, as a version of its own that is in force
 * from a day on. Appears as a whole; what is in force is never changed.
 * @throws PriceFault for files that are not right, Error for a version that is there
 */
export async function applyPriceFiles({ dir, from, at }: ApplyOptions): Promise<string[]> {
  if (effectiveAtOf(at) === undefined)
    throw new Error(`${at} is no day or instant, as 2026-12-01 or 2026-12-01T12-00Z`);
  await readPriceFiles(from);
  const names = (await readdir(from)).filter(
    (name) => name.endsWith('.json') && !name.startsWith('.'),
  );
  if (names.length === 0) throw new Error(`${from} has no <provider>.json`);
  await mkdir(dir, { recursive: true });
  const target = join(dir, at);
  const draft = join(dir, `.${at}.${process.pid}`);
  await rm(draft, { recursive: true, force: true });
  try {
    await mkdir(draft);
    for (const name of names) await cp(join(from, name), join(draft, name));
    await rename(draft, target).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
      throw new Error(`${target} is there already: a version is never changed`);
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return names;
}
