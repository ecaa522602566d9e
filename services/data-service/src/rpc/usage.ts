import type { ClickHouseClient } from '@clickhouse/client';
import type { usage } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import { listCharges } from '../queries/list-charges.ts';
import type { UsageSink } from '../sinks/usage-sink.ts';

/** Answers after the insert. A caller that stops waiting sends the same records again. */
export function usageHandlers(
  sink: UsageSink,
  client: ClickHouseClient,
): RpcHandlers<typeof usage.UsageService> {
  return {
    listCharges: (request) => listCharges(client, request),
    async writeUsage(request, { signal }) {
      await sink.write(request.records, signal);
      return {};
    },
  };
}
