import { promisify } from 'node:util';
import { inflateRaw } from 'node:zlib';
import { GatewayError } from '@sluice/errors';
import type { JsonValue } from '../../contract.ts';
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
  /** Of a block, as it comes and as it is when it is unpacked. */
  readonly blockBytesMax: number;
}

/** Whether bytes begin as a file of Avro does; undefined = there are too few to know. */
export function isAvro(start: Buffer): boolean | undefined {
  const common = Math.min(start.length, magic.length);
  if (!start.subarray(0, common).equals(magic.subarray(0, common))) return false;
  return start.length >= magic.length ? true : undefined;
}

/**
 * Its rows, each a line of JSON; no more is held than a block.
 * @throws GatewayError `upstream.invalid_response`, `upstream.response_too_large`
 */
export async function* avroLines(
  content: AsyncIterable<Buffer>,
  { blockBytesMax }: AvroBounds,
): AsyncGenerator<Buffer, void> {
  const file = new Pieces(content);
  const { schema, isPacked, sync } = await file.read(headerBytesMax, readHeader);
  while (!(await file.isOver())) {
    const { rows, packed } = await file.read(
      blockBytesMax,
      (bytes) => {
        const rows = bytes.count();
        return { rows, packed: Buffer.from(bytes.take(bytes.count())), end: bytes.take(syncBytes) };
      },
      (block) => block.end.equals(sync),
    );
    const block = isPacked ? await unpacked(packed, blockBytesMax) : packed;
    yield* rowsIn(block, rows, schema);
  }
}

function* rowsIn(block: Buffer, rows: number, schema: AvroType): Generator<Buffer, void> {
  // Hardly any value takes no byte, and as many as that are none of a vector.
  const values = new AvroBytes(block, block.length + 100_000);
  for (let at = 0; at < rows; at++) {
    yield Buffer.from(JSON.stringify(rowOf(values, schema)));
  }
}

function rowOf(values: AvroBytes, schema: AvroType): JsonValue {
  try {
    return readable(() => values.value(schema));
  } catch (error) {
    throw error instanceof AvroEnd ? unreadable('a row that ends too early') : error;
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

const inflate = promisify(inflateRaw);

async function unpacked(packed: Buffer, bytesMax: number): Promise<Buffer> {
  try {
    return await inflate(packed, { maxOutputLength: bytesMax });
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      ? tooLarge(bytesMax)
      : unreadable('a block that cannot be unpacked');
  }
}

/** What flows, read value by value: what is not whole yet is read anew when more is there. */
class Pieces {
  readonly #content: AsyncIterator<Buffer>;
  #held: Buffer = Buffer.alloc(0);
  #isOver = false;

  constructor(content: AsyncIterable<Buffer>) {
    this.#content = content[Symbol.asyncIterator]();
  }

  async isOver(): Promise<boolean> {
    while (this.#held.length === 0 && !this.#isOver) await this.#more(1);
    return this.#held.length === 0;
  }

  async read<Value>(
    bytesMax: number,
    reading: (bytes: AvroBytes) => Value,
    isRight: (value: Value) => boolean = () => true,
  ): Promise<Value> {
    for (;;) {
      const bytes = new AvroBytes(this.#held);
      try {
        const value = readable(() => reading(bytes));
        if (!isRight(value)) throw unreadable('a block without its end');
        this.#held = this.#held.subarray(bytes.at);
        return value;
      } catch (error) {
        if (!(error instanceof AvroEnd)) throw error;
      }
      if (this.#isOver) throw unreadable('a file that ends too early');
      if (this.#held.length > bytesMax) throw tooLarge(bytesMax);
      // Twice as much each time: what is read again and again is the start of a block.
      await this.#more(Math.max(1, this.#held.length));
    }
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
    message: `A block of the provider's file of results has more than ${bytesMax} bytes.`,
  });
}
