import type { CachedReply, CacheStore } from './store.ts';

/** What an entry takes beside its bytes: names, dates, its place in the map. */
const overheadBytes = 512;
/** Above it, looking after many small entries would cost more than their bytes say. */
const entriesMaxDefault = 100_000;

interface Entry {
  reply: CachedReply;
  expiresAtMs: number;
  bytes: number;
}

/** The cache of a single gateway: the answers used last, up to a number of bytes and of entries. */
export class MemoryCache implements CacheStore {
  readonly isLocal = true;
  readonly #bytesMax: number;
  readonly #entriesMax: number;
  readonly #now: () => number;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(options: { bytesMax: number; entriesMax?: number; now?: () => number }) {
    this.#bytesMax = options.bytesMax;
    this.#entriesMax = options.entriesMax ?? entriesMaxDefault;
    this.#now = options.now ?? Date.now;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(organisationId: string, key: string): CachedReply | undefined {
    const name = `${organisationId}/${key}`;
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    this.#remove(name, entry);
    if (entry.expiresAtMs <= this.#now()) return undefined;
    this.#add(name, entry);
    return entry.reply;
  }

  peek(organisationId: string, key: string): CachedReply | undefined {
    const entry = this.#entries.get(`${organisationId}/${key}`);
    return entry === undefined || entry.expiresAtMs <= this.#now() ? undefined : entry.reply;
  }

  set(organisationId: string, key: string, reply: CachedReply, ttlMs: number): void {
    const name = `${organisationId}/${key}`;
    const held = this.#entries.get(name);
    if (held !== undefined) this.#remove(name, held);
    const bytes = reply.body.length + overheadBytes;
    if (bytes > this.#bytesMax) return;
    const kept = { ...reply, body: ownBytes(reply.body) };
    this.#add(name, { reply: kept, expiresAtMs: this.#now() + ttlMs, bytes });
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#bytesMax && this.#entries.size <= this.#entriesMax) break;
      this.#remove(oldest, entry);
    }
  }

  forget(organisationId: string, key: string): void {
    const name = `${organisationId}/${key}`;
    const entry = this.#entries.get(name);
    if (entry !== undefined) this.#remove(name, entry);
  }

  #add(name: string, entry: Entry): void {
    this.#entries.set(name, entry);
    this.#bytes += entry.bytes;
  }

  #remove(name: string, entry: Entry): void {
    this.#entries.delete(name);
    this.#bytes -= entry.bytes;
  }
}

/** A small buffer is a window into a larger block, and would keep all of it from being freed. */
function ownBytes(body: Buffer): Buffer {
  if (body.buffer.byteLength <= body.length + overheadBytes) return body;
  const own = Buffer.allocUnsafeSlow(body.length);
  body.copy(own);
  return own;
}
