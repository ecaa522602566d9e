import { createDecipheriv } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fromBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { emptyTables, type SectionName } from '../sections/index.ts';
import type { SnapshotContent } from './entries.ts';

const magic = Buffer.from('SLUICE3\n');
const ivBytes = 12;
const tagBytes = 16;

/** Those that there were in the release before. */
export const sectionsBefore = [
  'configs',
  'prompts',
  'promptVersions',
  'partials',
  'partialVersions',
] as const satisfies readonly SectionName[];

/**
 * What a gateway of the release before left: one file, encrypted as one. It is
 * read once and written never. `reason` says why it cannot be used.
 */
export async function readReleaseBefore(
  path: string,
  key: Buffer,
): Promise<{ content?: SnapshotContent; reason?: string }> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  if (!bytes.subarray(0, magic.length).equals(magic))
    return { reason: 'not a snapshot of the release before' };
  try {
    return { content: decode(decrypt(bytes.subarray(magic.length), key)) };
  } catch {
    return { reason: 'damaged, or written under another SNAPSHOT_KEY' };
  }
}

/** IV, content, tag. */
function decrypt(bytes: Buffer, key: Buffer): Buffer {
  const options = { authTagLength: tagBytes };
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, ivBytes), options)
    .setAAD(magic)
    .setAuthTag(bytes.subarray(bytes.length - tagBytes));
  const body = bytes.subarray(ivBytes, bytes.length - tagBytes);
  return Buffer.concat([decipher.update(body), decipher.final()]);
}

/**
 * A count of keys, then hash and key for each, then a count of bundles, then
 * each bundle and its tables, a count and what is in it for each, then a count
 * of organisations and for each itself and its keys. All but the counts are
 * prefixed by their length.
 */
function decode(bytes: Buffer): SnapshotContent {
  let at = 0;
  const count = () => {
    at += 4;
    return bytes.readUInt32LE(at - 4);
  };
  const part = () => {
    const length = count();
    at += length;
    return bytes.subarray(at - length, at);
  };
  const keys = Array.from({ length: count() }, () => ({
    hashHex: part().toString('hex'),
    key: fromBinary(config.KeySchema, part()),
  }));
  const bundles = Array.from({ length: count() }, () => {
    const source = fromBinary(config.BundleSchema, part());
    const tables = emptyTables();
    for (const name of sectionsBefore)
      for (let left = count(); left > 0; left -= 1) tables[name].add(part());
    return { source, known: undefined, ...tables };
  });
  const organisations = Array.from({ length: count() }, () => ({
    organisation: fromBinary(config.OrganisationSchema, part()),
    keyDocument: part().toString(),
  }));
  return { keys, bundles, organisations, keysMark: '' };
}
