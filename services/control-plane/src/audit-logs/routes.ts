import { listAuditLogsQuery } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { Operation } from '../http/operation.ts';
import { parseInput } from '../http/parse-input.ts';
import { instant } from '../http/shapes.ts';
import { findWorkspaceOfAnyStatus } from '../workspaces/store.ts';
import { type AuditRow, listAuditEntries } from './store.ts';

export const auditLogOperations: readonly Operation[] = [
  {
    id: 'audit-logs.list',
    method: 'get',
    path: '/audit-logs',
    async handle(call) {
      const query = parseInput(listAuditLogsQuery, call.query, 'query');
      const { organisationId } = call.caller;
      if (
        query.organisation_id !== undefined &&
        query.organisation_id.toLowerCase() !== organisationId
      )
        throw new GatewayError('auth.missing_scope', {
          message: 'This key belongs to another organisation.',
        });
      const workspace =
        query.workspace_id === undefined
          ? undefined
          : await findWorkspaceOfAnyStatus(call.db, organisationId, query.workspace_id);
      if (workspace === null)
        throw new GatewayError('admin.not_found', { message: 'No such workspace.' });
      const { rows, total } = await listAuditEntries(
        call.db,
        { organisationId, workspaceId: workspace?.id },
        query,
      );
      // The odd value of `object` is the published one.
      return { records: rows.map(presentEntry), total, object: 'analytics-graph' };
    },
  },
];

/** What does not apply to an entry is left out of it: no field of a record is published as nullable. */
function presentEntry(row: AuditRow) {
  return {
    timestamp: instant(row.timestamp),
    method: row.method,
    uri: row.uri,
    request_id: row.requestId,
    request_body: row.requestBody,
    query_params: row.queryParams,
    request_headers: row.requestHeaders,
    user_id: row.userId ?? undefined,
    user_type: row.userType,
    api_key_id: row.apiKeyId ?? undefined,
    organisation_id: row.organisationId,
    workspace_id: row.workspaceId ?? undefined,
    response_status_code: row.responseStatusCode,
    resource_type: row.resourceType,
    resource_id: row.resourceId ?? undefined,
    action: row.action,
    client_ip: row.clientIp,
    country: row.country ?? undefined,
    detail: row.detail ?? undefined,
    before: row.before ?? undefined,
    after: row.after ?? undefined,
    sequence: Number(row.sequence),
    previous_hash: Buffer.from(row.previousHash).toString('hex'),
    hash: Buffer.from(row.hash).toString('hex'),
  };
}
