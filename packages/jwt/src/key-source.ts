import type { GuardedFetch } from '@sluice/outbound';
import { issuerUnavailable } from './faults.ts';
import { findKey, type KeySet, readKeySet, type VerificationKey } from './key-set.ts';

/** Where the public keys of one issuer come from. */
export interface KeySource {
  /** @throws GatewayError `auth.issuer_unavailable` when no key set was ever had, or the key is new and the issuer away */
  find(kid: string, algorithm: string): Promise<VerificationKey | undefined>;
  /** The document in use, for those who keep it over a restart; undefined = there is none to keep. */
  readonly document: string | undefined;
}

/** As much of a guarded fetch as keys need. */
export type FetchKeys = (...question: Parameters<GuardedFetch>) => ReturnType<GuardedFetch>;

export interface RemoteKeysOptions {
  url: string;
  maxAgeMs: number;
  fetch: FetchKeys;
  now: () => number;
  /** A document from before a restart: used until a fresh one is had. */
  document?: string | undefined;
  /** Called when a document has replaced another. */
  onDocument?: (() => void) | undefined;
}

const timeoutMs = 3_000;
const bytesMax = 512 * 1024;
/** After a failure the old keys serve this long before the next try; without any, tokens are refused that long. */
const retryPauseMs = 10_000;
const firstRetryPauseMs = 1_000;
/** Between two look-ups for keys that nobody has heard of: forged names must not make a storm. */
const unknownKidPauseMs = 10_000;
/** How long the name of a key that the issuer does not have is not asked for again. */
const unknownKidTtlMs = 60_000;
const unknownKidsMax = 1_000;

/** Keys that an administrator pasted. */
export function fixedKeys(set: KeySet): KeySource {
  return { find: async (kid, algorithm) => findKey(set, kid, algorithm), document: undefined };
}

/**
 * Keys behind a URL: fetched on first use, again when they are too old, and once
 * for a key that is not among them. An issuer that is away stops nobody whose
 * key is known, however old it is.
 */
export class RemoteKeys implements KeySource {
  readonly #options: RemoteKeysOptions;
  #set: KeySet | undefined;
  #document: string | undefined;
  #expiresAtMs = 0;
  #retryAtMs = 0;
  #askForUnknownAtMs = 0;
  readonly #unknownUntilMs = new Map<string, number>();
  #underWay: Promise<void> | undefined;

  constructor(options: RemoteKeysOptions) {
    this.#options = options;
    if (options.document === undefined) return;
    this.#document = options.document;
    this.#set = readKeySet(options.document);
  }

  get document(): string | undefined {
    return this.#document;
  }

  async find(kid: string, algorithm: string): Promise<VerificationKey | undefined> {
    const set = await this.#freshSet();
    const known = findKey(set, kid, algorithm);
    if (known !== undefined) return known;
    // Who comes while the keys are being fetched waits for them, whoever asked.
    const isAsking = this.#underWay === undefined;
    if (isAsking && !this.#mayAskFor(kid)) return undefined;
    // An issuer that cannot be asked has not said that there is no such key.
    await this.#fetch().catch((error: unknown) => {
      throw issuerUnavailable(error);
    });
    const found = findKey(this.#set ?? set, kid, algorithm);
    if (found === undefined && isAsking) this.#rememberUnknown(kid);
    return found;
  }

  async #freshSet(): Promise<KeySet> {
    const now = this.#options.now();
    if (this.#set !== undefined && now < this.#expiresAtMs) return this.#set;
    if (now >= this.#retryAtMs)
      await this.#fetch().catch((error: unknown) => {
        if (this.#set === undefined) throw issuerUnavailable(error);
      });
    if (this.#set === undefined) throw issuerUnavailable();
    return this.#set;
  }

  /** @throws GatewayError `auth.issuer_unavailable` when it could not be asked a moment ago */
  #mayAskFor(kid: string): boolean {
    const now = this.#options.now();
    if ((this.#unknownUntilMs.get(kid) ?? 0) > now) return false;
    if (now < this.#retryAtMs) throw issuerUnavailable();
    if (now < this.#askForUnknownAtMs) return false;
    this.#askForUnknownAtMs = now + unknownKidPauseMs;
    return true;
  }

  #rememberUnknown(kid: string): void {
    if (this.#unknownUntilMs.size >= unknownKidsMax) this.#unknownUntilMs.clear();
    this.#unknownUntilMs.set(kid, this.#options.now() + unknownKidTtlMs);
  }

  /** One request at a time, whoever asks. */
  #fetch(): Promise<void> {
    this.#underWay ??= this.#fetchNow()
      .catch((error: unknown) => {
        const pauseMs = this.#set === undefined ? firstRetryPauseMs : retryPauseMs;
        this.#retryAtMs = this.#options.now() + pauseMs;
        throw error;
      })
      .finally(() => {
        this.#underWay = undefined;
      });
    return this.#underWay;
  }

  async #fetchNow(): Promise<void> {
    const { status, body } = await this.#options.fetch(this.#options.url, {
      headers: { accept: 'application/jwk-set+json, application/json' },
      timeoutMs,
      bytesMax,
      field: 'jwt.jwks_url',
    });
    const text = body.toString();
    const set = status === 200 ? readKeySet(text) : undefined;
    // A page of apologies must not push out keys that work.
    if (set === undefined || set.keys.length === 0)
      throw new Error(`the key set could not be read (status ${status})`);
    this.#set = set;
    this.#expiresAtMs = this.#options.now() + this.#options.maxAgeMs;
    if (text === this.#document) return;
    this.#document = text;
    this.#unknownUntilMs.clear();
    this.#options.onDocument?.();
  }
}
