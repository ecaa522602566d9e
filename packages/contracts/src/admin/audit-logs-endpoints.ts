import { z } from 'zod';
import { listAuditLogsQuery } from './audit-logs.ts';
import { endpoint } from './endpoint.ts';

const auditLogObjectList = z.object({
  records: z.array(
    z.object({
      timestamp: z.string(),
      /** GET only where a JWT was refused: reading is not recorded. */
      method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
      uri: z.string(),
      request_id: z.string(),
      request_body: z.string(),
      query_params: z.string(),
      request_headers: z.string(),
      user_id: z.uuid(),
      user_type: z.enum(['user', 'api_key', 'system']),
      organisation_id: z.uuid(),
      workspace_id: z.string(),
      response_status_code: z.int(),
      resource_type: z.string(),
      action: z.string(),
      client_ip: z.string(),
      country: z.string(),
    }),
  ),
  total: z.int(),
  object: z.literal('analytics-graph'),
});

export const auditLogsEndpoints = {
  'audit-logs.list': endpoint({
    operationId: 'getAuditLogs',
    tag: 'Audit Logs',
    method: 'get',
    path: '/audit-logs',
    query: listAuditLogsQuery,
    answer: auditLogObjectList,
  }),
};
