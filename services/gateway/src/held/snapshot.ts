import { type Cipheriv, createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import type { WholeBundle } from '../compiled/compiled-bundle.ts';
import { emptyTables, tableNames } from './bundle-tables.ts';

/** What survives a restart without the control plane: every key, bundle and organisation held, nothing else. */
export interface SnapshotContent {
  keys: readonly { hashHex: string; key: config.Key }[];
  bundles: readonly WholeBundle[];
  organisations: readonly KeptOrganisation[];
}

export interface KeptOrganisation {
  organisation: config.Organisation;
  /** The keys that its identity provider gave; empty = none were fetched. */
  keyDocument: string;
}

const magic = Buffer.from('SLUICE3\n');
/** What the release before wrote: of each bundle only its configs, and no organisations. */
const magicBefore = Buffer.from('SLUICE2\n');
const ivBytes = 12;
const tagBytes = 16;

/** Bytes encoded and encrypted at a time: between two of them requests get their turn. */
const stepBytes = 64 * 1024;

/**
 * The last good configuration on disk, AES-256-GCM under SNAPSHOT_KEY: magic,
 * IV, content, tag. Keys are held by hash: the file, even decrypted, gives
 * nobody a caller's key; provider credentials it does hold, hence the encryption.
 */
export class SnapshotFile {
  private readonly path: string;
  private readonly key: Buffer;

  constructor(path: string, key: Buffer) {
    this.path = path;
    this.key = key;
  }

  /** Undefined when there is none or it cannot be read with this key (`reason` says why). */
  async load(): Promise<{ content?: SnapshotContent; reason?: string }> {
    let bytes: Buffer;
    try {
      bytes = await readFile(this.path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw error;
    }
    const found = [magic, magicBefore].find((each) => bytes.subarray(0, each.length).equals(each));
    if (found === undefined) return { reason: 'not a snapshot of this release' };
    try {
      return { content: decode(this.decrypt(bytes.subarray(found.length), found), found) };
    } catch {
      return { reason: 'damaged, or written under another SNAPSHOT_KEY' };
    }
  }

  /** Replaces the file at once: a reader sees the old or the new one, never a part. */
  async save(content: SnapshotContent): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    const file = await open(`${this.path}.tmp`, 'w', 0o600);
    try {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', this.key, iv).setAAD(magic);
      await file.appendFile(Buffer.concat([magic, iv]));
      await writeEncrypted(file, cipher, content);
      await file.appendFile(Buffer.concat([cipher.final(), cipher.getAuthTag()]));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${this.path}.tmp`, this.path);
  }

  private decrypt(bytes: Buffer, format: Buffer): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(0, ivBytes), {
      authTagLength: tagBytes,
    })
      .setAAD(format)
      .setAuthTag(bytes.subarray(bytes.length - tagBytes));
    const body = bytes.subarray(ivBytes, bytes.length - tagBytes);
    return Buffer.concat([decipher.update(body), decipher.final()]);
  }
}

async function writeEncrypted(
  file: FileHandle,
  cipher: Cipheriv,
  content: SnapshotContent,
): Promise<void> {
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  const flush = async (): Promise<void> => {
    const plain = Buffer.concat(waiting);
    waiting = [];
    waitingBytes = 0;
    await file.appendFile(cipher.update(plain));
  };
  for (const part of parts(content)) {
    waiting.push(part);
    waitingBytes += part.length;
    if (waitingBytes >= stepBytes) await flush();
  }
  await flush();
}

/**
 * A count of keys, then hash and key for each, then a count of bundles, then
 * each bundle and its tables, a count and what is in it for each, then a count
 * of organisations and for each itself and its keys. All but the counts are
 * prefixed by their length.
 */
function* parts(content: SnapshotContent): Generator<Buffer> {
  yield uint32(content.keys.length);
  for (const { hashHex, key } of content.keys) {
    yield prefixed(Buffer.from(hashHex, 'hex'));
    yield prefixed(toBinary(config.KeySchema, key));
  }
  yield uint32(content.bundles.length);
  for (const bundle of content.bundles) {
    yield prefixed(toBinary(config.BundleSchema, bundle.source));
    for (const name of tableNames) {
      yield uint32(bundle[name].size);
      for (const each of bundle[name].encoded()) yield prefixed(each);
    }
  }
  yield uint32(content.organisations.length);
  for (const { organisation, keyDocument } of content.organisations) {
    yield prefixed(toBinary(config.OrganisationSchema, organisation));
    yield prefixed(Buffer.from(keyDocument));
  }
}

function prefixed(bytes: Uint8Array): Buffer {
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function decode(bytes: Buffer, format: Buffer): SnapshotContent {
  const isBefore = format === magicBefore;
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
    for (const name of isBefore ? (['configs'] as const) : tableNames)
      for (let left = count(); left > 0; left -= 1) tables[name].add(part());
    return { source, ...tables };
  });
  const organisations = Array.from({ length: isBefore ? 0 : count() }, () => ({
    organisation: fromBinary(config.OrganisationSchema, part()),
    keyDocument: part().toString(),
  }));
  return { keys, bundles, organisations };
}
