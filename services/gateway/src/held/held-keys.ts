import { hashServiceKey, isWellFormedServiceKey } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { config } from '@sluice/proto-stubs';
import { type ResolvedKey, resolvedKey } from '../compiled/resolved-key.ts';
import type { ConfigSource } from './config-source.ts';

export interface HeldKeysOptions {
  source: Pick<ConfigSource, 'resolveKey'>;
  pepper: Buffer;
  countMax: number;
  negativeMax: number;
  negativeTtlMs: number;
  /** Look-ups of unknown keys under way at once; the rest is refused, so that a storm stays here. */
  lookupsMax: number;
  /** Told of what is worth keeping; no key = it is gone. */
  onChange: (hashHex: string, key: config.Key | undefined) => void;
}

/** Keys the gateway holds, by hash. One that was never seen before is asked for once. */
export class HeldKeys {
  readonly #options: HeldKeysOptions;
  /** By the secret as sent, so that the usual request costs no HMAC. */
  readonly #bySecret = new Map<string, ResolvedKey>();
  readonly #byHash = new Map<string, ResolvedKey>();
  /** Hashes of the secrets of a key: two during the overlap of a rotation. */
  readonly #hashesById = new Map<string, Set<string>>();
  /** Hash of a key that does not exist → when to ask again. */
  readonly #unknown = new Map<string, number>();
  readonly #lookups = new Map<string, Promise<ResolvedKey | undefined>>();
  /** Keys being fetched again. */
  readonly #refreshes = new Map<string, { isStale: boolean; done: Promise<void> }>();
  #changes = 0;
  /** Asked for since the start. */
  lookups = 0;

  constructor(options: HeldKeysOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#byHash.size;
  }

  held(secret: string): ResolvedKey | undefined {
    return this.#bySecret.get(secret);
  }

  all(): { hashHex: string; key: config.Key }[] {
    return [...this.#byHash.values()].map(({ hashHex, source }) => ({ hashHex, key: source }));
  }

  hashes(): string[] {
    return [...this.#byHash.keys()];
  }

  restore(keys: readonly { hashHex: string; key: config.Key }[]): void {
    for (const { hashHex, key } of keys) this.#place(resolvedKey(hashHex, key));
  }

  /**
   * The key of a secret; undefined when there is none.
   * @throws GatewayError `auth.unavailable` when it is not known here and cannot be asked for.
   */
  async find(secret: string): Promise<ResolvedKey | undefined> {
    if (!isWellFormedServiceKey(secret)) return undefined;
    const hash = hashServiceKey(secret, this.#options.pepper);
    const hashHex = hash.toString('hex');
    const found = this.#byHash.get(hashHex) ?? (await this.#lookUp(hash, hashHex));
    if (found !== undefined) this.#bySecret.set(secret, found);
    return found;
  }

  /** One that was refused may have come back; whoever asks again costs one look-up. */
  forgetUnknown(): void {
    this.#unknown.clear();
  }

  /** Fetches the secrets of this key again, those that are held. */
  async changed(keyId: string): Promise<void> {
    this.#changes += 1;
    this.forgetUnknown();
    const hashes = [...(this.#hashesById.get(keyId) ?? [])];
    await Promise.all(hashes.map((hashHex) => this.refresh(hashHex)));
  }

  /**
   * Fetches a held key again. One fetch a key at a time: of two under way the
   * older answer could arrive last and revive a key that was deleted.
   */
  refresh(hashHex: string): Promise<void> {
    const underWay = this.#refreshes.get(hashHex);
    if (underWay !== undefined) {
      underWay.isStale = true;
      return underWay.done;
    }
    const refresh = { isStale: false, done: Promise.resolve() };
    this.#refreshes.set(hashHex, refresh);
    refresh.done = this.#refresh(hashHex, refresh).finally(() => this.#refreshes.delete(hashHex));
    return refresh.done;
  }

  async #refresh(hashHex: string, state: { isStale: boolean }): Promise<void> {
    do {
      state.isStale = false;
      const key = await this.#options.source.resolveKey(Buffer.from(hashHex, 'hex'));
      if (key !== undefined) {
        this.#bySecret.clear();
        this.#hold(resolvedKey(hashHex, key));
      } else {
        this.#forget(hashHex);
        this.#rememberUnknown(hashHex);
      }
    } while (state.isStale);
  }

  async #lookUp(hash: Buffer, hashHex: string): Promise<ResolvedKey | undefined> {
    const askAgainAt = this.#unknown.get(hashHex);
    if (askAgainAt !== undefined && askAgainAt > Date.now()) return undefined;
    const underWay = this.#lookups.get(hashHex);
    if (underWay !== undefined) return underWay;
    if (this.#lookups.size >= this.#options.lookupsMax)
      throw new GatewayError('auth.unavailable', { headers: { 'retry-after': '1' } });
    this.lookups += 1;
    const lookup = this.#fetch(hash, hashHex)
      .catch((error: unknown) => {
        throw new GatewayError('auth.unavailable', {
          cause: error,
          headers: { 'retry-after': '1' },
        });
      })
      .finally(() => this.#lookups.delete(hashHex));
    this.#lookups.set(hashHex, lookup);
    return lookup;
  }

  async #fetch(hash: Buffer, hashHex: string): Promise<ResolvedKey | undefined> {
    for (;;) {
      const changesBefore = this.#changes;
      const key = await this.#options.source.resolveKey(hash);
      // A change told meanwhile may be one of this very key.
      if (this.#changes !== changesBefore) continue;
      if (key === undefined) this.#rememberUnknown(hashHex);
      else this.#hold(resolvedKey(hashHex, key));
      return this.#byHash.get(hashHex);
    }
  }

  #rememberUnknown(hashHex: string): void {
    const { negativeMax, negativeTtlMs } = this.#options;
    if (this.#unknown.size >= negativeMax) dropOldest(this.#unknown, negativeMax / 10);
    this.#unknown.set(hashHex, Date.now() + negativeTtlMs);
  }

  #hold(key: ResolvedKey): void {
    if (this.#byHash.size >= this.#options.countMax) this.#makeRoom();
    this.#place(key);
    this.#unknown.delete(key.hashHex);
    this.#options.onChange(key.hashHex, key.source);
  }

  #place(key: ResolvedKey): void {
    this.#byHash.set(key.hashHex, key);
    const { id } = key.source;
    const hashes = this.#hashesById.get(id);
    if (hashes === undefined) this.#hashesById.set(id, new Set([key.hashHex]));
    else hashes.add(key.hashHex);
  }

  #forget(hashHex: string): void {
    const key = this.#byHash.get(hashHex);
    if (key === undefined) return;
    this.#byHash.delete(hashHex);
    const hashes = this.#hashesById.get(key.source.id);
    hashes?.delete(hashHex);
    if (hashes?.size === 0) this.#hashesById.delete(key.source.id);
    // Secrets are not listed by key: the map is rebuilt by the next requests.
    this.#bySecret.clear();
    this.#options.onChange(hashHex, undefined);
  }

  #makeRoom(): void {
    let left = this.#options.countMax / 10;
    for (const hashHex of this.#byHash.keys()) {
      if (left-- <= 0) return;
      this.#forget(hashHex);
    }
  }
}

/** Maps keep insertion order: the first are the oldest. */
function dropOldest(map: Map<string, unknown>, count: number): void {
  let left = count;
  for (const key of map.keys()) {
    if (left-- <= 0) return;
    map.delete(key);
  }
}
