import type { AnswerOf } from '@sluice/contracts/admin';
import { instant } from '../../kernel/http/shapes.ts';
import type { LogExportRow } from './store.ts';

type Item = AnswerOf<'log-exports.read'>;

export function presentLogExport(row: LogExportRow): Item {
  return {
    id: row.id,
    organisation_id: row.organisationId,
    filters: row.filters as Item['filters'],
    requested_data: row.requestedData as Item['requested_data'],
    status: row.status as Item['status'],
    ...(row.startedAt !== null && { total: row.total }),
    ...(row.error !== null && { error: row.error }),
    format: row.format as Item['format'],
    all: row.all,
    description: row.description,
    created_at: instant(row.createdAt),
    last_updated_at: instant(row.updatedAt),
    created_by: row.createdBy,
    workspace_id: row.workspaceId,
    object: 'export',
  };
}

/** What writing one answers. */
export function presentWritten(row: LogExportRow): AnswerOf<'log-exports.create'> {
  return { id: row.id, total: row.total, object: 'export' };
}
