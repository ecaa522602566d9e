import { analytics } from '@sluice/proto-stubs';
import type { RpcClient } from '@sluice/rpc';
import { waitMs } from '@sluice/testkit';

/** What the ledger has, entry by entry. */
export interface LedgerContent {
  /** Attempts, by trace. */
  readonly attempts: ReadonlyMap<string, number>;
  readonly entries: number;
  readonly costNanoUsd: bigint;
  readonly tokens: bigint;
}

/** Reads all entries of an organisation, page by page. */
export async function readLedger(
  client: RpcClient,
  organisationId: string,
  fromMs: number,
): Promise<LedgerContent> {
  const attempts = new Map<string, number>();
  let entries = 0;
  let costNanoUsd = 0n;
  let tokens = 0n;
  let cursor = '';
  const filter = { organisationId, fromMs: BigInt(fromMs), toMs: BigInt(Date.now() + 60_000) };
  do {
    const page = await client.unary(
      analytics.LogService.method.listLogs,
      { filter, pageSize: 1000, cursor },
      { timeoutMs: waitMs },
    );
    for (const { record, attempts: count } of page.entries) {
      if (record === undefined) throw new Error('an entry without a record');
      entries += 1;
      attempts.set(record.traceId, (attempts.get(record.traceId) ?? 0) + count);
      costNanoUsd += record.costNanoUsd;
      tokens += record.inputTokens + record.outputTokens;
    }
    cursor = page.nextCursor;
  } while (cursor !== '');
  return { attempts, entries, costNanoUsd, tokens };
}
