import { createHash } from 'node:crypto';
import type { SignatureKeeper } from '@sluice/providers';

/** What an entry takes beside its text: its key, its place in the map. */
const overheadBytes = 256;

export interface KeptSignaturesOptions {
  entriesMax?: number;
  bytesMax?: number;
  /** Since an entry was last asked for. */
  ttlMs?: number;
  now?: () => number;
}

interface Entry {
  signature: string;
  expiresAtMs: number;
}

/**
 * What proves calls of tools, in the memory of this gateway: those used last,
 * up to a number of entries, of bytes and of minutes. A turn that comes later, or to
 * another gateway, does without.
 */
export class KeptSignatures implements SignatureKeeper {
  readonly #entriesMax: number;
  readonly #bytesMax: number;
  readonly #ttlMs: number;
  readonly #now: () => number;
  /** The least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(options: KeptSignaturesOptions = {}) {
    this.#entriesMax = options.entriesMax ?? 20_000;
    this.#bytesMax = options.bytesMax ?? 32 * 1024 * 1024;
    this.#ttlMs = options.ttlMs ?? 60 * 60_000;
    this.#now = options.now ?? Date.now;
  }

  /** One that is too large for its share is not kept. */
  keep(owner: string, call: string, signature: string): void {
    const key = keyOf(owner, call);
    this.#remove(key);
    if (owner === '' || bytesOf(signature) > this.#bytesMax / 64) return;
    this.#add(key, signature);
    for (const [oldest, entry] of this.#entries) {
      const isFull = this.#entries.size > this.#entriesMax || this.#bytes > this.#bytesMax;
      if (!isFull && entry.expiresAtMs > this.#now()) break;
      this.#remove(oldest);
    }
  }

  find(owner: string, call: string): string | undefined {
    if (this.#entries.size === 0) return undefined;
    const key = keyOf(owner, call);
    const entry = this.#remove(key);
    if (entry === undefined || entry.expiresAtMs <= this.#now()) return undefined;
    this.#add(key, entry.signature);
    return entry.signature;
  }

  #add(key: string, signature: string): void {
    this.#entries.set(key, { signature, expiresAtMs: this.#now() + this.#ttlMs });
    this.#bytes += bytesOf(signature);
  }

  #remove(key: string): Entry | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#bytes -= bytesOf(entry.signature);
    return entry;
  }
}

function bytesOf(signature: string): number {
  return signature.length + overheadBytes;
}

/** Arguments may be long. */
function keyOf(owner: string, call: string): string {
  return createHash('sha256').update(`${owner}\n${call}`).digest('base64');
}
