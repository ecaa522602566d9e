import { placesNear, Sketcher, sketchWords } from './sketch.ts';
import type { Neighbour, Partition, VectorIndex } from './vector-index.ts';

export interface MemoryVectorsOptions {
  dimensions: number;
  bytesMax: number;
  entriesMax?: number;
  now?: () => number;
}

/** More than this are not looked through within a few milliseconds. */
const entriesMaxDefault = 100_000;
/** What an entry takes beside its vector and its sketch. */
const overheadBytes = 400;
/** So many are compared number by number, whatever their sketches say. */
const comparedMax = 128;
/** Entries whose time is over are looked for so often. */
const sweepMs = 60_000;

interface Entry {
  readonly id: string;
  readonly vector: Float32Array;
  readonly expiresAtMs: number;
  readonly partition: Shelf;
  /** Its place in the partition. */
  at: number;
}

interface Organisation {
  bytes: number;
  /** By partition and id, the least recently used first. */
  readonly entries: Map<string, Entry>;
}

/**
 * The vectors of a single gateway. Within a partition sketches say which
 * entries may be near, and only their vectors are compared: what is found is
 * near, and what is near is found as good as always. Where room ends, the
 * organisation that holds most gives up what it has used least recently.
 */
export class MemoryVectors implements VectorIndex {
  readonly #entryBytes: number;
  readonly #bytesMax: number;
  readonly #entriesMax: number;
  readonly #now: () => number;
  readonly #sketcher: Sketcher;
  readonly #organisations = new Map<string, Organisation>();
  readonly #shelves = new Map<string, Shelf>();
  readonly #asked = new Int32Array(sketchWords);
  #size = 0;
  #sweptAtMs = 0;

  constructor({ dimensions, bytesMax, entriesMax, now }: MemoryVectorsOptions) {
    this.#entryBytes = 4 * (dimensions + sketchWords) + overheadBytes;
    this.#bytesMax = bytesMax;
    this.#entriesMax = entriesMax ?? entriesMaxDefault;
    this.#now = now ?? Date.now;
    this.#sketcher = new Sketcher(dimensions);
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#size * this.#entryBytes;
  }

  near(
    partition: Partition,
    vector: Float32Array,
    { atLeast, countMax }: { atLeast: number; countMax: number },
  ): readonly Neighbour[] {
    const shelf = this.#shelves.get(shelfName(partition));
    if (shelf === undefined) return [];
    this.#sketcher.write(vector, this.#asked, 0);
    const found: (Neighbour & { entry: Entry })[] = [];
    for (const entry of shelf.candidates(this.#asked, atLeast)) {
      if (entry.expiresAtMs <= this.#now()) {
        this.forget(partition, entry.id);
        continue;
      }
      const similarity = dot(vector, entry.vector);
      if (similarity >= atLeast) found.push({ id: entry.id, similarity, entry });
    }
    found.sort((one, other) => other.similarity - one.similarity);
    const nearest = found.slice(0, countMax);
    for (const { entry } of nearest) this.#use(partition, entry);
    return nearest.map(({ id, similarity }) => ({ id, similarity }));
  }

  add(partition: Partition, id: string, vector: Float32Array, ttlMs: number): void {
    if (this.#entryBytes > this.#bytesMax) return;
    const now = this.#now();
    if (now - this.#sweptAtMs >= sweepMs) this.#sweep(now);
    this.forget(partition, id);
    const name = shelfName(partition);
    let shelf = this.#shelves.get(name);
    if (shelf === undefined) {
      shelf = new Shelf(partition);
      this.#shelves.set(name, shelf);
    }
    const entry = { id, vector, expiresAtMs: now + ttlMs, partition: shelf, at: 0 };
    this.#sketcher.write(vector, this.#asked, 0);
    shelf.add(entry, this.#asked);
    const organisation = this.#organisationOf(partition);
    organisation.entries.set(entryName(partition, id), entry);
    organisation.bytes += this.#entryBytes;
    this.#size++;
    while (this.bytes > this.#bytesMax || this.#size > this.#entriesMax) this.#evict();
  }

  forget(partition: Partition, id: string): void {
    const organisation = this.#organisations.get(partition.organisationId);
    const name = entryName(partition, id);
    const entry = organisation?.entries.get(name);
    if (organisation === undefined || entry === undefined) return;
    organisation.entries.delete(name);
    organisation.bytes -= this.#entryBytes;
    if (organisation.entries.size === 0) this.#organisations.delete(partition.organisationId);
    this.#size--;
    entry.partition.remove(entry);
    if (entry.partition.isEmpty) this.#shelves.delete(shelfName(partition));
  }

  #organisationOf({ organisationId }: Partition): Organisation {
    let organisation = this.#organisations.get(organisationId);
    if (organisation === undefined) {
      organisation = { bytes: 0, entries: new Map() };
      this.#organisations.set(organisationId, organisation);
    }
    return organisation;
  }

  #use(partition: Partition, entry: Entry): void {
    const entries = this.#organisations.get(partition.organisationId)?.entries;
    const name = entryName(partition, entry.id);
    if (entries?.delete(name) === true) entries.set(name, entry);
  }

  #evict(): void {
    let largest: Organisation | undefined;
    for (const organisation of this.#organisations.values())
      if (organisation.bytes > (largest?.bytes ?? 0)) largest = organisation;
    const oldest = largest?.entries.values().next().value;
    if (oldest !== undefined) this.forget(oldest.partition.of, oldest.id);
  }

  #sweep(now: number): void {
    this.#sweptAtMs = now;
    for (const { entries } of [...this.#organisations.values()])
      for (const { expiresAtMs, partition, id } of [...entries.values()])
        if (expiresAtMs <= now) this.forget(partition.of, id);
  }
}

/** The entries of one partition, side by side, so that one pass goes through their sketches. */
class Shelf {
  readonly of: Partition;
  readonly #entries: Entry[] = [];
  #sketches = new Int32Array(sketchWords);

  constructor(of: Partition) {
    this.of = of;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  add(entry: Entry, sketch: Int32Array): void {
    entry.at = this.#entries.length;
    this.#entries.push(entry);
    const length = this.#entries.length * sketchWords;
    if (this.#sketches.length < length) {
      const grown = new Int32Array(2 * length);
      grown.set(this.#sketches);
      this.#sketches = grown;
    }
    this.#sketches.set(sketch, entry.at * sketchWords);
  }

  /** The last one takes its place. */
  remove({ at }: Entry): void {
    const last = this.#entries.pop();
    if (last === undefined || last.at === at) return;
    const from = last.at * sketchWords;
    this.#sketches.copyWithin(at * sketchWords, from, from + sketchWords);
    last.at = at;
    this.#entries[at] = last;
  }

  /** Those that may be so near. */
  candidates(sketch: Int32Array, atLeast: number): readonly Entry[] {
    const count = this.#entries.length;
    if (count <= comparedMax) return [...this.#entries];
    const wanted = { count, atLeast, countMax: comparedMax };
    return placesNear(sketch, this.#sketches, wanted).flatMap((at) => this.#entries[at] ?? []);
  }
}

function dot(one: Float32Array, other: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}

function shelfName({ organisationId, key }: Partition): string {
  return `${organisationId}/${key}`;
}

function entryName({ key }: Partition, id: string): string {
  return `${key}/${id}`;
}
