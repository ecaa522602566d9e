import { readFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { avroLines, isAvro } from './avro-rows.ts';

/** Files that avsc 5.7.9 wrote, which shares nothing with the reader. */
const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url));
const bounds = { rowBytesMax: 64 * 1024 };

async function* inPieces(file: Buffer, size: number) {
  for (let at = 0; at < file.length; at += size) yield file.subarray(at, at + size);
}

async function rowsOf(file: Buffer, size = file.length, by = bounds): Promise<unknown[]> {
  const rows: unknown[] = [];
  for await (const line of avroLines(inPieces(file, Math.max(1, size)), by))
    rows.push(JSON.parse(line.toString()));
  return rows;
}

/** A file of one block. */
function fileOf(
  schema: object | string,
  block: Uint8Array | number[],
  codec = 'null',
  rows = 2 ** 40,
) {
  const sync = Buffer.alloc(16, 7);
  const long = (number: number) => {
    const out: number[] = [];
    for (let rest = BigInt(number) * 2n; ; rest >>= 7n) {
      out.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
      if (rest <= 0x7fn) return Buffer.from(out);
    }
  };
  const text = (of: string) => Buffer.concat([long(Buffer.byteLength(of)), Buffer.from(of)]);
  return Buffer.concat([
    Buffer.from('Obj\u0001'),
    long(2),
    text('avro.schema'),
    text(typeof schema === 'string' ? schema : JSON.stringify(schema)),
    text('avro.codec'),
    text(codec),
    long(0),
    sync,
    long(rows),
    long(block.length),
    Buffer.from(block),
    sync,
  ]);
}

describe('a file of Avro', () => {
  it.each([
    ['embeddings.0.avro', [1, 2, 3]],
    ['embeddings.1.avro', [4, 5]],
  ])('is read row by row, however it arrives: %s', async (name, numbers) => {
    for (const size of [1, 7, 100_000])
      expect(await rowsOf(fixture(name), size)).toEqual(
        numbers.map((number) => ({
          text: `text ${number}`,
          custom_id: `line-${number}`,
          embeddings: { float: [number + 0.5, -0.25], int8: null },
        })),
      );
  });

  it('may have every type there is, and one within itself', async () => {
    const row = {
      none: null,
      yes: true,
      small: -123_456_789,
      large: 2 ** 52,
      half: 0.1,
      raw: Buffer.from('é').toString('base64'),
      kind: 'B',
      again: 'A',
      by: { a: -1, 'b b': 2 ** 40 },
      id: 'AP8B',
      next: null,
    };
    expect(await rowsOf(fixture('all-types.avro'))).toEqual([row, { ...row, next: row }]);
  });

  it.each(['null', 'deflate'])(
    'is read with no more held than a row, whatever its blocks are: %s',
    async (codec) => {
      const numbers = 2000;
      const schema = { type: 'record', name: 'A', fields: [{ name: 'v', type: 'bytes' }] };
      // The length of a field in two groups of seven bits.
      const row = Buffer.concat([Buffer.from([0x80, 0x7d]), Buffer.alloc(8000, 7)]);
      const block = Buffer.concat(Array.from({ length: numbers }, () => row));
      const file = fileOf(schema, codec === 'null' ? block : deflateRawSync(block), codec, numbers);
      let rows = 0;
      for await (const line of avroLines(inPieces(file, 4096), { rowBytesMax: 16 * 1024 })) {
        rows++;
        expect(line.length).toBe(
          Buffer.byteLength(`{"v":"${row.subarray(2).toString('base64')}"}`),
        );
      }
      expect(rows).toBe(numbers);
      const packed = codec === 'null' ? block : deflateRawSync(block);
      for (const [more, what] of [
        [fileOf(schema, packed, codec, numbers - 1), 'more than its rows'],
        [fileOf(schema, packed, codec, numbers + 1), 'ends too early'],
        [fileOf(schema, packed.subarray(0, -9), codec, numbers), 'cannot be'],
      ] as const)
        await expect(rowsOf(more, 4096), what).rejects.toMatchObject({
          code: 'upstream.invalid_response',
          message: expect.stringContaining(what),
        });
      await expect(rowsOf(file, 4096, { rowBytesMax: 4000 })).rejects.toMatchObject({
        code: 'upstream.response_too_large',
      });
    },
  );

  it('is known by how it begins', () => {
    expect(
      ['Obj\u0001x', 'Ob', '', '{"te', 'Obj\u0002'].map((text) => isAvro(Buffer.from(text))),
    ).toEqual([true, undefined, undefined, false, false]);
  });

  it('is refused where it is broken, too large, or nothing but words', async () => {
    const whole = fixture('embeddings.0.avro');
    const flipped = Buffer.from(whole);
    flipped[flipped.length - 1] = 0;
    const list = { type: 'array', items: 'null' };
    let deep: object = { type: 'array', items: 'null' };
    for (let at = 0; at < 40; at++) deep = { type: 'array', items: deep };
    const broken: [string, Buffer][] = [
      ['file that ends too early', whole.subarray(0, -20)],
      ['without its end', flipped],
      ['not a file', Buffer.from('{"text":"x"}')],
      ['rows of no byte', fileOf('"null"', [])],
      ['items of no byte', fileOf(list, [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f])],
      ['a number without end', fileOf('"long"', Array(12).fill(0xff))],
      ['an unknown type', fileOf('"vector"', [0])],
      ['an unknown codec', fileOf('"int"', [0], 'snappy')],
      ['what deflate did not pack', fileOf('"int"', [0xff, 0xff], 'deflate')],
      ['a schema without an end', fileOf(deep, [0])],
      ['a schema that is none', fileOf('{"type":', [0])],
      ['a branch that is not there', fileOf(['null'], [8])],
      [
        'a type of itself',
        fileOf({ type: 'record', name: 'A', fields: [{ name: 'a', type: 'A' }] }, [0]),
      ],
    ];
    for (const [what, file] of broken)
      await expect(rowsOf(file), what).rejects.toMatchObject({ code: 'upstream.invalid_response' });
    await expect(rowsOf(whole, 8, { rowBytesMax: 16 })).rejects.toMatchObject({
      code: 'upstream.response_too_large',
    });
  });
});
