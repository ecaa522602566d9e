import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto';
import type { Checksum, SourceData } from '@smithy/types';

/** SHA-256, or with a secret HMAC-SHA-256, as the signing library wants it made. */
export class Sha256 implements Checksum {
  readonly #secret: SourceData | undefined;
  #state: Hash | Hmac;

  constructor(secret?: SourceData) {
    this.#secret = secret;
    this.#state = this.#begin();
  }

  update(data: Uint8Array): void {
    this.#state.update(data);
  }

  async digest(): Promise<Uint8Array> {
    return this.#state.digest();
  }

  reset(): void {
    this.#state = this.#begin();
  }

  #begin(): Hash | Hmac {
    return this.#secret === undefined
      ? createHash('sha256')
      : createHmac('sha256', bytesOf(this.#secret));
  }
}

function bytesOf(data: SourceData): Uint8Array | string {
  if (typeof data === 'string') return data;
  return ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
}
