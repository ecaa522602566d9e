import type { ClickHouseClient } from '@clickhouse/client';
import type { analytics } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import { listGaps } from '../queries/list-gaps.ts';

export function ledgerHandlers(
  client: ClickHouseClient,
  nowMs: () => number,
): RpcHandlers<typeof analytics.LedgerService> {
  return { listGaps: (request) => listGaps(client, request, nowMs()) };
}
