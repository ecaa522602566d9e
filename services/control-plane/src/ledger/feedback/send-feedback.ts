import { create, toBinary } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import type { RpcClient } from '@sluice/rpc';
import { encodeEntry } from '@sluice/usage';
import type { Feedback } from '../../generated/prisma/client.ts';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { listUnsentFeedback, markFeedbackSent } from './store.ts';

const batchSize = 500;
const { writeUsage } = usage.UsageService.method;

/**
 * Brings the ledger what it does not have of the feedback. A row is done when the ledger has answered that it is
 * stored: whatever fails before that, it is sent again, and the ledger keeps the latest of an id.
 */
export async function sendFeedback(
  { client, ledger }: { client: DatabaseClient; ledger: RpcClient },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    const rows = await listUnsentFeedback(client, batchSize);
    if (rows.length === 0) return;
    const records = rows.map(entryOf);
    await ledger.unary(writeUsage, { records }, { timeoutMs: 10_000, failFast: true });
    await markFeedbackSent(client, rows);
    if (rows.length < batchSize) return;
  }
}

function entryOf(row: Feedback): Uint8Array {
  const feedback = create(usage.FeedbackSchema, {
    id: Buffer.from(row.id.replaceAll('-', ''), 'hex'),
    organisationId: row.organisationId,
    workspaceId: row.workspaceId,
    traceId: row.traceId,
    value: row.value,
    weight: row.weight,
    metadata: texts(row.metadata),
    createdAtMs: BigInt(row.createdAt.getTime()),
    changedAtMs: BigInt(row.updatedAt.getTime()),
  });
  return encodeEntry(usage.EntryKind.FEEDBACK, toBinary(usage.FeedbackSchema, feedback));
}

/** The ledger's metadata are texts. */
function texts(metadata: unknown): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata ?? {}).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}
