import { randomBytes } from 'node:crypto';
import { batchKeySecret, hashServiceKey } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { parseText } from '@sluice/json';
import type { jobs } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { Database } from '../kernel/database/client.ts';
import { isUuid, newId } from '../kernel/names/ids.ts';
import {
  type BatchKind,
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
  /** The same of responses in the background. */
  readonly backgroundMax: number;
}

const pageMax = 100;
const responsesPath = '/v1/responses';

/** Batches as callers make, see and cancel them. */
export function batchHandlers(parts: BatchServiceParts): RpcHandlers<typeof jobs.BatchService> {
  const { client: db, vault, pepper, now } = parts;

  async function found(workspaceId: string, id: string, kind: BatchKind): Promise<BatchRow> {
    const known = isUuid(id) && isUuid(workspaceId);
    const row = known ? await findBatch(db, { id, workspaceId, kind }) : null;
    if (row === null) throw new GatewayError(`${kind}.not_found`);
    return row;
  }

  /** What is asked for is the response's own content, which is there before. */
  async function createBackground({ owner, id, headersJson, windowMs }: jobs.CreateBatchRequest) {
    const { organisationId = '', workspaceId = '', apiKeyId = '' } = owner ?? {};
    if (!isUuid(organisationId) || !isUuid(workspaceId)) throw new GatewayError('internal');
    if (!isUuid(apiKeyId)) throw new GatewayError('response.needs_key');
    const content = isUuid(id)
      ? await findFile(db, { id, workspaceId, kind: 'response' }, now())
      : null;
    if (content === null) throw new GatewayError('response.not_found');
    if ((await countOpenBatches(db, workspaceId, 'response')) >= parts.backgroundMax)
      throw new GatewayError('response.too_many_in_background');
    const row = await insertBatch(db, {
      id,
      organisationId,
      workspaceId,
      apiKeyId,
      kind: 'response',
      keyHash: Uint8Array.from(hashServiceKey(batchKeySecret(id), pepper)),
      endpoint: responsesPath,
      completionWindow: 'immediate',
      inputFileId: id,
      sealedJob: sealJob(vault, id, { headersJson, dataKey: randomBytes(32) }),
      createdAt: now(),
      expiresAt: new Date(now().getTime() + Number(windowMs)),
    });
    return { batch: batchMessage(row) };
  }

  return {
    async createBatch(request) {
      if (kindOf(request.kind) === 'response') return createBackground(request);
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
      if ((await countOpenBatches(db, workspaceId, 'batch')) >= parts.batchesMax)
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
        ...(metadataJson !== '' && { metadata: parseText(metadataJson) as Record<string, string> }),
        sealedJob: sealJob(vault, id, { headersJson, dataKey: randomBytes(32) }),
        createdAt: now(),
        expiresAt: new Date(now().getTime() + Number(request.windowMs)),
      });
      return { batch: batchMessage(row) };
    },
    async getBatch({ workspaceId, id, kind }) {
      return { batch: batchMessage(await found(workspaceId, id, kindOf(kind))) };
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
    async cancelBatch({ workspaceId, id, kind: sent }) {
      const kind = kindOf(sent);
      const row = await found(workspaceId, id, kind);
      if (!(await markCancelling(db, { id, workspaceId, kind }, now()))) {
        const { status } = await found(workspaceId, id, kind);
        // A response that has ended is told as it ended.
        if (kind === 'batch' && status !== 'cancelling' && status !== 'cancelled')
          throw new GatewayError('batch.finished', {
            message: `The batch is ${status} and cannot be cancelled.`,
          });
      }
      return { batch: batchMessage(await found(workspaceId, row.id, kind)) };
    },
  };
}

function kindOf(kind: string): BatchKind {
  if (kind === 'response') return kind;
  if (kind !== '') throw new GatewayError('internal');
  return 'batch';
}
