import { z } from 'zod';
import { instantField } from './fields.ts';
import { pageQuery, queryInteger } from './paging.ts';

const text = z.string().max(2048).optional();

export const listAuditLogsQuery = z
  .object({
    start_time: instantField,
    end_time: instantField,
    organisation_id: z.uuid().optional(),
    method: z.enum(['GET', 'POST', 'PUT', 'DELETE']).optional(),
    uri: text,
    request_id: text,
    user_id: z.uuid().optional(),
    user_type: z.enum(['user', 'api_key', 'system']).optional(),
    workspace_id: text,
    response_status_code: queryInteger(100, 599).optional(),
    resource_type: text,
    action: text,
    client_ip: text,
    country: text,
  })
  .and(pageQuery({ default: 100, max: 100 }));
export type ListAuditLogsQuery = z.infer<typeof listAuditLogsQuery>;
