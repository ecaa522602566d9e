import type { ListAuditLogsQuery } from '@sluice/contracts';
import type { Database } from '../database/client.ts';
import type { AuditEntry, Prisma } from '../generated/prisma/client.ts';
import { paged } from '../http/shapes.ts';

export type AuditRow = AuditEntry;

/** Newest first. */
export async function listAuditEntries(
  db: Database,
  scope: { organisationId: string; workspaceId: string | undefined },
  query: ListAuditLogsQuery,
): Promise<{ rows: AuditRow[]; total: number }> {
  const where: Prisma.AuditEntryWhereInput = {
    organisationId: scope.organisationId,
    timestamp: { gte: query.start_time, lte: query.end_time },
    method: query.method,
    uri: query.uri,
    requestId: query.request_id,
    userId: query.user_id?.toLowerCase(),
    userType: query.user_type,
    workspaceId: scope.workspaceId,
    responseStatusCode: query.response_status_code,
    resourceType: query.resource_type,
    action: query.action,
    clientIp: query.client_ip,
    country: query.country,
  };
  const [rows, total] = await Promise.all([
    db.auditEntry.findMany({ where, orderBy: { sequence: 'desc' }, ...paged(query) }),
    db.auditEntry.count({ where }),
  ]);
  return { rows, total };
}
