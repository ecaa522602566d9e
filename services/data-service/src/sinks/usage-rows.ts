import type { Column } from '../columns/column.ts';
import { type NativeBlock, nativeBlock } from '../columns/native-block.ts';
import { UnfitRecord } from '../columns/unfit-record.ts';
import { usageFields } from '../columns/usage-fields.gen.ts';
import { MalformedMessage, WireReader } from '../columns/wire-reader.ts';
import type { OldRecord } from './find-stored-copies.ts';
import { UsageColumns } from './usage-columns.gen.ts';

/** Records on their way into `usage_records`: read off the wire straight into its columns. */
export class UsageRows {
  readonly #columns = new UsageColumns();
  readonly #all: readonly Column[] = Object.values(this.#columns);
  readonly #byField: (Column | undefined)[] = [];
  readonly #wire = new WireReader();
  #count = 0;

  constructor() {
    for (const [name, field] of Object.entries(usageFields))
      this.#byField[field] = this.#columns[name as keyof UsageColumns];
  }

  get count(): number {
    return this.#count;
  }

  /** @throws UnfitRecord for what a column could not hold, so that one bad record never fails a batch */
  add(record: Uint8Array): void {
    try {
      this.#read(record);
      this.#count += 1;
    } catch (error) {
      for (const column of this.#all) column.clear(this.#count);
      if (error instanceof MalformedMessage)
        throw new UnfitRecord('not a UsageRecord', { cause: error });
      throw error;
    }
  }

  block(): NativeBlock {
    return nativeBlock({ ...this.#columns }, this.#count);
  }

  /** The records of requests that arrived before then. */
  before(ms: number): OldRecord[] {
    const columns = this.#columns;
    const old: OldRecord[] = [];
    for (let row = 0; row < this.#count; row += 1)
      if (columns.created_at.msOf(row) < ms)
        old.push({
          row,
          id: columns.id.textOf(row),
          organisationId: columns.organisation_id.textOf(row),
          workspaceId: columns.workspace_id.textOf(row),
          createdAtMs: columns.created_at.msOf(row),
          replicaId: columns.replica_id.textOf(row),
          sequence: columns.sequence.at(row),
          isLost: columns.outcome.textOf(row) === 'lost',
        });
    return old;
  }

  reset(): void {
    for (const column of this.#all) column.reset();
    this.#count = 0;
  }

  #read(record: Uint8Array): void {
    const wire = this.#wire;
    const row = this.#count;
    wire.open(record);
    for (let field = wire.field(); field !== 0; field = wire.field()) {
      const column = this.#byField[field];
      if (column === undefined) wire.skip();
      else column.read(wire, row);
    }
    const { id, request_id, created_at, entry_id } = this.#columns;
    id.demand(row);
    request_id.demand(row);
    created_at.demand(row);
    // Nearly always the record's own: that, and none, is stored as zeros, which take no room.
    if (entry_id.isSame(id, row)) entry_id.clear(row);
  }
}
