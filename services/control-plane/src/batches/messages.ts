import type { MessageInitShape } from '@bufbuild/protobuf';
import type { jobs } from '@sluice/proto-stubs';
import type { ServiceUpload } from '../generated/prisma/client.ts';
import type { BatchRow } from './batch-store.ts';
import type { FileRow } from './file-store.ts';

const ms = (date: Date | null) => BigInt(date?.getTime() ?? 0);

/** A file as the other services know it. */
export function fileMessage(row: FileRow): MessageInitShape<typeof jobs.FileSchema> {
  const { id, organisationId, workspaceId, filename, purpose, bytes, segments } = row;
  return {
    id,
    organisationId,
    workspaceId,
    filename,
    purpose,
    bytes,
    segments,
    kind: row.kind === 'file' ? '' : row.kind,
    version: row.version,
    content: row.content,
    createdAtMs: ms(row.createdAt),
    expiresAtMs: ms(row.expiresAt),
  };
}

export function uploadMessage(row: ServiceUpload): MessageInitShape<typeof jobs.PartedSchema> {
  const { id, organisationId, workspaceId, filename, purpose, bytes, status, keptS } = row;
  return {
    id,
    organisationId,
    workspaceId,
    filename,
    purpose,
    bytes,
    status,
    keptS,
    createdAtMs: ms(row.createdAt),
    expiresAtMs: ms(row.expiresAt),
  };
}

export function batchMessage(row: BatchRow): MessageInitShape<typeof jobs.BatchSchema> {
  const { id, organisationId, workspaceId, endpoint, completionWindow, inputFileId } = row;
  return {
    id,
    organisationId,
    workspaceId,
    endpoint,
    completionWindow,
    inputFileId,
    status: row.status,
    outputFileId: row.outputFileId ?? '',
    errorFileId: row.errorFileId ?? '',
    total: row.total,
    completed: row.completed,
    failed: row.failed,
    errorsJson: JSON.stringify(row.errors),
    metadataJson: row.metadata === null ? '' : JSON.stringify(row.metadata),
    createdAtMs: ms(row.createdAt),
    inProgressAtMs: ms(row.inProgressAt),
    expiresAtMs: ms(row.expiresAt),
    finalizingAtMs: ms(row.finalizingAt),
    completedAtMs: ms(row.completedAt),
    failedAtMs: ms(row.failedAt),
    expiredAtMs: ms(row.expiredAt),
    cancellingAtMs: ms(row.cancellingAt),
    cancelledAtMs: ms(row.cancelledAt),
  };
}
