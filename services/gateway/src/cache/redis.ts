import { sharedKeys } from '../redis/shared-keys.ts';
import type { SharedCommands, SharedPart, SharedStore } from '../redis/shared-store.ts';
import type { CachedReply, CacheStore, ReplyForm } from './store.ts';

/** Far above what a healthy server takes, far below what a model does. */
const timeoutMsDefault = 250;

/**
 * The cache that several gateways share, so that they give the same answers:
 * nothing is kept in memory beside it. While Redis does not answer, it is empty.
 */
export class RedisCache implements CacheStore {
  readonly isLocal = false;
  readonly #part: SharedPart;

  constructor(options: { store: SharedStore; timeoutMs?: number }) {
    this.#part = options.store.share({
      name: 'cache',
      deadlineMs: options.timeoutMs ?? timeoutMsDefault,
    });
  }

  get degraded(): boolean {
    return this.#part.degraded;
  }

  async get(organisationId: string, key: string): Promise<CachedReply | undefined> {
    if (!this.#part.isUsable) return undefined;
    const name = sharedKeys.keptReply(organisationId, key);
    try {
      const bytes = await this.#part.call(name, (redis) => redis.getBuffer(name));
      return bytes === null ? undefined : decodeEntry(bytes);
    } catch {
      // The store has said so; the answer is asked for anew.
      return undefined;
    }
  }

  peek(organisationId: string, key: string): Promise<CachedReply | undefined> {
    return this.get(organisationId, key);
  }

  set(organisationId: string, key: string, reply: CachedReply, ttlMs: number): void {
    // Nothing is sent to a server that may hold it back: the bytes would pile up here.
    if (!this.#part.isUsable) return;
    const entry = encodeEntry(reply);
    this.#tell(organisationId, key, (redis, name) => redis.set(name, entry, 'PX', ttlMs));
  }

  forget(organisationId: string, key: string): void {
    if (this.#part.isUsable) this.#tell(organisationId, key, (redis, name) => redis.del(name));
  }

  #tell(
    organisationId: string,
    key: string,
    send: (redis: SharedCommands, name: string) => Promise<unknown>,
  ): void {
    const name = sharedKeys.keptReply(organisationId, key);
    this.#part
      .call(name, (redis) => send(redis, name))
      .catch(() => {
        // Nobody waits for it.
      });
  }
}

const version = 1;
const forms: readonly ReplyForm[] = ['json', 'stream', 'stream-with-usage'];
const headBytes = 12;

/** version, form, ms since 1970 as a double, length of the content type; content type; body. */
function encodeEntry({ form, contentType, storedAtMs, body }: CachedReply): Buffer {
  const type = Buffer.from(contentType);
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(version, 0);
  head.writeUInt8(forms.indexOf(form), 1);
  head.writeDoubleBE(storedAtMs, 2);
  head.writeUInt16BE(type.length, 10);
  return Buffer.concat([head, type, body]);
}

/** Undefined for what another release wrote. */
function decodeEntry(bytes: Buffer): CachedReply | undefined {
  if (bytes.length < headBytes || bytes.readUInt8(0) !== version) return undefined;
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
