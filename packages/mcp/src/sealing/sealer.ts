import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { JsonValue } from '@sluice/contracts';
import { jsonBounds, readJson } from '@sluice/json';

const version = 1;
const saltBytes = 16;
const ivBytes = 12;
const tagBytes = 16;
const headBytes = 1 + saltBytes + ivBytes;

/** Ids are headers, and servers take some kilobytes of those. */
export const sealedLengthMax = 2048;
/** Sealed texts in bodies: states, URIs and cursors of members. */
export const sealedBodyLengthMax = 16 * 1024;

export interface Sealer {
  /**
   * A text of A–Z, a–z, 0–9, - and _ that only we can read or make. What was sealed as one kind does not open as another.
   * @throws RangeError where it would be longer than `lengthMax`
   */
  seal(kind: string, payload: JsonValue, lengthMax?: number): string;
  /** What was sealed; undefined where this is not what we made, whole and as this kind. */
  open(kind: string, text: string): JsonValue | undefined;
}

/**
 * AES-256-GCM, each text under a key of its own (HKDF of a random salt), so that any number may be sealed.
 * Layout: version (1) · salt (16) · iv (12) · ciphertext · tag (16), in base64url.
 * @param keys the first seals, and what any of them sealed is opened; 32 bytes or more each
 */
export function createSealer(keys: readonly Buffer[]): Sealer {
  const [first] = keys;
  if (first === undefined) throw new Error('a sealer needs a key');
  for (const key of keys) if (key.length < 32) throw new Error('a sealing key needs 32 bytes');

  return {
    seal(kind, payload, lengthMax = sealedLengthMax) {
      const plain = Buffer.from(JSON.stringify(payload), 'utf8');
      const length = Math.ceil(((headBytes + plain.length + tagBytes) * 4) / 3);
      if (length > lengthMax)
        throw new RangeError(`${kind} takes ${length} characters sealed, at most ${lengthMax}`);
      const head = randomBytes(headBytes);
      head[0] = version;
      const cipher = createCipheriv('aes-256-gcm', keyOf(first, kind, head), ivOf(head));
      cipher.setAAD(boundTo(kind));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([head, body, cipher.getAuthTag()]).toString('base64url');
    },

    open(kind, text) {
      if (text.length > sealedBodyLengthMax) return undefined;
      const bytes = Buffer.from(text, 'base64url');
      // The decoder steps over what is no base64: two texts must not be one id, or an ended one lives on.
      if (bytes.toString('base64url') !== text) return undefined;
      if (bytes.length < headBytes + tagBytes || bytes[0] !== version) return undefined;
      for (const key of keys) {
        const plain = opened(key, kind, bytes);
        if (plain !== undefined) return readJson(plain, jsonBounds.small) as JsonValue;
      }
      return undefined;
    },
  };
}

function opened(key: Buffer, kind: string, bytes: Buffer): Buffer | undefined {
  const end = bytes.length - tagBytes;
  const options = { authTagLength: tagBytes };
  const decipher = createDecipheriv('aes-256-gcm', keyOf(key, kind, bytes), ivOf(bytes), options);
  decipher.setAAD(boundTo(kind)).setAuthTag(bytes.subarray(end));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(headBytes, end)), decipher.final()]);
  } catch {
    return undefined;
  }
}

function keyOf(key: Buffer, kind: string, head: Buffer): Buffer {
  const salt = head.subarray(1, 1 + saltBytes);
  return Buffer.from(hkdfSync('sha256', key, salt, boundTo(kind), 32));
}

function ivOf(head: Buffer): Buffer {
  return head.subarray(1 + saltBytes, headBytes);
}

function boundTo(kind: string): Buffer {
  return Buffer.from(`sluice mcp ${kind}`);
}
