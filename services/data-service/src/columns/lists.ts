import type { BlockWriter } from './block-writer.ts';
import type { Column } from './column.ts';
import { dictionaryVersion, FewTexts } from './few-texts.ts';
import { Integers64 } from './numbers.ts';
import { Texts } from './texts.ts';
import { lengthDelimited, type WireReader } from './wire-reader.ts';

/** Rows of any number of elements: where the elements of each row end, and the columns that these are in. */
abstract class Lists implements Column {
  abstract readonly type: string;
  readonly #ends: number[] = [];
  count = 0;

  get isUsed(): boolean {
    return this.count > 0;
  }

  abstract read(wire: WireReader, row: number): void;

  abstract clearElement(at: number): void;

  /** The place of another element of this row. */
  add(row: number): number {
    this.#fill(row + 1);
    const at = this.count;
    this.count += 1;
    this.#ends[row] = this.count;
    return at;
  }

  clear(row: number): void {
    if (this.#ends.length <= row) return;
    const start = this.#ends[row - 1] ?? 0;
    for (; this.count > start; this.count -= 1) this.clearElement(this.count - 1);
    this.#ends.length = row;
  }

  writeEnds(out: BlockWriter, rows: number): void {
    this.#fill(rows);
    for (const end of this.#ends) out.uint64(end);
  }

  abstract write(out: BlockWriter, rows: number): void;

  reset(): void {
    this.#ends.length = 0;
    this.count = 0;
  }

  /** Rows up to this one, those that are new without elements. */
  #fill(rows: number): void {
    while (this.#ends.length < rows) this.#ends.push(this.count);
  }
}

export class ListsOfTexts extends Lists {
  readonly type = 'Array(String)';
  readonly #texts = new Texts();

  read(wire: WireReader, row: number): void {
    this.#texts.read(wire, this.add(row));
  }

  clearElement(at: number): void {
    this.#texts.clear(at);
  }

  write(out: BlockWriter, rows: number): void {
    this.writeEnds(out, rows);
    this.#texts.write(out, this.count);
  }

  override reset(): void {
    super.reset();
    this.#texts.reset();
  }
}

/** Maps as protobuf writes them: a message each entry, with the key as its first field and the value as its second. */
abstract class Maps<Keys extends Texts | FewTexts, Values extends Column> extends Lists {
  readonly keys: Keys;
  readonly values: Values;

  constructor(keys: Keys, values: Values) {
    super();
    this.keys = keys;
    this.values = values;
  }

  read(wire: WireReader, row: number): void {
    wire.expect(lengthDelimited);
    const outer = wire.enter();
    const at = this.add(row);
    for (let field = wire.field(); field !== 0; field = wire.field())
      if (field === 1) this.keys.read(wire, at);
      else if (field === 2) this.values.read(wire, at);
      else wire.skip();
    wire.leave(outer);
  }

  clearElement(at: number): void {
    this.keys.clear(at);
    this.values.clear(at);
  }

  override reset(): void {
    super.reset();
    this.keys.reset();
    this.values.reset();
  }
}

export class MapsOfTexts extends Maps<Texts, Texts> {
  readonly type = 'Map(String, String)';

  constructor() {
    super(new Texts(), new Texts());
  }

  write(out: BlockWriter, rows: number): void {
    this.writeEnds(out, rows);
    this.keys.write(out, this.count);
    this.values.write(out, this.count);
  }
}

/** Counts by names of which there are many. */
export class MapsOfCounts extends Maps<Texts, Integers64> {
  readonly type = 'Map(String, UInt64)';

  constructor() {
    super(new Texts(), new Integers64('UInt64'));
  }

  write(out: BlockWriter, rows: number): void {
    this.writeEnds(out, rows);
    this.keys.write(out, this.count);
    this.values.write(out, this.count);
  }
}

/** Counts by names of which there are few. */
export class MapsOfFewCounts extends Maps<FewTexts, Integers64> {
  readonly type = 'Map(LowCardinality(String), UInt64)';

  constructor() {
    super(new FewTexts(), new Integers64('UInt64'));
  }

  write(out: BlockWriter, rows: number): void {
    out.uint64(dictionaryVersion);
    this.writeEnds(out, rows);
    this.keys.writeValues(out, this.count);
    this.values.write(out, this.count);
  }
}
