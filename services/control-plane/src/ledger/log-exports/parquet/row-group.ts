import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ExportField } from '@sluice/contracts/admin';
import { columnTypes } from './column-types.ts';
import { encodeThrift } from './thrift.ts';

/** Of each column, its bytes as they are stored, and as they were before, its header with both. */
export type ColumnSizes = readonly (readonly [stored: number, plain: number])[];

const compressed = promisify(gzip);

/** Rows as a row group of a Parquet file: one gzipped page of each column. The footer tells where they are. */
export async function rowGroup(
  fields: readonly ExportField[],
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<{ content: Buffer; columns: ColumnSizes }> {
  const chunks: Buffer[] = [];
  const columns: [number, number][] = [];
  for (const field of fields) {
    const plain = columnTypes[field].encode(rows.map((row) => row[field]));
    const page = await compressed(plain, { level: 1 });
    const header = encodeThrift({
      struct: {
        1: { i32: 0 },
        2: { i32: plain.length },
        3: { i32: page.length },
        5: { struct: { 1: { i32: rows.length }, 2: { i32: 0 }, 3: { i32: 3 }, 4: { i32: 3 } } },
      },
    });
    chunks.push(header, page);
    columns.push([header.length + page.length, header.length + plain.length]);
  }
  return { content: Buffer.concat(chunks), columns };
}
