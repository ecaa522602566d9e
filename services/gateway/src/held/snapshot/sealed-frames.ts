import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const ivBytes = 12;
const tagBytes = 16;
const headBytes = 4 + ivBytes;

/** What a frame is longer than its content. */
export const frameOverheadBytes = headBytes + tagBytes;

/**
 * Bytes in frames, each encrypted by itself: AES-256-GCM under SNAPSHOT_KEY. A
 * frame is bound to its file and its place in it, so that none can be moved,
 * left out or brought back; what a dying process wrote of the last one is seen
 * to be no frame.
 */
export class SealedFrames {
  readonly #keys: readonly Buffer[];
  readonly #file: string;
  #place = 0;
  /** Something was opened that the key in use had not sealed. */
  isOfOtherKey = false;

  /**
   * @param keys the first seals, and what any of them sealed is opened
   * @param file what the file is called: another name is another file
   */
  constructor(keys: readonly Buffer[], file: string) {
    this.#keys = keys;
    this.#file = file;
  }

  seal(plain: Buffer): Buffer {
    const iv = randomBytes(ivBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#keys[0] as Buffer, iv).setAAD(this.#next());
    const sealed = [cipher.update(plain), cipher.final()];
    const length = Buffer.alloc(4);
    length.writeUInt32LE(plain.length);
    return Buffer.concat([length, iv, ...sealed, cipher.getAuthTag()]);
  }

  /** The frames of a file, up to the first that is none. */
  *open(bytes: Buffer): Generator<Buffer> {
    for (let at = 0; at + headBytes + tagBytes <= bytes.length; ) {
      const length = bytes.readUInt32LE(at);
      const end = at + headBytes + length + tagBytes;
      if (end > bytes.length) return;
      const plain = this.#opened(bytes.subarray(at, end), length);
      if (plain === undefined) return;
      yield plain;
      at = end;
    }
  }

  #opened(frame: Buffer, length: number): Buffer | undefined {
    const options = { authTagLength: tagBytes };
    const iv = frame.subarray(4, headBytes);
    const place = this.#next();
    for (const key of this.#keys) {
      const decipher = createDecipheriv('aes-256-gcm', key, iv, options)
        .setAAD(place)
        .setAuthTag(frame.subarray(headBytes + length));
      try {
        const body = frame.subarray(headBytes, headBytes + length);
        const plain = Buffer.concat([decipher.update(body), decipher.final()]);
        this.isOfOtherKey ||= key !== this.#keys[0];
        return plain;
      } catch {
        // Another key may be the one.
      }
    }
    return undefined;
  }

  #next(): Buffer {
    const place = this.#place;
    this.#place += 1;
    return Buffer.from(`sluice ${this.#file} ${place}`);
  }
}
