import { createHash, type KeyObject, sign } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { signatureName, sumsName, writeSums } from './sums.ts';

/** Lists all files of a folder but the signature's own, and signs the list. Answers with their paths. */
export async function signFolder(dir: string, key: KeyObject): Promise<string[]> {
  const sums = await sumsOf(dir);
  const text = writeSums(sums);
  await writeFile(join(dir, sumsName), text);
  await writeFile(join(dir, signatureName), sign('sha256', Buffer.from(text), key));
  return [...sums.keys()];
}

/** Hashes of all files below a folder, by path, without those of a signature. */
export async function sumsOf(dir: string): Promise<Map<string, string>> {
  const sums = new Map<string, string>();
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(join(dir, '/').length))
    .filter((path) => path !== sumsName && path !== signatureName)
    .sort();
  for (const path of paths) {
    const hash = createHash('sha256');
    await pipeline(createReadStream(join(dir, path)), hash);
    sums.set(path, hash.digest('hex'));
  }
  return sums;
}
