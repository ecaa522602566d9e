import { hash, type KeyObject, sign } from 'node:crypto';
import { GatewayError } from '@sluice/errors';
import { FairPlaces } from '../fair-places.ts';
import { type PlaceTerms, withPlace } from '../with-place.ts';
import { decryptKey } from './decrypt-key.ts';
import { openKey } from './open-key.ts';
import { readPem } from './pem.ts';
import { PrivateKeyFault } from './private-key-fault.ts';

/** An RSA key as somebody outside wrote it, in a header, a config or a saved provider. */
export interface WrittenKey {
  /** PEM, or that in base64. */
  text: string;
  /** Undefined = the key must not be encrypted: what it takes to open one is for admins to decide, not for callers. */
  passphrase?: string | undefined;
}

export interface SigningRequest {
  key: WrittenKey;
  bytes: Buffer;
  /** Whose work it is, for taking turns: the workspace. */
  owner: string;
  /** Ends the wait for a place. */
  signal: AbortSignal;
}

export interface OpenedKeysOptions {
  keysMax?: number;
  /** Until a thread is free. */
  patienceMs?: number;
}

/** Two of Node's four threads: the others are for look-ups, files and compression. */
const threadsMax = 2;

/**
 * Keys of the outside, opened once, and what is signed with them. Opening looks
 * at sizes before it works; signing is another thread's work, and never takes
 * all threads.
 */
export class OpenedKeys {
  /** By the hash of what was written; the longest unused first. */
  readonly #keys = new Map<string, Promise<KeyObject>>();
  readonly #keysMax: number;
  readonly #terms: PlaceTerms;

  constructor(options: OpenedKeysOptions = {}) {
    this.#keysMax = options.keysMax ?? 500;
    this.#terms = {
      places: new FairPlaces({
        what: 'a signature',
        ownerMax: threadsMax,
        allMax: threadsMax,
        waitingMax: 200,
      }),
      waitingAllMax: 1_000,
      patienceMs: options.patienceMs ?? 2_000,
      refusal: tooManySignatures,
    };
  }

  get size(): number {
    return this.#keys.size;
  }

  /**
   * RSASSA-PKCS1-v1_5 with SHA-256, which is what clouds take.
   * @throws PrivateKeyFault for a key that is not taken
   * @throws GatewayError `overloaded` when no thread comes free in time
   */
  async sign({ key, bytes, owner, signal }: SigningRequest): Promise<Buffer> {
    const opened = await this.#open(key, owner);
    return withPlace(this.#terms, owner, async () => {
      signal.throwIfAborted();
      return signRs256(bytes, opened);
    });
  }

  #open(key: WrittenKey, owner: string): Promise<KeyObject> {
    const name = hash('sha256', JSON.stringify([key.text, key.passphrase]), 'base64url');
    const known = this.#keys.get(name);
    if (known !== undefined) {
      this.#keys.delete(name);
      this.#keys.set(name, known);
      return known;
    }
    const opening = this.#openNow(key, owner);
    this.#keys.set(name, opening);
    if (this.#keys.size > this.#keysMax)
      this.#keys.delete(this.#keys.keys().next().value as string);
    // A fault is found as cheaply again, and must not push a good key out.
    opening.catch(() => {
      if (this.#keys.get(name) === opening) this.#keys.delete(name);
    });
    return opening;
  }

  async #openNow({ text, passphrase }: WrittenKey, owner: string): Promise<KeyObject> {
    const pem = readPem(text);
    if (!pem.hasHeaders && pem.form !== 'ENCRYPTED') return openKey(pem, ['rsa']);
    if (passphrase === undefined)
      throw new PrivateKeyFault('is encrypted; only a saved key with a saved passphrase may be');
    return openKey(await withPlace(this.#terms, owner, () => decryptKey(pem, passphrase)), ['rsa']);
  }
}

function signRs256(bytes: Buffer, key: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    sign('sha256', bytes, key, (error, signature) => {
      if (error === null) resolve(signature);
      // Numbers that are no key's: OpenSSL checks what it made.
      else reject(new PrivateKeyFault('cannot sign'));
    });
  });
}

function tooManySignatures(): GatewayError {
  return new GatewayError('overloaded', {
    message: 'Too many requests wait to be signed; try again in a moment.',
    headers: { 'retry-after': '1' },
  });
}
