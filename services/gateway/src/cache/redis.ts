import type { Logger } from '@sluice/telemetry';
import type { Redis } from 'ioredis';
import type { CachedReply, CacheStore, ReplyForm } from './store.ts';

/** After a failure Redis is left alone for so long. */
const restMs = 500;
/** Far above what a healthy server takes, far below what a model does. */
const timeoutMsDefault = 250;

export interface RedisCacheOptions {
  /** Stays the caller's, who closes it. */
  redis: Redis;
  logger: Logger;
  /** For every command; one that takes longer has failed. */
  timeoutMs?: number;
  /** Of a clock that only goes forward. */
  now?: () => number;
}

/**
 * The cache that several gateways share, so that they give the same answers:
 * nothing is kept in memory beside it. While Redis does not answer, it is empty.
 */
export class RedisCache implements CacheStore {
  readonly isLocal = false;
  readonly #redis: Redis;
  readonly #logger: Logger;
  readonly #timeoutMs: number;
  readonly #now: () => number;
  #askAgainAtMs = 0;
  /** Redis failed the last time it was asked. */
  degraded = false;

  constructor(options: RedisCacheOptions) {
    this.#redis = options.redis;
    this.#logger = options.logger;
    this.#timeoutMs = options.timeoutMs ?? timeoutMsDefault;
    this.#now = options.now ?? (() => performance.now());
  }

  async get(organisationId: string, key: string): Promise<CachedReply | undefined> {
    if (this.degraded) {
      if (this.#now() < this.#askAgainAtMs) return undefined;
      // One request finds out; those that come meanwhile do not wait for it.
      this.#askAgainAtMs = this.#now() + this.#timeoutMs + restMs;
    }
    try {
      const bytes = await this.#inTime(() => this.#redis.getBuffer(nameOf(organisationId, key)));
      this.#becomeHealthy();
      return bytes === null ? undefined : decodeEntry(bytes);
    } catch (error) {
      this.#becomeDegraded(error);
      return undefined;
    }
  }

  set(organisationId: string, key: string, reply: CachedReply, ttlMs: number): void {
    // Nothing is sent to a server that may hold it back: the bytes would pile up here.
    if (this.degraded) return;
    const entry = encodeEntry(reply);
    const name = nameOf(organisationId, key);
    this.#inTime(() => this.#redis.set(name, entry, 'PX', ttlMs)).catch((error: unknown) =>
      this.#becomeDegraded(error),
    );
  }

  async #inTime<T>(command: () => Promise<T>): Promise<T> {
    if (this.#redis.status !== 'ready') throw new Error(`redis is ${this.#redis.status}`);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('redis did not answer in time')), this.#timeoutMs);
      timer.unref();
    });
    try {
      return await Promise.race([command(), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #becomeDegraded(error: unknown): void {
    this.#askAgainAtMs = this.#now() + restMs;
    if (!this.degraded)
      this.#logger.error({ err: error }, 'the cache is empty until redis answers');
    this.degraded = true;
  }

  #becomeHealthy(): void {
    if (this.degraded) this.#logger.info('the cache is shared again');
    this.degraded = false;
  }
}

/** The braces keep an organisation's keys in one slot of a cluster. */
function nameOf(organisationId: string, key: string): string {
  return `sluice:{${organisationId}}:cache:${key}`;
}

const VERSION = 1;
const forms: readonly ReplyForm[] = ['json', 'stream', 'stream-with-usage'];
const headBytes = 12;

/** version, form, ms since 1970 as a double, length of the content type; content type; body. */
function encodeEntry({ form, contentType, storedAtMs, body }: CachedReply): Buffer {
  const type = Buffer.from(contentType);
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(VERSION, 0);
  head.writeUInt8(forms.indexOf(form), 1);
  head.writeDoubleBE(storedAtMs, 2);
  head.writeUInt16BE(type.length, 10);
  return Buffer.concat([head, type, body]);
}

/** Undefined for what another release wrote. */
function decodeEntry(bytes: Buffer): CachedReply | undefined {
  if (bytes.length < headBytes || bytes.readUInt8(0) !== VERSION) return undefined;
  const form = forms[bytes.readUInt8(1)];
  const bodyAt = headBytes + bytes.readUInt16BE(10);
  if (form === undefined || bodyAt > bytes.length) return undefined;
  return {
    form,
    storedAtMs: bytes.readDoubleBE(2),
    contentType: bytes.toString('utf8', headBytes, bodyAt),
    body: bytes.subarray(bodyAt),
  };
}
