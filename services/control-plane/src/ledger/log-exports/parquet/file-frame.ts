import type { ExportField } from '@sluice/contracts/admin';
import { columnTypes, schemaOf } from './column-types.ts';
import type { ColumnSizes } from './row-group.ts';
import { encodeThrift, type Thrift } from './thrift.ts';

const mark = Buffer.from('PAR1');
const gzip = 2;

interface Group {
  readonly rows: number;
  readonly bytes: number;
  readonly columns: ColumnSizes;
}

/** What a Parquet file has before its row groups, and after them: all that is known of the groups is enough. */
export function fileFrame(
  fields: readonly ExportField[],
  groups: readonly Group[],
): { before: Buffer; after: Buffer } {
  let offset = mark.length;
  const told = groups.map(({ rows, bytes, columns }): Thrift => {
    const chunks = columns.map(([stored, plain], at) => {
      const chunk = columnChunk(fields[at]!, { rows, stored, plain, offset });
      offset += stored;
      return chunk;
    });
    return { struct: { 1: { list: chunks }, 2: { i64: bytes }, 3: { i64: rows } } };
  });
  const footer = encodeThrift({
    struct: {
      1: { i32: 1 },
      2: schemaOf(fields),
      3: { i64: groups.reduce((sum, { rows }) => sum + rows, 0) },
      4: { list: told },
      6: { text: 'sluice' },
    },
  });
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return { before: mark, after: Buffer.concat([footer, length, mark]) };
}

function columnChunk(
  field: ExportField,
  { rows, stored, plain, offset }: { rows: number; stored: number; plain: number; offset: number },
): Thrift {
  return {
    struct: {
      2: { i64: offset },
      3: {
        struct: {
          1: { i32: columnTypes[field].physical },
          2: { list: [{ i32: 0 }, { i32: 3 }] },
          3: { list: [{ text: field }] },
          4: { i32: gzip },
          5: { i64: rows },
          6: { i64: plain },
          7: { i64: stored },
          9: { i64: offset },
        },
      },
    },
  };
}
