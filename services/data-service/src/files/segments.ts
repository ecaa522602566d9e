import {
  type CipherGCM,
  createCipheriv,
  createDecipheriv,
  type DecipherGCM,
  randomBytes,
} from 'node:crypto';

/**
 * How a piece of a content lies in the object store: AES-256-GCM, with the piece's place bound to it, so that none can stand for
 * another, of the same content or of another one, and the last one known for the last: what is cut off is seen.
 *
 * Layout: version (1) · iv (12) · tag (16) · ciphertext.
 */
const version = 1;
const ivBytes = 12;
const tagBytes = 16;
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

/** Before the ciphertext of each. */
export const headBytes = 1 + ivBytes + tagBytes;

/** @returns a buffer of its own */
export function sealSegment(dataKey: Buffer, place: Place, content: Buffer): Buffer {
  const room = Buffer.allocUnsafeSlow(headBytes + content.length);
  content.copy(room, headBytes);
  return sealInPlace(dataKey, place, room);
}

/**
 * Seals what stands behind the first `headBytes` of `room`, where it stands: whole segments twice over would be what a service holds.
 * @returns `room`
 */
export function sealInPlace(dataKey: Buffer, place: Place, room: Buffer): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv('aes-256-gcm', dataKey, iv).setAAD(boundTo(place));
  turnInPlace(cipher, room.subarray(headBytes));
  cipher.final();
  room[0] = version;
  iv.copy(room, 1);
  cipher.getAuthTag().copy(room, 1 + ivBytes);
  return room;
}

/**
 * Opens it where it stands: `sealed` is used up.
 * @returns a part of `sealed`
 * @throws when it was changed, is of another place, or was sealed with another key
 */
export function openSegment(dataKey: Buffer, place: Place, sealed: Buffer): Buffer {
  if (sealed[0] !== version || sealed.length < headBytes)
    throw new Error('this is no segment of a content');
  const iv = sealed.subarray(1, 1 + ivBytes);
  const decipher = createDecipheriv('aes-256-gcm', dataKey, iv, { authTagLength: tagBytes })
    .setAAD(boundTo(place))
    .setAuthTag(sealed.subarray(1 + ivBytes, headBytes));
  const content = sealed.subarray(headBytes);
  turnInPlace(decipher, content);
  // Of this mode nothing is left for the end but the check.
  decipher.final();
  return content;
}

/** A little at a time: what a cipher gives is a new buffer. */
function turnInPlace(cipher: CipherGCM | DecipherGCM, content: Buffer): void {
  for (let from = 0; from < content.length; from += turnBytes)
    cipher.update(content.subarray(from, from + turnBytes)).copy(content, from);
}

function boundTo({ of, index, isLast }: Place): Buffer {
  return Buffer.from(`sluice content 1\n${of}\n${index}\n${isLast ? 'last' : 'more'}`);
}
