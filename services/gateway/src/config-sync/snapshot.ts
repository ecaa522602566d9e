import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';

/** What survives a restart without the control plane: every key and bundle held, nothing else. */
export interface SnapshotContent {
  keys: { hashHex: string; key: config.Key }[];
  bundles: config.Bundle[];
}

const magic = Buffer.from('SLUICE1\n');

/**
 * The last good configuration on disk, AES-256-GCM under SNAPSHOT_KEY. Keys are
 * held by hash: the file, even decrypted, gives nobody a caller's key; provider
 * credentials it does hold, hence the encryption.
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
    if (!bytes.subarray(0, magic.length).equals(magic))
      return { reason: 'not a snapshot of this release' };
    try {
      return { content: decode(this.decrypt(bytes.subarray(magic.length))) };
    } catch {
      return { reason: 'damaged, or written under another SNAPSHOT_KEY' };
    }
  }

  /** Replaces the file at once: a reader sees the old or the new one, never a part. */
  async save(content: SnapshotContent): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
    const file = await open(`${this.path}.tmp`, 'w', 0o600);
    try {
      await file.write(Buffer.concat([magic, this.encrypt(encode(content))]));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${this.path}.tmp`, this.path);
  }

  private encrypt(plain: Buffer): Buffer {
    const iv = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', this.key, iv).setAAD(magic);
    const body = Buffer.concat([cipher.update(plain), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), body]);
  }

  private decrypt(bytes: Buffer): Buffer {
    const decipher = createDecipheriv('aes-256-gcm', this.key, bytes.subarray(0, 12)).setAAD(magic);
    decipher.setAuthTag(bytes.subarray(12, 28));
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]);
  }
}

/** Length-prefixed protobuf parts: a count of keys, then hash and key for each; the rest are bundles. */
function encode(content: SnapshotContent): Buffer {
  const parts: Buffer[] = [];
  const add = (bytes: Uint8Array) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    parts.push(length, Buffer.from(bytes));
  };
  const count = Buffer.alloc(4);
  count.writeUInt32LE(content.keys.length);
  parts.push(count);
  for (const { hashHex, key } of content.keys) {
    add(Buffer.from(hashHex, 'hex'));
    add(toBinary(config.KeySchema, key));
  }
  for (const bundle of content.bundles) add(toBinary(config.BundleSchema, bundle));
  return Buffer.concat(parts);
}

function decode(bytes: Buffer): SnapshotContent {
  let at = 4;
  const take = () => {
    const length = bytes.readUInt32LE(at);
    const part = bytes.subarray(at + 4, at + 4 + length);
    at += 4 + length;
    return part;
  };
  const keys = Array.from({ length: bytes.readUInt32LE(0) }, () => ({
    hashHex: take().toString('hex'),
    key: fromBinary(config.KeySchema, take()),
  }));
  const bundles: config.Bundle[] = [];
  while (at < bytes.length) bundles.push(fromBinary(config.BundleSchema, take()));
  return { keys, bundles };
}
