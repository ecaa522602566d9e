import { z } from 'zod';
import { instantField, instantText } from '../../fields/fields.ts';
import { shapeNames } from '../../fields/shape-names.ts';
import { auditActions, auditResources, organisationKey } from '../kernel/access.ts';
import { endpoint, linesEndpoint } from '../kernel/endpoint.ts';
import { inOrder } from '../kernel/in-order.ts';
import { pageQuery, queryInteger } from '../kernel/paging.ts';

const text = z.string().max(2048).optional();

const filters = {
  organisation_id: z.uuid().optional(),
  method: z.enum(['GET', 'POST', 'PUT', 'DELETE']).optional(),
  uri: text,
  request_id: text,
  user_id: z.uuid().optional(),
  /** `system` is ours: what nobody asked for. */
  user_type: z.enum(['user', 'api_key', 'system']).optional(),
  workspace_id: text,
  response_status_code: queryInteger(100, 599).optional(),
  resource_type: z.enum(auditResources).optional(),
  action: z.enum(auditActions).optional(),
  client_ip: text,
  country: text,
};

const span = inOrder(['start_time', 'end_time']);

const listAuditLogsQuery = z
  .object({ start_time: instantField, end_time: instantField, ...filters })
  .superRefine(span)
  .and(pageQuery({ default: 100, max: 100 }));

const exportAuditLogsQuery = z
  .object({
    start_time: instantField.optional(),
    end_time: instantField.optional(),
    ...filters,
    cursor: queryInteger(0, 10 ** 15 - 1).optional(),
    limit: queryInteger(1, 100_000).optional(),
  })
  .superRefine(span);

/** What does not apply to an entry is left out of it: no field of a record is published as nullable. */
const record = z
  .object({
    timestamp: instantText,
    /** GET only where a JWT was refused: reading is not recorded. */
    method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
    uri: z.string(),
    request_id: z.string(),
    request_body: z.string(),
    query_params: z.string(),
    request_headers: z.string(),
    user_id: z.uuid().optional(),
    user_type: z.enum(['user', 'api_key']),
    api_key_id: z.uuid().optional(),
    organisation_id: z.uuid(),
    workspace_id: z.string().optional(),
    response_status_code: z.int(),
    resource_type: z.string(),
    resource_id: z.string().optional(),
    action: z.string(),
    client_ip: z.string(),
    country: z.string().optional(),
    detail: z.string().optional(),
    before: z.string().optional(),
    after: z.string().optional(),
    sequence: z.int(),
    previous_hash: z.string(),
    hash: z.string(),
  })
  .register(shapeNames, { name: 'AuditLog' });

/** The same as they are exported: what is JSON is JSON, and who did it is told apart. */
const json = z.unknown();
const line = record
  .extend({
    user_type: z.enum(['user', 'api_key', 'system']),
    request_body: json,
    query_params: json,
    request_headers: json,
    detail: json.optional(),
    before: json.optional(),
    after: json.optional(),
  })
  .register(shapeNames, { name: 'AuditLogLine' });

/** How an audit chain can be broken. */
const chainFaults = ['altered', 'missing', 'unlinked', 'head'] as const;
export type ChainFaultReason = (typeof chainFaults)[number];

const verification = z.object({
  object: z.literal('audit-log-verification'),
  organisation_id: z.uuid(),
  valid: z.boolean(),
  /** How many fit, counted from the first. */
  entries: z.int(),
  first_sequence: z.int().nullable(),
  last_sequence: z.int().nullable(),
  /** Kept elsewhere, it shows later that the whole chain was not written anew. */
  head_hash: z.string(),
  fault: z
    .object({
      sequence: z.int(),
      id: z.uuid().optional(),
      reason: z.enum(chainFaults),
      message: z.string(),
    })
    .optional(),
});

export const auditLogsEndpoints = {
  'audit-logs.list': endpoint({
    operationId: 'getAuditLogs',
    summary: 'List what was changed, when and by whom',
    tag: 'Audit Logs',
    method: 'get',
    path: '/audit-logs',
    access: { keys: organisationKey, scopes: ['audit_logs.list'] },
    query: listAuditLogsQuery,
    // The odd value of `object` is the published one.
    answer: z.object({
      records: z.array(record),
      total: z.int(),
      object: z.literal('analytics-graph'),
    }),
  }),
  'audit-logs.export': linesEndpoint({
    operationId: 'getAuditLogsExport',
    summary: 'Export entries of the audit log, a line of JSON each',
    tag: 'Audit Logs',
    method: 'get',
    path: '/audit-logs/export',
    access: { keys: organisationKey, scopes: ['audit_logs.list'] },
    query: exportAuditLogsQuery,
    answer: line,
    added: 'all entries in order, as lines of JSON, from where the last call ended',
  }),
  'audit-logs.verify': endpoint({
    operationId: 'getAuditLogsVerify',
    summary: 'Prove that the audit log is whole',
    tag: 'Audit Logs',
    method: 'get',
    path: '/audit-logs/verify',
    access: { keys: organisationKey, scopes: ['audit_logs.list'] },
    answer: verification,
    added: 'proves that no entry of the audit log was altered or removed',
  }),
};
