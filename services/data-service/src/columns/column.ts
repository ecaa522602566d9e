import type { BlockWriter } from './block-writer.ts';
import type { WireReader } from './wire-reader.ts';

/**
 * A column of rows that are read off the wire one after the other. A row of which nothing is read has the empty value,
 * as in proto3.
 */
export interface Column {
  /** ClickHouse's. */
  readonly type: string;
  /** Whether any row has a value; a column of empty ones is left out of the insert. */
  readonly isUsed: boolean;
  read(wire: WireReader, row: number): void;
  /** Forgets what was read for this row, which is the last. */
  clear(row: number): void;
  /** The values of so many rows, as the Native format has them. */
  write(out: BlockWriter, rows: number): void;
  /** Begins anew, without rows. */
  reset(): void;
}
