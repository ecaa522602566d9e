import type { analytics } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';

const rows = ['gpt-4o', 'o3', 'gpt-5'].map((value) => ({ value, requests: 7n, cost: 1 }));

/** A ledger with the same few facts for everyone. */
export const pagedLedger: Partial<RpcHandlers<typeof analytics.AnalyticsService>> = {
  getGraph: async () => ({
    summary: { total: 3, avg: 1.5, p50: 2, p90: 3, p99: 4 },
    dataPoints: [
      {
        timestampMs: 1735689600000n,
        key: '429',
        values: { total: 3, avg: 1.5, p50: 2 },
        parts: [{ key: '429', value: 2 }],
      },
    ],
  }),
  getSummary: async () => ({ values: { hits: 3, avg_latency: 1.5 } }),
  listGroups: async ({ currentPage, pageSize }) => ({
    total: BigInt(rows.length),
    rows: rows.slice(currentPage * pageSize, (currentPage + 1) * pageSize),
  }),
};
