import { fromBinary } from '@bufbuild/protobuf';
import { type analytics, usage } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import { readEntry, uuidText } from '@sluice/usage';

type Handlers = RpcHandlers<typeof analytics.LedgerService>;

/** The adjustments that a test has written to the ledger, which lists them as the real one does. */
export function keepAdjustments(): {
  take(records: readonly Uint8Array[]): void;
  list: Handlers['listAdjustments'];
} {
  const kept: usage.Adjustment[] = [];
  return {
    take(records) {
      for (const { kind, body } of records.map((bytes) => readEntry(bytes)))
        if (kind === usage.EntryKind.ADJUSTMENT)
          kept.unshift(fromBinary(usage.AdjustmentSchema, body));
    },
    list: async ({ organisationId, id, recordId, pageSize, currentPage }) => {
      const all = kept.filter(
        (one) =>
          one.organisationId === organisationId &&
          (id === '' || uuidText(one.id) === id) &&
          (recordId === '' || uuidText(one.recordId) === recordId),
      );
      const first = currentPage * pageSize;
      return { adjustments: all.slice(first, first + pageSize), total: BigInt(all.length) };
    },
  };
}
