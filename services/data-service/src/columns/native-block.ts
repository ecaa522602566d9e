import { BlockWriter } from './block-writer.ts';
import type { Column } from './column.ts';

/** Rows of some columns of a table, in ClickHouse's Native format. */
export interface NativeBlock {
  readonly rows: number;
  readonly columns: readonly string[];
  readonly bytes: Buffer;
}

/** Stores a block; what is not in it has the table's default. */
export type InsertBlock = (table: string, block: NativeBlock) => Promise<void>;

/** The columns that are used, with so many rows. */
export function nativeBlock(columns: Readonly<Record<string, Column>>, rows: number): NativeBlock {
  const used = Object.entries(columns).filter(([, { isUsed }]) => isUsed);
  const writer = new BlockWriter();
  writer.varint(used.length);
  writer.varint(rows);
  for (const [name, column] of used) {
    writer.text(name);
    writer.text(column.type);
    column.write(writer, rows);
  }
  return { rows, columns: used.map(([name]) => name), bytes: writer.written() };
}
