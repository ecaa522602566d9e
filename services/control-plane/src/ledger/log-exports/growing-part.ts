import type { ExportField, ExportFormat } from '@sluice/contracts/admin';
import { type ColumnSizes, rowGroup } from './parquet/row-group.ts';

type Row = Readonly<Record<string, unknown>>;

/** A part as the store has it. */
export interface PartContent {
  readonly rows: number;
  readonly content: Buffer;
  /** Of a row group: what the footer of the file tells of it. */
  readonly columns?: ColumnSizes;
}

/** Small enough for memory, large enough to be worth an object. */
const limits = { rows: 10_000, length: 4 * 1024 * 1024 };

/** The rows of the next part of a file. */
export interface GrowingPart {
  readonly rows: number;
  readonly isFull: boolean;
  add(row: Row): void;
  /** What is in it; it is empty after that. */
  take(): Promise<PartContent>;
}

export function growingPart(format: ExportFormat, fields: readonly ExportField[]): GrowingPart {
  return format === 'parquet' ? new RowGroupPart(fields) : new LinesPart();
}

class LinesPart implements GrowingPart {
  #lines: string[] = [];
  #length = 0;

  get rows(): number {
    return this.#lines.length;
  }

  get isFull(): boolean {
    return this.rows >= limits.rows || this.#length >= limits.length;
  }

  add(row: Row): void {
    const line = `${JSON.stringify(row)}\n`;
    this.#lines.push(line);
    this.#length += line.length;
  }

  async take(): Promise<PartContent> {
    const taken = { rows: this.rows, content: Buffer.from(this.#lines.join('')) };
    this.#lines = [];
    this.#length = 0;
    return taken;
  }
}

class RowGroupPart implements GrowingPart {
  readonly #fields: readonly ExportField[];
  #rows: Row[] = [];
  #length = 0;

  constructor(fields: readonly ExportField[]) {
    this.#fields = fields;
  }

  get rows(): number {
    return this.#rows.length;
  }

  get isFull(): boolean {
    return this.rows >= limits.rows || this.#length >= limits.length;
  }

  add(row: Row): void {
    this.#rows.push(row);
    this.#length += JSON.stringify(row).length;
  }

  async take(): Promise<PartContent> {
    const rows = this.#rows;
    this.#rows = [];
    this.#length = 0;
    return { rows: rows.length, ...(await rowGroup(this.#fields, rows)) };
  }
}
