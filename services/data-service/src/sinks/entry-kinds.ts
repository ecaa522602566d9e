import { type DescMessage, fromBinary, type MessageShape } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { type EntryKind, entryKindName, type LedgerEntry, readEntry } from '@sluice/usage';
import { UnfitRecord } from '../columns/unfit-record.ts';
import { adjustmentRow } from './adjustment-row.ts';
import type { JsonRow } from './column-values.ts';
import { feedbackRow } from './feedback-row.ts';
import { lateHookRow } from './late-hook-row.ts';
import { lifeRow } from './life-row.ts';
import { storedObjectRow } from './stored-object-row.ts';

/** A row and the table it goes to. */
export interface LedgerRow {
  table: 'usage_adjustments' | 'feedbacks' | 'late_hooks' | 'replica_lives' | 'stored_objects';
  row: JsonRow;
}

/** What becomes of an entry, by its kind: a new kind is a line here and a table. Attempts, nearly all, have a way of their own. */
const kinds: Partial<Record<EntryKind, Kind>> = {
  [usage.EntryKind.ADJUSTMENT]: kindOf(usage.AdjustmentSchema, 'usage_adjustments', adjustmentRow),
  [usage.EntryKind.FEEDBACK]: kindOf(usage.FeedbackSchema, 'feedbacks', feedbackRow),
  [usage.EntryKind.LATE_HOOK]: kindOf(usage.LateHookSchema, 'late_hooks', lateHookRow),
  [usage.EntryKind.STORED_OBJECT]: kindOf(
    usage.StoredObjectSchema,
    'stored_objects',
    storedObjectRow,
  ),
  [usage.EntryKind.LIFE]: kindOf(usage.LifeSchema, 'replica_lives', lifeRow),
};

interface Kind {
  rowOf(body: Uint8Array): LedgerRow;
  organisationOf(body: Uint8Array): string;
}

function kindOf<Desc extends DescMessage>(
  schema: Desc,
  table: LedgerRow['table'],
  row: (message: MessageShape<Desc>) => JsonRow,
): Kind {
  return {
    rowOf: (body) => ({ table, row: row(messageIn(schema, body)) }),
    organisationOf: (body) => organisationIn(messageIn(schema, body)),
  };
}

function organisationIn(message: object): string {
  return 'organisationId' in message ? String(message.organisationId) : '';
}

/** @throws UnfitRecord for what has no place here; the message says why */
export function ledgerRow({ kind, body }: LedgerEntry): LedgerRow {
  const known = kinds[kind];
  if (known === undefined)
    throw new UnfitRecord(`entries of kind ${entryKindName(kind)} have no table`);
  return known.rowOf(body);
}

/** Whose entry it is, as far as bytes that are unfit tell it; empty = they do not. */
export function organisationOf(bytes: Uint8Array): string {
  try {
    const { kind, body } = readEntry(bytes);
    if (kind === usage.EntryKind.ATTEMPT)
      return organisationIn(messageIn(usage.UsageRecordSchema, body));
    return kinds[kind]?.organisationOf(body) ?? '';
  } catch {
    // Not even an entry: that is why it was rejected.
    return '';
  }
}

function messageIn<Desc extends DescMessage>(schema: Desc, body: Uint8Array): MessageShape<Desc> {
  try {
    return fromBinary(schema, body);
  } catch (error) {
    throw new UnfitRecord(`not a ${schema.name}`, { cause: error });
  }
}
