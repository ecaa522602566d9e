import { createHash, type KeyObject, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSums, SignatureFault, signatureName, sumsName } from './sums.ts';

/** What a folder's signature says of its files. */
export interface SignedFolder {
  /** @throws SignatureFault when these are not the bytes that were signed under this path */
  check(path: string, bytes: Uint8Array): void;
  /** @throws SignatureFault naming a file that is signed and not among these, or the reverse */
  expectAll(paths: readonly string[]): void;
}

/** @throws SignatureFault when the list is not signed by one of the keys, Error when it cannot be read */
export async function openSignedFolder(
  dir: string,
  keys: readonly KeyObject[],
): Promise<SignedFolder> {
  const text = await readSigned(dir, sumsName);
  const signature = await readSigned(dir, signatureName);
  if (!keys.some((key) => verify('sha256', text, key, signature)))
    throw new SignatureFault(sumsName, 'is not what was signed, or not by a key that is trusted');
  const sums = readSums(text.toString('utf8'));
  return {
    check(path, bytes) {
      const expected = sums.get(path);
      if (expected === undefined) throw new SignatureFault(path, 'is not signed');
      if (createHash('sha256').update(bytes).digest('hex') !== expected)
        throw new SignatureFault(path, 'is not what was signed');
    },
    expectAll(paths) {
      const there = new Set(paths);
      for (const path of paths)
        if (!sums.has(path)) throw new SignatureFault(path, 'is not signed');
      for (const path of sums.keys())
        if (!there.has(path)) throw new SignatureFault(path, 'was signed, and is missing');
    },
  };
}

function readSigned(dir: string, name: string): Promise<Buffer> {
  return readFile(join(dir, name)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new SignatureFault(name, 'is missing, and nothing is taken that is not signed');
  });
}
