import { GatewayError } from '@sluice/errors';
import { type ObjectStore, StoreError } from '@sluice/object-store';
import { notePassingBytes } from '@sluice/service';
import { headBytes, openSegment, sealInPlace, segmentBytes } from './segments.ts';

const contentType = 'application/octet-stream';

/** What it takes to read a content. */
export interface SealedContent {
  /** Of what has one content after the other, with the content's own name behind a slash. */
  readonly id: string;
  readonly dataKey: Buffer;
  readonly segments: number;
}

/** Contents of files in the object store, sealed; never whole in memory. */
export class Contents {
  readonly #store: ObjectStore;

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  writer(id: string, dataKey: Buffer): ContentWriter {
    return new ContentWriter(this.#store, id, dataKey);
  }

  /**
   * The content in pieces, or so many bytes of it from an offset on.
   * @throws GatewayError `file.damaged`, `file.unavailable`
   */
  async *read(
    { id, dataKey, segments }: SealedContent,
    offset = 0,
    length = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<Buffer, void> {
    let before = offset % segmentBytes;
    let left = length;
    for (let index = Math.floor(offset / segmentBytes); index < segments && left > 0; index += 1) {
      const sealed = await away(this.#store.get(keyOf(id, index)));
      if (sealed === undefined) throw new GatewayError('file.damaged', { detail: { id, index } });
      // What it was read into, and what it is opened by.
      notePassingBytes(2 * sealed.length);
      let piece: Buffer;
      try {
        piece = openSegment(dataKey, { of: id, index, isLast: index === segments - 1 }, sealed);
      } catch (error) {
        throw new GatewayError('file.damaged', { cause: error, detail: { id, index } });
      }
      const wanted = piece.subarray(before, before + left);
      before = 0;
      left -= wanted.length;
      yield wanted;
    }
  }

  async delete(id: string): Promise<void> {
    await deleteAll(this.#store, `files/${id}/`);
  }
}

/** Writes one content, a segment at a time. */
export class ContentWriter {
  readonly #store: ObjectStore;
  readonly #id: string;
  readonly #dataKey: Buffer;
  /** Room for a segment and its head, which the next one takes over. */
  #room = Buffer.alloc(headBytes);
  #held = 0;
  #written = 0;
  bytes = 0;

  constructor(store: ObjectStore, id: string, dataKey: Buffer) {
    this.#store = store;
    this.#id = id;
    this.#dataKey = dataKey;
  }

  /** @throws GatewayError `file.unavailable` */
  async write(piece: Buffer): Promise<void> {
    let rest = piece;
    while (rest.length > 0) {
      // A full segment may be the last one: that is known when more comes.
      if (this.#held === segmentBytes) await this.#put(false);
      this.#makeRoom(headBytes + Math.min(this.#held + rest.length, segmentBytes));
      const taken = rest.copy(this.#room, headBytes + this.#held);
      this.#held += taken;
      this.bytes += taken;
      rest = rest.subarray(taken);
    }
  }

  /** Of how many segments it is. @throws as `write` does */
  async end(): Promise<number> {
    await this.#put(true);
    return this.#written;
  }

  /** Small files are many, and take little. */
  #makeRoom(bytes: number): void {
    if (bytes <= this.#room.length) return;
    const room = Buffer.allocUnsafeSlow(
      Math.min(Math.max(bytes, 2 * this.#room.length), headBytes + segmentBytes),
    );
    this.#room.copy(room, headBytes, headBytes, headBytes + this.#held);
    this.#room = room;
  }

  async #put(isLast: boolean): Promise<void> {
    const index = this.#written;
    const room = this.#room.subarray(0, headBytes + this.#held);
    const sealed = sealInPlace(this.#dataKey, { of: this.#id, index, isLast }, room);
    notePassingBytes(sealed.length);
    this.#held = 0;
    await away(this.#store.put(keyOf(this.#id, index), sealed, contentType));
    this.#written += 1;
  }
}

/** All objects whose keys begin so. */
export async function deleteAll(store: ObjectStore, prefix: string): Promise<void> {
  for (;;) {
    const { keys, hasMore } = await away(store.list(prefix));
    if (keys.length > 0) await away(store.delete(keys));
    if (!hasMore) return;
  }
}

function keyOf(id: string, index: number): string {
  return `files/${id}/${String(index).padStart(6, '0')}`;
}

/** A store that is away, in words for callers. */
export async function away<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof StoreError)
      throw new GatewayError('file.unavailable', {
        cause: error,
        message: 'The store of files does not answer at the moment.',
      });
    throw error;
  }
}
