import { GatewayError } from '@sluice/errors';
import type { analytics } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import { getLog } from '../queries/logs/get-log.ts';
import { listAttempts } from '../queries/logs/list-attempts.ts';
import { listLogs } from '../queries/logs/list-logs.ts';
import { listPastRequests } from '../queries/logs/list-past-requests.ts';
import type { Questions } from '../queries/questions.ts';

/** Single requests, as operators look at them. */
export function logHandlers(questions: Questions): RpcHandlers<typeof analytics.LogService> {
  return {
    async listLogs({ filter, pageSize, cursor }, caller) {
      if (filter === undefined) throw new GatewayError('admin.validation', { field: 'filter' });
      return listLogs(questions.one(caller), { filter, pageSize, cursor });
    },
    getLog: (request, caller) => getLog(questions.one(caller), request),
    listAttempts: (request, caller) => listAttempts(questions.one(caller), request),
    listPastRequests: (request, caller) =>
      listPastRequests(questions.walk(caller), request, caller.signal),
  };
}
