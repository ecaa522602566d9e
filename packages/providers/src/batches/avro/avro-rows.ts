import { pipeline, Readable } from 'node:stream';
import { createInflateRaw } from 'node:zlib';
import { GatewayError } from '@sluice/errors';
import { parseJson } from '../../json/json-access.ts';
import { type AvroType, readAvroSchema } from './avro-schema.ts';
import { AvroBytes, AvroEnd } from './avro-values.ts';

/**
 * Files of Avro: https://avro.apache.org/docs/1.12.0/specification/#object-container-files.
 * A reader of our own, since the one that is kept makes code of the schema as it
 * runs, and a schema is what a vendor sent; and since it holds a block whole, however large.
 */

const magic = Buffer.from('Obj\u0001');
const syncBytes = 16;
const metadata: AvroType = { kind: 'map', of: { kind: 'bytes' } };
const headerBytesMax = 1024 * 1024;

export interface AvroBounds {
  /** Of a row, as it is when its block is unpacked. */
  readonly rowBytesMax: number;
}

/** Whether bytes begin as a file of Avro does; undefined = there are too few to know. */
export function isAvro(start: Buffer): boolean | undefined {
  const common = Math.min(start.length, magic.length);
  if (!start.subarray(0, common).equals(magic.subarray(0, common))) return false;
  return start.length >= magic.length ? true : undefined;
}

/**
 * Its rows, each a line of JSON; no more is held than a row, however large its block is.
 * @throws GatewayError `upstream.invalid_response`, `upstream.response_too_large`
 */
export async function* avroLines(
  content: AsyncIterable<Buffer>,
  { rowBytesMax }: AvroBounds,
): AsyncGenerator<Buffer, void> {
  const file = new Pieces(content);
  const { schema, isPacked, sync } = await file.read(headerBytesMax, readHeader);
  while (!(await file.isOver())) {
    const { rows, size } = await file.read(lengthsBytesMax, (bytes) => ({
      rows: bytes.count(),
      size: bytes.count(),
    }));
    const section = new Section(file, size);
    yield* rowsIn(new Pieces(isPacked ? unpacked(section) : section.bytes()), rows, schema);
    if (section.left > 0) throw unreadable('a block with more than its rows');
    const end = await file.read(syncBytes, (bytes) => bytes.take(syncBytes));
    if (!end.equals(sync)) throw unreadable('a block without its end');
  }

  async function* rowsIn(block: Pieces, rows: number, type: AvroType) {
    let emptyLeft = emptyRowsMax;
    for (let at = 0; at < rows; at++) {
      const before = block.at;
      yield Buffer.from(JSON.stringify(await block.read(rowBytesMax, (row) => row.value(type))));
      // As many rows as it likes take no byte at all.
      if (block.at === before && --emptyLeft < 0) throw unreadable('too many values');
    }
    if (!(await block.isOver())) throw unreadable('a block with more than its rows');
  }
}

/** What a block begins with: two numbers. */
const lengthsBytesMax = 32;
/** Hardly any value takes no byte, and as many as that are none of a vector. */
const emptyRowsMax = 100_000;

/** So many bytes of a file, as they come. */
class Section {
  readonly #file: Pieces;
  left: number;

  constructor(file: Pieces, size: number) {
    this.#file = file;
    this.left = size;
  }

  async *bytes(): AsyncGenerator<Buffer, void> {
    while (this.left > 0) {
      const piece = await this.#file.some(this.left);
      this.left -= piece.length;
      yield piece;
    }
  }
}

function readHeader(bytes: AvroBytes) {
  if (!bytes.take(magic.length).equals(magic)) throw new Error('no file of Avro');
  const told = bytes.value(metadata) as Record<string, string>;
  const text = (name: string) => Buffer.from(told[name] ?? '', 'base64').toString('utf8');
  const codec = text('avro.codec') || 'null';
  if (codec !== 'null' && codec !== 'deflate') throw new Error(`packed as ${codec.slice(0, 30)}`);
  const schema = parseJson(text('avro.schema'));
  if (schema === undefined) throw new Error('no schema');
  return {
    schema: readAvroSchema(schema),
    isPacked: codec === 'deflate',
    sync: Buffer.from(bytes.take(syncBytes)),
  };
}

/** @throws GatewayError `upstream.invalid_response`, also of what comes before it is unpacked */
async function* unpacked(section: Section): AsyncGenerator<Buffer, void> {
  const inflate = createInflateRaw();
  const source = Readable.from(section.bytes());
  pipeline(source, inflate, () => {
    // Who reads it hears of errors.
  });
  try {
    yield* inflate;
  } catch (error) {
    throw error instanceof GatewayError ? error : unreadable('a block that cannot be unpacked');
  } finally {
    // Where its rows end before it does.
    source.destroy();
    inflate.destroy();
  }
}

/** What flows, read value by value: what is not whole yet is read anew when more is there. */
class Pieces {
  readonly #content: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);
  #isOver = false;
  /** How many bytes have been read. */
  at = 0;

  constructor(content: AsyncIterable<Buffer>) {
    this.#content = content[Symbol.asyncIterator]();
  }

  async isOver(): Promise<boolean> {
    while (this.#held.length === 0 && !this.#isOver) await this.#more(1);
    return this.#held.length === 0;
  }

  async read<Value>(bytesMax: number, reading: (bytes: AvroBytes) => Value): Promise<Value> {
    for (;;) {
      const bytes = new AvroBytes(this.#held, this.#held.length + emptyRowsMax);
      try {
        const value = readable(() => reading(bytes));
        this.#held = this.#held.subarray(bytes.at);
        this.at += bytes.at;
        return value;
      } catch (error) {
        if (!(error instanceof AvroEnd)) throw error;
      }
      if (this.#isOver) throw unreadable('a file that ends too early');
      if (this.#held.length > bytesMax) throw tooLarge(bytesMax);
      // Twice as much each time: what is read again and again is the start of a row.
      await this.#more(Math.max(1, this.#held.length));
    }
  }

  /** What there is of it, so many bytes at most. */
  async some(bytesMax: number): Promise<Buffer> {
    if (await this.isOver()) throw unreadable('a file that ends too early');
    const piece = this.#held.subarray(0, bytesMax);
    this.#held = this.#held.subarray(piece.length);
    this.at += piece.length;
    return piece;
  }

  async #more(bytes: number): Promise<void> {
    const pieces = [this.#held];
    for (let had = 0; had < bytes; ) {
      const next = await this.#content.next();
      if (next.done === true) {
        this.#isOver = true;
        break;
      }
      pieces.push(next.value);
      had += next.value.length;
    }
    this.#held = Buffer.concat(pieces);
  }
}

function readable<Value>(read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (error instanceof AvroEnd || error instanceof GatewayError) throw error;
    throw unreadable(error instanceof Error ? error.message : 'what it is not');
  }
}

function unreadable(what: string): GatewayError {
  return new GatewayError('upstream.invalid_response', {
    message: `The provider's file of results cannot be read: ${what}.`,
  });
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('upstream.response_too_large', {
    message: `A row of the provider's file of results has more than ${bytesMax} bytes.`,
  });
}
