import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { BinaryReader } from '@bufbuild/protobuf/wire';
import { RecentlyUsed } from '../compiled/recently-used.ts';
import type { SectionIndex } from './sections/section-index.ts';

/** Memory is taken in growing pieces, so that small workspaces take little. The place in one fits in 20 bits. */
const chunkBits = 20;
const chunkBytesMax = 1 << chunkBits;
const chunkBytesMin = 2048;
/** Decoded messages that are kept at hand. */
const decodedMax = 2_000;
const decodedCharsMax = 2 * 1024 * 1024;

/**
 * Messages of one kind, each by its two names, as the bytes they came in. A
 * workspace may have 100,000 configs: as objects they would be a million for the
 * garbage collector to look at again and again, for the few that are in use. So
 * the bytes stand one after the other in a few buffers, and a hash table of
 * plain numbers says where.
 */
export class EncodedTable<Desc extends DescMessage> {
  readonly #index: SectionIndex<Desc>;
  readonly #chunks: Buffer[] = [];
  #chunkUsed = 0;
  /** Of each message: chunk and offset in it. */
  #positions = new Uint32Array(16);
  #lengths = new Uint32Array(16);
  #size = 0;
  /** Number of a message + 1, at its hash or the next free place behind; 0 = free. Each stands there under both names. */
  #slots = new Uint32Array(64);
  #hashes = new Uint32Array(64);
  readonly #decoded = new RecentlyUsed<MessageShape<Desc>>({
    countMax: decodedMax,
    weightMax: decodedCharsMax,
  });

  constructor(index: SectionIndex<Desc>) {
    this.#index = index;
  }

  get size(): number {
    return this.#size;
  }

  /** Adds an encoded message, whose bytes are copied. Tables are filled before they are used. */
  add(encoded: Uint8Array): void {
    const number = this.#store(encoded);
    if (this.#size * 4 > this.#slots.length) this.#grow();
    for (const name of this.#namesIn(encoded)) this.#place(hashOf(name), number);
  }

  get(reference: string): MessageShape<Desc> | undefined {
    const known = this.#decoded.get(reference);
    if (known !== undefined) return known;
    const found = this.#find(reference);
    if (found !== undefined) this.#decoded.put(reference, found, this.#index.weight(found));
    return found;
  }

  /** The messages as they were added. */
  *encoded(): Generator<Buffer> {
    for (let number = 0; number < this.#size; number += 1) yield this.#bytes(number);
  }

  /** Of one of these. */
  idIn(encoded: Uint8Array): string {
    return Buffer.from(this.#namesIn(encoded)[0]).toString();
  }

  #find(reference: string): MessageShape<Desc> | undefined {
    if (reference === '') return undefined;
    const hash = hashOf(Buffer.from(reference));
    const mask = this.#slots.length - 1;
    for (let at = hash & mask; ; at = (at + 1) & mask) {
      const number = (this.#slots[at] ?? 0) - 1;
      if (number < 0) return undefined;
      if (this.#hashes[at] !== hash) continue;
      const found = fromBinary(this.#index.schema, this.#bytes(number));
      if (this.#index.names(found).includes(reference)) return found;
    }
  }

  /** Only the fields a message is found by; nothing else of it is read. */
  #namesIn(encoded: Uint8Array): [Uint8Array, Uint8Array] {
    const names: [Uint8Array, Uint8Array] = [none, none];
    const [first, second] = this.#index.nameFields;
    const reader = new BinaryReader(encoded);
    while (reader.pos < reader.len) {
      const [field, wireType] = reader.tag();
      if (field === first) names[0] = reader.bytes();
      else if (field === second) names[1] = reader.bytes();
      else reader.skip(wireType, field);
    }
    return names;
  }

  #bytes(number: number): Buffer {
    const position = this.#positions[number] ?? 0;
    const chunk = this.#chunks[position >>> chunkBits];
    if (chunk === undefined) throw new Error(`the table has no message ${number}`);
    const start = position & (chunkBytesMax - 1);
    return chunk.subarray(start, start + (this.#lengths[number] ?? 0));
  }

  #store(encoded: Uint8Array): number {
    const chunk = this.#chunkFor(encoded.length);
    if (this.#size === this.#positions.length) {
      this.#positions = doubled(this.#positions);
      this.#lengths = doubled(this.#lengths);
    }
    chunk.set(encoded, this.#chunkUsed);
    this.#positions[this.#size] = (this.#chunks.length - 1) * chunkBytesMax + this.#chunkUsed;
    this.#lengths[this.#size] = encoded.length;
    this.#chunkUsed += encoded.length;
    this.#size += 1;
    return this.#size - 1;
  }

  /** The last chunk, with room for so many bytes from `#chunkUsed` on. */
  #chunkFor(bytes: number): Buffer {
    const last = this.#chunks.at(-1);
    if (last !== undefined && this.#chunkUsed + bytes <= last.length) return last;
    const larger = Math.min(chunkBytesMax, (last?.length ?? chunkBytesMin / 2) * 2);
    const chunk = Buffer.allocUnsafeSlow(Math.max(larger, bytes));
    this.#chunks.push(chunk);
    this.#chunkUsed = 0;
    return chunk;
  }

  #place(hash: number, number: number): void {
    const mask = this.#slots.length - 1;
    let at = hash & mask;
    while (this.#slots[at] !== 0) at = (at + 1) & mask;
    this.#slots[at] = number + 1;
    this.#hashes[at] = hash;
  }

  #grow(): void {
    const [slots, hashes] = [this.#slots, this.#hashes];
    this.#slots = new Uint32Array(slots.length * 2);
    this.#hashes = new Uint32Array(slots.length * 2);
    for (const [at, entry] of slots.entries())
      if (entry !== 0) this.#place(hashes[at] ?? 0, entry - 1);
  }
}

function doubled(list: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const longer = new Uint32Array(list.length * 2);
  longer.set(list);
  return longer;
}

const none: Uint8Array = new Uint8Array(0);

/** FNV-1a, 32 bits. */
function hashOf(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
