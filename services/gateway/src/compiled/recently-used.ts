import { Chain, type Linked } from '../chain/chain.ts';

interface Entry<V> extends Linked<Entry<V>> {
  readonly key: string;
  readonly value: V;
  readonly weight: number;
}

/**
 * Values by key, as many as fit: by count, and by the weights they are put in
 * with. When there is no room, the longest unused go – but only for a key that
 * is put in a second time. Keys that come once, however many, would otherwise
 * push out all that is in use, and cost the garbage collector more than the
 * values are worth.
 */
export class RecentlyUsed<V> {
  readonly #countMax: number;
  readonly #weightMax: number;
  readonly #held = new Map<string, Entry<V>>();
  readonly #byUse = new Chain<Entry<V>>();
  #weight = 0;
  /** Hashes of keys that were turned away, each until another falls into its place; made when the first is. */
  #turnedAway: Uint32Array | undefined;

  constructor(caps: { countMax: number; weightMax: number }) {
    this.#countMax = caps.countMax;
    this.#weightMax = caps.weightMax;
  }

  get size(): number {
    return this.#held.size;
  }

  get(key: string): V | undefined {
    const entry = this.#held.get(key);
    if (entry === undefined) return undefined;
    if (this.#byUse.newest !== entry) {
      this.#byUse.delete(entry);
      this.#byUse.add(entry);
    }
    return entry.value;
  }

  /** A value heavier than the cap is not kept. */
  put(key: string, value: V, weight: number): void {
    const isKnown = this.#drop(key);
    if (weight > this.#weightMax) return;
    const hasRoom = this.#held.size < this.#countMax && this.#weight + weight <= this.#weightMax;
    if (!hasRoom && !isKnown && !this.#wasTurnedAway(key)) return;
    const entry: Entry<V> = { key, value, weight, older: undefined, newer: undefined };
    this.#held.set(key, entry);
    this.#byUse.add(entry);
    this.#weight += weight;
    for (const oldest of this.#byUse) {
      if (this.#held.size <= this.#countMax && this.#weight <= this.#weightMax) return;
      this.#drop(oldest.key);
    }
  }

  #drop(key: string): boolean {
    const entry = this.#held.get(key);
    if (entry === undefined) return false;
    this.#held.delete(key);
    this.#byUse.delete(entry);
    this.#weight -= entry.weight;
    return true;
  }

  #wasTurnedAway(key: string): boolean {
    this.#turnedAway ??= new Uint32Array(turnedAwayMax);
    const hash = hashOf(key);
    const place = hash & (turnedAwayMax - 1);
    if (this.#turnedAway[place] === hash) return true;
    this.#turnedAway[place] = hash;
    return false;
  }
}

/** A power of two. */
const turnedAwayMax = 16_384;

/** FNV-1a over UTF-16 code units, 32 bits; never 0, which is an empty place. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1)
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  return hash >>> 0 || 1;
}
