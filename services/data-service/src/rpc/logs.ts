import type { ClickHouseClient } from '@clickhouse/client';
import { GatewayError } from '@sluice/errors';
import type { analytics } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import { getLog } from '../queries/logs/get-log.ts';
import { listAttempts } from '../queries/logs/list-attempts.ts';
import { listLogs } from '../queries/logs/list-logs.ts';
import { listPastRequests } from '../queries/logs/list-past-requests.ts';

/** Single requests, as operators look at them. */
export function logHandlers(client: ClickHouseClient): RpcHandlers<typeof analytics.LogService> {
  return {
    async listLogs({ filter, pageSize, cursor }) {
      if (filter === undefined) throw new GatewayError('admin.validation', { field: 'filter' });
      return listLogs(client, { filter, pageSize, cursor });
    },
    getLog: (request) => getLog(client, request),
    listAttempts: (request) => listAttempts(client, request),
    listPastRequests: (request, { signal }) => listPastRequests(client, request, signal),
  };
}
