import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/**
 * Credentials at rest. Each value is encrypted with a data key of its own, and
 * that key is wrapped by the master key. Both are bound to the row they belong
 * to, so that a value copied to another row does not open there.
 *
 * Layout: version (1) · iv (12) · tag (16) · wrapped key (32) · iv (12) · tag (16) · ciphertext.
 */
const version = 1;
const ivBytes = 12;
const tagBytes = 16;
const keyBytes = 32;
const wrappedBytes = ivBytes + tagBytes + keyBytes;

export interface CredentialVault {
  seal(plaintext: string, row: RowAddress): Buffer;
  /** @throws when the value was changed, belongs to another row, or was sealed under another master key. */
  open(sealed: Buffer, row: RowAddress): string;
  /** The same value, its key wrapped by the master key in use; undefined where it is so already. @throws as `open` does */
  rewrapped(sealed: Buffer, row: RowAddress): Buffer | undefined;
}

export interface RowAddress {
  table: string;
  id: string;
}

/** @param keysAlso  further keys that values may be sealed under, while the master key is rotated; nothing is sealed with them */
export function createCredentialVault(
  masterKey: Buffer,
  keysAlso: readonly Buffer[] = [],
): CredentialVault {
  const keys = [masterKey, ...keysAlso];

  /** The data key, and which master key it was wrapped by. */
  function unwrap(sealed: Buffer, bound: Buffer): { dataKey: Buffer; by: Buffer } {
    if (sealed[0] !== version)
      throw new Error(`a sealed value of version ${sealed[0]} cannot be read`);
    const wrapped = sealed.subarray(1, 1 + wrappedBytes);
    let fault: unknown;
    for (const by of keys)
      try {
        return { dataKey: decrypt(by, wrapped, bound), by };
      } catch (error) {
        fault = error;
      }
    throw fault;
  }

  return {
    seal(plaintext, row) {
      const bound = Buffer.from(`${row.table}:${row.id}`);
      const dataKey = randomBytes(keyBytes);
      return Buffer.concat([
        Buffer.of(version),
        encrypt(masterKey, dataKey, bound),
        encrypt(dataKey, Buffer.from(plaintext, 'utf8'), bound),
      ]);
    },
    open(sealed, row) {
      const bound = Buffer.from(`${row.table}:${row.id}`);
      const { dataKey } = unwrap(sealed, bound);
      return decrypt(dataKey, sealed.subarray(1 + wrappedBytes), bound).toString('utf8');
    },
    rewrapped(sealed, row) {
      const bound = Buffer.from(`${row.table}:${row.id}`);
      const { dataKey, by } = unwrap(sealed, bound);
      if (by === masterKey) return undefined;
      return Buffer.concat([
        Buffer.of(version),
        encrypt(masterKey, dataKey, bound),
        sealed.subarray(1 + wrappedBytes),
      ]);
    },
  };
}

function encrypt(key: Buffer, plaintext: Buffer, bound: Buffer): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(bound);
  const ciphertext = Buffer.concat([cipher.update(plaintext), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), ciphertext]);
}

function decrypt(key: Buffer, sealed: Buffer, bound: Buffer): Buffer {
  const iv = sealed.subarray(0, ivBytes);
  const tag = sealed.subarray(ivBytes, ivBytes + tagBytes);
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
    .setAAD(bound)
    .setAuthTag(tag);
  return Buffer.concat([decipher.update(sealed.subarray(ivBytes + tagBytes)), decipher.final()]);
}
