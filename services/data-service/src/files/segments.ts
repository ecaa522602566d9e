import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

/**
 * How a piece of a content lies in the object store: AES-256-GCM, with the piece's place bound to it, so that none can stand for
 * another, of the same content or of another one, and the last one known for the last: what is cut off is seen.
 *
 * Layout: version (1) · iv (12) · tag (16) · ciphertext.
 */
const version = 1;
const ivBytes = 12;
const tagBytes = 16;
const headBytes = 1 + ivBytes + tagBytes;
const turnBytes = 64 * 1024;

/** Where a piece belongs. */
export interface Place {
  /** What it is a piece of. */
  readonly of: string;
  readonly index: number;
  readonly isLast: boolean;
}

/** Of whole contents: about what a put of an object store is worth. */
export const segmentBytes = 4 * 1024 * 1024;

export function sealSegment(dataKey: Buffer, place: Place, pieces: readonly Buffer[]): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', dataKey, iv).setAAD(boundTo(place));
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  const sealed = Buffer.allocUnsafeSlow(headBytes + length);
  let at = headBytes;
  // A little at a time, and into its place: whole segments twice over would be what a service holds.
  for (const piece of pieces)
    for (let from = 0; from < piece.length; from += turnBytes)
      at += cipher.update(piece.subarray(from, from + turnBytes)).copy(sealed, at);
  cipher.final();
  sealed[0] = version;
  iv.copy(sealed, 1);
  cipher.getAuthTag().copy(sealed, 1 + ivBytes);
  return sealed;
}

/** @throws when it was changed, is of another place, or was sealed with another key */
export function openSegment(dataKey: Buffer, place: Place, sealed: Buffer): Buffer {
  if (sealed[0] !== version || sealed.length < headBytes)
    throw new Error('this is no segment of a content');
  const iv = sealed.subarray(1, 1 + ivBytes);
  const decipher = createDecipheriv('aes-256-gcm', dataKey, iv, { authTagLength: tagBytes })
    .setAAD(boundTo(place))
    .setAuthTag(sealed.subarray(1 + ivBytes, headBytes));
  const piece = decipher.update(sealed.subarray(headBytes));
  // Of this mode nothing is left for the end but the check.
  decipher.final();
  return piece;
}

function boundTo({ of, index, isLast }: Place): Buffer {
  return Buffer.from(`sluice content 1\n${of}\n${index}\n${isLast ? 'last' : 'more'}`);
}
