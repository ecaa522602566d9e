import { setImmediate as nextTurn } from 'node:timers/promises';
import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { EncodedTable } from './encoded-table.ts';
import type { SectionIndex } from './sections/section-index.ts';

/** Items that changed since the table was laid out; with more of them it is laid out anew. */
const changedMax = 512;
/** Items between two turns of the event loop. */
const itemsPerTurn = 256;

interface Changed<Desc extends DescMessage> {
  readonly bytes: Uint8Array;
  readonly message: MessageShape<Desc>;
}

/**
 * One section of a bundle. The table of a state of the workspace never changes:
 * a request that began with it ends with it. The next state's table shares the
 * items with it, and has beside them those that are different, of which there
 * are few.
 */
export class SectionTable<Desc extends DescMessage> {
  readonly #index: SectionIndex<Desc>;
  readonly #laidOut: EncodedTable<Desc>;
  /** By id; undefined = it is gone. */
  readonly #changed: ReadonlyMap<string, Changed<Desc> | undefined>;
  /** By both of its names, what of the changed is there. */
  readonly #byName: ReadonlyMap<string, Changed<Desc>>;

  constructor(
    index: SectionIndex<Desc>,
    laidOut = new EncodedTable(index),
    changed: ReadonlyMap<string, Changed<Desc> | undefined> = new Map(),
  ) {
    this.#index = index;
    this.#laidOut = laidOut;
    this.#changed = changed;
    const byName = new Map<string, Changed<Desc>>();
    for (const each of changed.values())
      if (each !== undefined) for (const name of index.names(each.message)) byName.set(name, each);
    this.#byName = byName;
  }

  /** Only while the table is filled, before it is used. The bytes are copied. */
  add(encoded: Uint8Array): void {
    this.#laidOut.add(encoded);
  }

  get(reference: string): MessageShape<Desc> | undefined {
    if (this.#changed.size === 0) return this.#laidOut.get(reference);
    const changed = this.#byName.get(reference);
    if (changed !== undefined) return changed.message;
    const found = this.#laidOut.get(reference);
    if (found === undefined || this.#changed.has(this.#index.names(found)[0])) return undefined;
    return found;
  }

  /** The table of the state after a change: this one stays as it is. */
  with(upserts: readonly Uint8Array[], gone: readonly string[]): SectionTable<Desc> {
    if (upserts.length === 0 && gone.length === 0) return this;
    const changed = new Map(this.#changed);
    for (const bytes of upserts) {
      const message = fromBinary(this.#index.schema, bytes);
      changed.set(this.#index.names(message)[0], { bytes, message });
    }
    for (const id of gone) changed.set(id, undefined);
    return new SectionTable(this.#index, this.#laidOut, changed);
  }

  get isWorn(): boolean {
    return this.#changed.size > changedMax;
  }

  /** The same items, laid out anew. */
  async renewed(): Promise<SectionTable<Desc>> {
    const table = new SectionTable(this.#index);
    let count = 0;
    for (const each of this.encoded()) {
      table.add(each);
      count += 1;
      if (count % itemsPerTurn === 0) await nextTurn();
    }
    return table;
  }

  /** An empty table of this section, to be filled. */
  startedOver(): SectionTable<Desc> {
    return new SectionTable(this.#index);
  }

  /** The items as they came. */
  *encoded(): Generator<Uint8Array> {
    for (const each of this.#laidOut.encoded())
      if (this.#changed.size === 0 || !this.#changed.has(this.#laidOut.idIn(each))) yield each;
    for (const each of this.#changed.values()) if (each !== undefined) yield each.bytes;
  }
}
