import { equals } from '@bufbuild/protobuf';
import {
  batchKeySecret,
  hashServiceKey,
  isWellFormedServiceKey,
  mcpGrantSecret,
  pepperName,
} from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { config } from '@sluice/proto-stubs';
import { type ResolvedKey, resolvedKey } from '../compiled/resolved-key.ts';
import type { ConfigSource, KeyHashes } from './config-source.ts';

export interface HeldKeysOptions {
  source: Pick<ConfigSource, 'resolveKey' | 'resolveKeys'>;
  /** The first is in use; keys may be held and known by hashes under the others. */
  peppers: readonly Buffer[];
  countMax: number;
  negativeMax: number;
  negativeTtlMs: number;
  /** Look-ups of unknown keys under way at once; the rest is refused, so that a storm stays here. */
  lookupsMax: number;
  /**
   * Look-ups a second that find nothing; then the rest of that second is refused. Those
   * that find a key do not count, so a gateway that has just started is not held up.
   */
  missesPerSecondMax: number;
  /** Makes sure that changes of keys of this workspace, or organisation, are told; undefined = they were when it was asked. */
  hold: (subject: string, askedAt: number) => Promise<void> | undefined;
  /** Now, for `hold`. */
  moment: () => number;
  /** Told of what is worth keeping; no key = it is gone. */
  onChange: (hashHex: string, key: config.Key | undefined) => void;
}

/** One question after another about a key, and what was told meanwhile. */
interface Lookup {
  /** Anything may have changed. */
  isMissed: boolean;
  readonly changedIds: Set<string>;
}

/** Of a key that nobody has, while keys change all the time: who looks for it has waited long enough. */
const repeatsMax = 3;

/** Keys the gateway holds, by hash. One that was never seen before is asked for once. */
export class HeldKeys {
  readonly #options: HeldKeysOptions;
  readonly #pepper: Buffer;
  readonly #otherPeppers: readonly Buffer[];
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
  /** Look-ups under way that hear of changes. */
  readonly #hearing = new Set<Lookup>();
  /** Look-ups of this second that have found nothing so far. */
  #misses = 0;
  #missesOf = 0;
  /** Asked for since the start. */
  lookups = 0;

  constructor(options: HeldKeysOptions) {
    this.#options = options;
    const [pepper, ...others] = options.peppers;
    if (pepper === undefined) throw new Error('there is no pepper');
    this.#pepper = pepper;
    this.#otherPeppers = others;
  }

  get size(): number {
    return this.#byHash.size;
  }

  held(secret: string): ResolvedKey | undefined {
    return this.#bySecret.get(secret);
  }

  /** What is held now of a key that was held then: another object where it has changed, undefined where it is gone. */
  heldNow({ hashHex }: Pick<ResolvedKey, 'hashHex'>): ResolvedKey | undefined {
    return this.#byHash.get(hashHex);
  }

  all(): { hashHex: string; key: config.Key }[] {
    return [...this.#byHash.values()].map(({ hashHex, source }) => ({ hashHex, key: source }));
  }

  hashes(): string[] {
    return [...this.#byHash.keys()];
  }

  /** The workspaces, and organisations, whose keys are held. */
  subjects(): Set<string> {
    const subjects = new Set<string>();
    for (const { source } of this.#byHash.values()) subjects.add(subjectOf(source));
    return subjects;
  }

  restore(keys: readonly { hashHex: string; key: config.Key }[]): void {
    for (const { hashHex, key } of keys) this.#place(resolvedKey(hashHex, key));
  }

  /**
   * The key of a secret; undefined when there is none.
   * @throws GatewayError `auth.unavailable` when it is not known here and cannot be asked for.
   */
  async find(secret: string): Promise<ResolvedKey | undefined> {
    return isWellFormedServiceKey(secret) ? this.#find(secret) : undefined;
  }

  /** The key that a grant to a client of MCP is of: no waiting. */
  heldGrant(id: string): ResolvedKey | undefined {
    return this.#bySecret.get(mcpGrantSecret(id));
  }

  /** The same; undefined when there is no such grant. @throws as `find` does */
  findGrant(id: string): Promise<ResolvedKey | undefined> {
    return this.#find(mcpGrantSecret(id));
  }

  /** The key of somebody whom the issuer of an MCP server knows (`issuerLoginSecret`): no waiting. */
  heldLogin(secret: string): ResolvedKey | undefined {
    const known = this.#bySecret.get(secret);
    if (known !== undefined) return known;
    const found = this.#byHash.get(hashServiceKey(secret, this.#pepper).toString('hex'));
    if (found !== undefined) this.#bySecret.set(secret, found);
    return found;
  }

  /** The same once it has been made: whether it was asked for before does not count. @throws as `find` does */
  findLogin(secret: string): Promise<ResolvedKey | undefined> {
    this.#unknown.delete(hashServiceKey(secret, this.#pepper).toString('hex'));
    return this.#find(secret);
  }

  /** The key that a batch is of, while it lasts: no waiting. */
  heldBatch(id: string): ResolvedKey | undefined {
    return this.#bySecret.get(batchKeySecret(id));
  }

  /** The same; undefined when there is no such batch, or no key of it any more. @throws as `find` does */
  findBatch(id: string): Promise<ResolvedKey | undefined> {
    return this.#find(batchKeySecret(id));
  }

  /**
   * The key that was known by this hash when something was sealed in its name; undefined when it is gone. One that the
   * control plane knows by another pepper by now is gone as well. @throws as `find` does
   */
  async findByHash(hashHex: string): Promise<ResolvedKey | undefined> {
    const held = this.#byHash.get(hashHex);
    return held ?? this.#lookUp(undefined, Buffer.from(hashHex, 'hex'), hashHex);
  }

  async #find(secret: string): Promise<ResolvedKey | undefined> {
    const hash = hashServiceKey(secret, this.#pepper);
    const hashHex = hash.toString('hex');
    const found =
      this.#byHash.get(hashHex) ??
      this.#heldUnderOther(secret, hash, hashHex) ??
      (await this.#lookUp(secret, hash, hashHex));
    if (found !== undefined) this.#bySecret.set(secret, found);
    return found;
  }

  /** Held by its hash under a pepper of before: used as it is, and meanwhile asked for, so that it is kept under the one in use. */
  #heldUnderOther(secret: string, hash: Buffer, hashHex: string): ResolvedKey | undefined {
    for (const pepper of this.#otherPeppers) {
      const found = this.#byHash.get(hashServiceKey(secret, pepper).toString('hex'));
      if (found === undefined) continue;
      // Whoever is refused for want of room asks again with the next request that is not the usual one.
      this.#lookUp(secret, hash, hashHex).catch(() => {});
      return found;
    }
    return undefined;
  }

  /** Anything may have changed while nothing was told: what is being looked up is looked up again. */
  missed(): void {
    for (const lookup of this.#hearing) lookup.isMissed = true;
    this.forgetUnknown();
  }

  /** One that was refused may have come back; whoever asks again costs one look-up. */
  forgetUnknown(): void {
    this.#unknown.clear();
  }

  /** Fetches the secrets of this key again, those that are held. */
  async changed(keyId: string): Promise<void> {
    for (const { changedIds } of this.#hearing) changedIds.add(keyId);
    this.forgetUnknown();
    const hashes = [...(this.#hashesById.get(keyId) ?? [])];
    await Promise.all(hashes.map((hashHex) => this.refresh(hashHex)));
  }

  /**
   * Fetches a held key again. One fetch a key at a time: of two under way the
   * older answer could arrive last and revive a key that was deleted.
   */
  refresh(
    hashHex: string,
    firstAnswer: () => Promise<config.Key | undefined> = () => this.#resolve(hashHex),
  ): Promise<void> {
    const underWay = this.#refreshes.get(hashHex);
    if (underWay !== undefined) {
      underWay.isStale = true;
      return underWay.done;
    }
    const refresh = { isStale: false, done: Promise.resolve() };
    this.#refreshes.set(hashHex, refresh);
    refresh.done = this.#refresh(hashHex, refresh, firstAnswer).finally(() =>
      this.#refreshes.delete(hashHex),
    );
    return refresh.done;
  }

  /** The same for many, asked for together. */
  async refreshAll(hashes: readonly string[]): Promise<void> {
    const answer = this.#options.source.resolveKeys(
      hashes.map((hashHex) => Buffer.from(hashHex, 'hex')),
    );
    // Each that waits for it hears of its failure, and there may be none.
    answer.catch(() => {});
    await Promise.all(
      hashes.map((hashHex) => this.refresh(hashHex, async () => (await answer).get(hashHex))),
    );
  }

  async #refresh(
    hashHex: string,
    state: { isStale: boolean },
    firstAnswer: () => Promise<config.Key | undefined>,
  ): Promise<void> {
    let answer = firstAnswer;
    do {
      state.isStale = false;
      const key = await answer();
      answer = () => this.#resolve(hashHex);
      if (key !== undefined) {
        if (this.#isSame(hashHex, key)) continue;
        this.#bySecret.clear();
        this.#hold(resolvedKey(hashHex, key));
      } else {
        this.#forget(hashHex);
        this.#rememberUnknown(hashHex);
      }
    } while (state.isStale);
  }

  #isSame(hashHex: string, key: config.Key): boolean {
    const held = this.#byHash.get(hashHex);
    return held !== undefined && equals(config.KeySchema, held.source, key);
  }

  #resolve(hashHex: string): Promise<config.Key | undefined> {
    return this.#options.source.resolveKey(Buffer.from(hashHex, 'hex'));
  }

  async #lookUp(
    secret: string | undefined,
    hash: Buffer,
    hashHex: string,
  ): Promise<ResolvedKey | undefined> {
    const askAgainAt = this.#unknown.get(hashHex);
    if (askAgainAt !== undefined && askAgainAt > performance.now()) return undefined;
    const underWay = this.#lookups.get(hashHex);
    if (underWay !== undefined) return underWay;
    if (this.#lookups.size >= this.#options.lookupsMax || !this.#mayMiss())
      throw new GatewayError('auth.unavailable', { headers: { 'retry-after': '1' } });
    this.lookups += 1;
    const lookup = this.#fetch(hash, hashHex, this.#hashesOf(secret))
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

  async #fetch(
    hash: Buffer,
    hashHex: string,
    hashes: KeyHashes | undefined,
  ): Promise<ResolvedKey | undefined> {
    const lookup: Lookup = { isMissed: false, changedIds: new Set() };
    this.#hearing.add(lookup);
    try {
      for (let repeats = 0; ; repeats += 1) {
        lookup.isMissed = false;
        lookup.changedIds.clear();
        const askedAt = this.#options.moment();
        const key = await this.#options.source.resolveKey(hash, hashes);
        if (key === undefined) {
          // A change told meanwhile may be that it was made.
          const isSure = !lookup.isMissed && lookup.changedIds.size === 0;
          if (!isSure && repeats < repeatsMax) continue;
          if (isSure) this.#rememberUnknown(hashHex);
          return this.#byHash.get(hashHex);
        }
        if (lookup.isMissed || lookup.changedIds.has(key.id)) continue;
        // From here on its changes are told; what came before that is in the next answer.
        const holding = this.#options.hold(subjectOf(key), askedAt);
        if (holding !== undefined) {
          await holding;
          continue;
        }
        this.#misses -= 1;
        this.#hold(resolvedKey(hashHex, key));
        return this.#byHash.get(hashHex);
      }
    } finally {
      this.#hearing.delete(lookup);
    }
  }

  /** Nothing where no pepper is rotated: there is one hash then. */
  #hashesOf(secret: string | undefined): KeyHashes | undefined {
    if (this.#otherPeppers.length === 0 || secret === undefined) return undefined;
    return {
      pepper: pepperName(this.#pepper),
      others: this.#otherPeppers.map((pepper) => ({
        pepper: pepperName(pepper),
        keyHash: hashServiceKey(secret, pepper),
      })),
    };
  }

  /** Each look-up is a miss until it has found something. */
  #mayMiss(): boolean {
    const second = Math.floor(performance.now() / 1_000);
    if (second !== this.#missesOf) this.#misses = this.#lookups.size;
    this.#missesOf = second;
    if (this.#misses >= this.#options.missesPerSecondMax) return false;
    this.#misses += 1;
    return true;
  }

  #rememberUnknown(hashHex: string): void {
    const { negativeMax, negativeTtlMs } = this.#options;
    if (this.#unknown.size >= negativeMax) dropOldest(this.#unknown, negativeMax / 10);
    this.#unknown.set(hashHex, performance.now() + negativeTtlMs);
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

/** What a gateway holds that holds the key. */
function subjectOf({ workspaceId, organisationId }: config.Key): string {
  return workspaceId === '' ? organisationId : workspaceId;
}

/** Maps keep insertion order: the first are the oldest. */
function dropOldest(map: Map<string, unknown>, count: number): void {
  let left = count;
  for (const key of map.keys()) {
    if (left-- <= 0) return;
    map.delete(key);
  }
}
