import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { type EntryKind, entryKindName, type LedgerEntry } from '@sluice/usage';
import { adjustmentRow } from './adjustment-row.ts';
import { UnfitRecord, type UsageRow } from './column-values.ts';
import { feedbackRow } from './feedback-row.ts';
import { lifeRow } from './life-row.ts';
import { usageRow } from './usage-row.gen.ts';

/** A row and the table it goes to. */
export interface LedgerRow {
  table: 'usage_records' | 'usage_adjustments' | 'feedbacks' | 'replica_lives';
  row: UsageRow;
}

/** What becomes of an entry, by its kind: a new kind is a line here and a table. */
const rowOf: Partial<Record<EntryKind, (body: Uint8Array) => LedgerRow>> = {
  [usage.EntryKind.ATTEMPT]: (body) => ({
    table: 'usage_records',
    row: usageRow(messageIn(usage.UsageRecordSchema, body)),
  }),
  [usage.EntryKind.ADJUSTMENT]: (body) => ({
    table: 'usage_adjustments',
    row: adjustmentRow(messageIn(usage.AdjustmentSchema, body)),
  }),
  [usage.EntryKind.FEEDBACK]: (body) => ({
    table: 'feedbacks',
    row: feedbackRow(messageIn(usage.FeedbackSchema, body)),
  }),
  [usage.EntryKind.LIFE]: (body) => ({
    table: 'replica_lives',
    row: lifeRow(messageIn(usage.LifeSchema, body)),
  }),
};

/** @throws UnfitRecord for what has no place here; the message says why */
export function ledgerRow({ kind, body }: LedgerEntry): LedgerRow {
  const row = rowOf[kind];
  if (row === undefined)
    throw new UnfitRecord(`entries of kind ${entryKindName(kind)} have no table`);
  return row(body);
}

function messageIn<Desc extends DescMessage>(schema: Desc, body: Uint8Array): MessageShape<Desc> {
  try {
    return fromBinary(schema, body);
  } catch (error) {
    throw new UnfitRecord(`not a ${schema.name}`, { cause: error });
  }
}
