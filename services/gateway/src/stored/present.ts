import { storedId } from '@sluice/contracts';
import { parseText } from '@sluice/json';
import type { jobs } from '@sluice/proto-stubs';

const seconds = (ms: bigint) => (ms === 0n ? null : Math.floor(Number(ms) / 1000));

/** A file as OpenAI's clients know it. */
export function presentFile(file: jobs.File) {
  return {
    id: storedId('file', file.id),
    object: 'file',
    bytes: Number(file.bytes),
    created_at: seconds(file.createdAtMs),
    expires_at: seconds(file.expiresAtMs),
    filename: file.filename,
    purpose: file.purpose,
    status: 'processed',
    status_details: null,
  };
}

/** An upload in parts, as OpenAI's clients know it. */
export function presentUpload(upload: jobs.Parted, status: string, file?: jobs.File) {
  return {
    id: storedId('upload', upload.id),
    object: 'upload',
    bytes: Number(upload.bytes),
    created_at: seconds(upload.createdAtMs),
    expires_at: seconds(upload.expiresAtMs),
    filename: upload.filename,
    purpose: upload.purpose,
    status,
    file: file === undefined ? null : presentFile(file),
  };
}

const fileId = (id: string) => (id === '' ? null : storedId('file', id));

/** A batch as OpenAI's clients know it. Its JSON was written by our own services. */
export function presentBatch(batch: jobs.Batch) {
  const { completed, failed, total } = batch;
  return {
    id: storedId('batch', batch.id),
    object: 'batch',
    endpoint: batch.endpoint,
    errors:
      batch.errorsJson === '' || batch.errorsJson === '[]'
        ? null
        : { object: 'list', data: parseText(batch.errorsJson) as unknown },
    input_file_id: storedId('file', batch.inputFileId),
    completion_window: batch.completionWindow,
    status: batch.status,
    output_file_id: fileId(batch.outputFileId),
    error_file_id: fileId(batch.errorFileId),
    created_at: seconds(batch.createdAtMs),
    in_progress_at: seconds(batch.inProgressAtMs),
    expires_at: seconds(batch.expiresAtMs),
    finalizing_at: seconds(batch.finalizingAtMs),
    completed_at: seconds(batch.completedAtMs),
    failed_at: seconds(batch.failedAtMs),
    expired_at: seconds(batch.expiredAtMs),
    cancelling_at: seconds(batch.cancellingAtMs),
    cancelled_at: seconds(batch.cancelledAtMs),
    request_counts: { total: Number(total), completed: Number(completed), failed: Number(failed) },
    metadata: batch.metadataJson === '' ? null : (parseText(batch.metadataJson) as unknown),
  };
}

/** A page of a list, as OpenAI's clients go through it. */
export function presentPage<Item extends { id: string }>(data: readonly Item[], hasMore: boolean) {
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: hasMore,
  };
}
