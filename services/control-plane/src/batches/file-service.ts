import { randomBytes } from 'node:crypto';
import { GatewayError } from '@sluice/errors';
import type { jobs } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { Database } from '../kernel/database/client.ts';
import { isUuid, newId } from '../kernel/names/ids.ts';
import { listObsoleteBatches, noteBatchesEmptied } from './batch-store.ts';
import {
  countFiles,
  type FileRow,
  findFile,
  finishFile,
  insertFile,
  listFiles,
  listObsoleteFiles,
  markDeleted,
  removeFiles,
} from './file-store.ts';
import { fileMessage } from './messages.ts';

export interface FileServiceParts {
  readonly client: Database;
  readonly vault: CredentialVault;
  readonly now: () => Date;
  /** That a workspace may have at once. */
  readonly filesMax: number;
  /** How long files are kept of which nobody said how long; 0 = until they are deleted. */
  readonly keptMs: number;
}

const table = 'service_files';
const pageMax = 10_000;
/** An upload that takes longer is one whose data service is gone. */
const uploadMsMax = 24 * 3_600_000;
const obsoleteMax = 100;

/** What is known of files, and what their contents are encrypted with. */
export function fileHandlers(parts: FileServiceParts): RpcHandlers<typeof jobs.FileService> {
  const { client: db, vault, now } = parts;

  async function found(workspaceId: string, id: string): Promise<FileRow> {
    const known = isUuid(id) && isUuid(workspaceId);
    const row = known ? await findFile(db, { id, workspaceId }, now()) : null;
    if (row === null) throw new GatewayError('file.not_found');
    return row;
  }

  return {
    async beginFile({ owner, filename, batchId }) {
      const { organisationId, workspaceId } = owner ?? { organisationId: '', workspaceId: '' };
      if (!isUuid(organisationId) || !isUuid(workspaceId)) throw new GatewayError('internal');
      // What a batch came to is kept, however many files there are.
      if (batchId === '' && (await countFiles(db, workspaceId, now())) >= parts.filesMax)
        throw new GatewayError('file.too_many');
      const id = newId(now().getTime());
      const dataKey = randomBytes(32);
      await insertFile(db, {
        id,
        organisationId,
        workspaceId,
        batchId: batchId === '' ? null : batchId,
        filename,
        sealedKey: Uint8Array.from(vault.seal(dataKey.toString('base64'), { table, id })),
        createdAt: now(),
      });
      return { id, dataKey };
    },
    async finishFile({ id, purpose, bytes, segments, expiresAfterS }) {
      const keptMs = expiresAfterS > 0n ? Number(expiresAfterS) * 1000 : parts.keptMs;
      const expiresAt = keptMs === 0 ? null : new Date(now().getTime() + keptMs);
      const row = await finishFile(db, id, { purpose, bytes, segments, expiresAt });
      if (row === undefined) throw new GatewayError('file.not_found');
      return { file: fileMessage(row) };
    },
    async openFile({ workspaceId, id }) {
      const row = await found(workspaceId, id);
      const dataKey = Buffer.from(vault.open(Buffer.from(row.sealedKey), { table, id }), 'base64');
      return { file: fileMessage(row), dataKey };
    },
    async getFile({ workspaceId, id }) {
      return { file: fileMessage(await found(workspaceId, id)) };
    },
    async listFiles({ workspaceId, after, limit, ascending, purpose }) {
      if (!isUuid(workspaceId)) throw new GatewayError('file.not_found');
      if (after !== '' && !isUuid(after)) throw new GatewayError('file.not_found');
      const count = Math.min(Math.max(1, limit), pageMax);
      const rows = await listFiles(
        db,
        {
          workspaceId,
          after: after === '' ? undefined : after,
          limit: count,
          isAscending: ascending,
          purpose: purpose === '' ? undefined : purpose,
        },
        now(),
      );
      return { files: rows.slice(0, count).map(fileMessage), hasMore: rows.length > count };
    },
    async deleteFile({ workspaceId, id }) {
      const known = isUuid(id) && isUuid(workspaceId);
      if (!known || !(await markDeleted(db, { id, workspaceId }, now())))
        throw new GatewayError('file.not_found');
      return {};
    },
    async listObsolete({ max }) {
      const count = Math.min(Math.max(1, max), obsoleteMax);
      const uploadingSince = new Date(now().getTime() - uploadMsMax);
      return {
        files: await listObsoleteFiles(db, { uploadingSince, now: now(), max: count }),
        batches: await listObsoleteBatches(db, count),
      };
    },
    async noteEmptied({ files, batches }) {
      await removeFiles(db, files.filter(isUuid));
      await noteBatchesEmptied(db, batches.filter(isUuid));
      return {};
    },
  };
}
