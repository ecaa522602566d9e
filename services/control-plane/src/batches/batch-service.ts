import { randomBytes } from 'node:crypto';
import { batchKeySecret, hashServiceKey } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import type { jobs } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { Database } from '../kernel/database/client.ts';
import { isUuid, newId } from '../kernel/names/ids.ts';
import {
  type BatchRow,
  countOpenBatches,
  findBatch,
  insertBatch,
  listBatches,
  markCancelling,
} from './batch-store.ts';
import { findFile } from './file-store.ts';
import { batchMessage } from './messages.ts';
import { sealJob } from './sealed-job.ts';

export interface BatchServiceParts {
  readonly client: Database;
  readonly vault: CredentialVault;
  readonly pepper: Buffer;
  readonly now: () => Date;
  /** That a workspace may have under way at once. */
  readonly batchesMax: number;
}

const pageMax = 100;

/** Batches as callers make, see and cancel them. */
export function batchHandlers(parts: BatchServiceParts): RpcHandlers<typeof jobs.BatchService> {
  const { client: db, vault, pepper, now } = parts;

  async function found(workspaceId: string, id: string): Promise<BatchRow> {
    const known = isUuid(id) && isUuid(workspaceId);
    const row = known ? await findBatch(db, { id, workspaceId }) : null;
    if (row === null) throw new GatewayError('batch.not_found');
    return row;
  }

  return {
    async createBatch(request) {
      const { organisationId, workspaceId, apiKeyId } = request.owner ?? {};
      if (organisationId === undefined || workspaceId === undefined || apiKeyId === undefined)
        throw new GatewayError('internal');
      if (!isUuid(apiKeyId)) throw new GatewayError('batch.needs_key');
      const { inputFileId, endpoint, completionWindow, metadataJson, headersJson } = request;
      const file = isUuid(inputFileId)
        ? await findFile(db, { id: inputFileId, workspaceId, kind: 'file' }, now())
        : null;
      if (file === null) throw new GatewayError('file.not_found', { field: 'body.input_file_id' });
      if (file.purpose !== 'batch')
        throw new GatewayError('request.invalid_field', {
          field: 'body.input_file_id',
          message: `The file has the purpose ${file.purpose}; the lines of a batch are in files with the purpose batch.`,
        });
      if ((await countOpenBatches(db, workspaceId)) >= parts.batchesMax)
        throw new GatewayError('batch.too_many');
      const id = newId(now().getTime());
      const row = await insertBatch(db, {
        id,
        organisationId,
        workspaceId,
        apiKeyId,
        keyHash: Uint8Array.from(hashServiceKey(batchKeySecret(id), pepper)),
        endpoint,
        completionWindow,
        inputFileId,
        ...(metadataJson !== '' && { metadata: JSON.parse(metadataJson) }),
        sealedJob: sealJob(vault, id, { headersJson, dataKey: randomBytes(32) }),
        createdAt: now(),
        expiresAt: new Date(now().getTime() + Number(request.windowMs)),
      });
      return { batch: batchMessage(row) };
    },
    async getBatch({ workspaceId, id }) {
      return { batch: batchMessage(await found(workspaceId, id)) };
    },
    async listBatches({ workspaceId, after, limit }) {
      if (!isUuid(workspaceId) || (after !== '' && !isUuid(after)))
        throw new GatewayError('batch.not_found');
      const count = Math.min(Math.max(1, limit), pageMax);
      const rows = await listBatches(db, {
        workspaceId,
        after: after === '' ? undefined : after,
        limit: count,
      });
      return { batches: rows.slice(0, count).map(batchMessage), hasMore: rows.length > count };
    },
    async cancelBatch({ workspaceId, id }) {
      const row = await found(workspaceId, id);
      if (!(await markCancelling(db, { id, workspaceId }, now()))) {
        const { status } = await found(workspaceId, id);
        if (status !== 'cancelling' && status !== 'cancelled')
          throw new GatewayError('batch.finished', {
            message: `The batch is ${status} and cannot be cancelled.`,
          });
      }
      return { batch: batchMessage(await found(workspaceId, row.id)) };
    },
  };
}
