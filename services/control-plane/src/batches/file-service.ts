import { randomBytes } from 'node:crypto';
import { GatewayError } from '@sluice/errors';
import type { jobs } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import type { CredentialVault } from '../kernel/credentials/envelope.ts';
import type { Database } from '../kernel/database/client.ts';
import { isUuid, newId } from '../kernel/names/ids.ts';
import { listObsoleteBatches, noteBatchesEmptied, removeBackground } from './batch-store.ts';
import {
  countFiles,
  type FileKind,
  type FileRow,
  findByItems,
  findFile,
  finishFile,
  finishKept,
  insertFile,
  listFiles,
  listObsoleteFiles,
  markDeleted,
  removeFiles,
  sizeOf,
} from './file-store.ts';
import { type KeptBounds, KeptRoom } from './kept-room.ts';
import { fileMessage } from './messages.ts';
import { openUpload, removeOldUploads } from './upload-store.ts';

export interface FileServiceParts {
  readonly client: Database;
  readonly vault: CredentialVault;
  readonly now: () => Date;
  /** That a workspace may have at once. */
  readonly filesMax: number;
  /** How long files are kept of which nobody said how long; 0 = until they are deleted. */
  readonly keptMs: number;
  readonly responses: KeptBounds;
}

const table = 'service_files';
const pageMax = 10_000;
/** An upload that takes longer is one whose data service is gone. */
const uploadMsMax = 24 * 3_600_000;
const obsoleteMax = 100;
/** Of the items of one response; what comes behind them cannot be referred to. */
const itemsMax = 500;
const itemIdLengthMax = 256;
/** Responses told for items that are looked for. */
const itemsFoundMax = 16;

/** What is known of files, and what their contents are encrypted with. */
export function fileHandlers(parts: FileServiceParts): RpcHandlers<typeof jobs.FileService> {
  const { client: db, vault, now } = parts;
  const room = new KeptRoom(parts);

  async function found(workspaceId: string, id: string, kind: FileKind): Promise<FileRow> {
    const known = isUuid(id) && isUuid(workspaceId);
    const row = known ? await findFile(db, { id, workspaceId, kind }, now()) : null;
    if (row === null) throw notFound(kind);
    return row;
  }

  const openKey = ({ id, sealedKey }: FileRow) =>
    Buffer.from(vault.open(Buffer.from(sealedKey), { table, id }), 'base64');
  const sealKey = (id: string, dataKey: Buffer) =>
    Uint8Array.from(vault.seal(dataKey.toString('base64'), { table, id }));
  const until = (keptMs: number) => (keptMs === 0 ? null : new Date(now().getTime() + keptMs));

  /** A content of what is no file: the first one, or one that takes the place of another. */
  async function beginKept({ owner, id, version, kind: sent }: jobs.BeginFileRequest) {
    const { organisationId, workspaceId } = owner ?? { organisationId: '', workspaceId: '' };
    const kind = kindOf(sent);
    if (kind === 'file' || !isUuid(id)) throw new GatewayError('internal');
    if (version > 0) {
      const row = await found(workspaceId, id, kind);
      if (row.version !== version) throw new GatewayError('conversation.changed');
      return { id, dataKey: openKey(row), contentBefore: row.content };
    }
    await room.take(workspaceId);
    const dataKey = randomBytes(32);
    await insertFile(db, {
      id,
      organisationId,
      workspaceId,
      kind,
      filename: '',
      sealedKey: sealKey(id, dataKey),
      createdAt: now(),
    });
    return { id, dataKey };
  }

  return {
    async beginFile(request) {
      const { owner, filename, batchId, kind, uploadId } = request;
      const { organisationId, workspaceId } = owner ?? { organisationId: '', workspaceId: '' };
      if (!isUuid(organisationId) || !isUuid(workspaceId)) throw new GatewayError('internal');
      if (kind !== '') return beginKept(request);
      // What a batch came to is kept, however many files there are.
      const upload =
        uploadId === '' ? undefined : await openUpload(db, workspaceId, uploadId, now());
      if (
        batchId === '' &&
        upload === undefined &&
        (await countFiles(db, workspaceId, now())) >= parts.filesMax
      )
        throw new GatewayError('file.too_many');
      const id = newId(now().getTime());
      const dataKey = randomBytes(32);
      await insertFile(db, {
        id,
        organisationId,
        workspaceId,
        batchId: batchId === '' ? null : batchId,
        ...(upload !== undefined && { uploadId: upload.id, expiresAt: upload.expiresAt }),
        filename,
        sealedKey: sealKey(id, dataKey),
        createdAt: now(),
      });
      return { id, dataKey };
    },
    async finishFile(request) {
      const { id, purpose, bytes, segments, expiresAfterS, version, content } = request;
      const kind = kindOf(request.kind);
      if (kind !== 'file') {
        const before =
          kind === 'conversation' && version > 0 ? await sizeOf(db, id, version) : null;
        if (before !== null && bytes > before.bytes)
          await room.grow(before.workspaceId, Number(bytes - before.bytes));
        const expiresAt = until(parts.responses.keptMs);
        const itemIds = kind === 'response' ? knownItems(request.itemIds) : [];
        const whole = { content, bytes, segments, expiresAt, itemIds };
        const kept = await finishKept(db, { id, version, ...whole });
        if (kept === undefined)
          throw version === 0 ? notFound(kind) : new GatewayError('conversation.changed');
        if (version === 0) room.filled(kept.workspaceId, Number(bytes));
        return { file: fileMessage(kept) };
      }
      const keptMs = expiresAfterS > 0n ? Number(expiresAfterS) * 1000 : parts.keptMs;
      const whole = { purpose, bytes, segments };
      // As OpenAI's do, it ends so long after its creation, however long it took to come.
      const row = await finishFile(db, id, whole, request.isPart ? undefined : keptMs);
      if (row === undefined) throw new GatewayError('file.not_found');
      return { file: fileMessage(row) };
    },
    async openFile({ workspaceId, id, kind }) {
      const row = await found(workspaceId, id, kindOf(kind));
      return { file: fileMessage(row), dataKey: openKey(row) };
    },
    async getFile({ workspaceId, id }) {
      return { file: fileMessage(await found(workspaceId, id, 'file')) };
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
    async deleteFile({ workspaceId, id, kind: sent }) {
      const known = isUuid(id) && isUuid(workspaceId);
      const kind = kindOf(sent);
      if (!known || !(await markDeleted(db, { id, workspaceId, kind }, now())))
        throw notFound(kind);
      return {};
    },
    async findItems({ workspaceId, itemIds }) {
      const asked = knownItems(itemIds);
      if (!isUuid(workspaceId) || asked.length === 0) return { ids: [] };
      const named = { workspaceId, itemIds: asked, max: itemsFoundMax };
      return { ids: await findByItems(db, named, now()) };
    },
    async listObsolete({ max, filesAfter, batchesAfter }) {
      const count = Math.min(Math.max(1, max), obsoleteMax);
      await removeOldUploads(db, new Date(now().getTime() - uploadMsMax));
      const uploadingSince = new Date(now().getTime() - uploadMsMax);
      return {
        files: await listObsoleteFiles(db, {
          uploadingSince,
          now: now(),
          max: count,
          after: isUuid(filesAfter) ? filesAfter : undefined,
        }),
        batches: await listObsoleteBatches(db, {
          max: count,
          after: isUuid(batchesAfter) ? batchesAfter : undefined,
        }),
      };
    },
    async noteEmptied({ files, batches }) {
      await removeFiles(db, files.filter(isUuid));
      await removeBackground(db, files.filter(isUuid));
      await noteBatchesEmptied(db, batches.filter(isUuid));
      return {};
    },
  };
}

function knownItems(ids: readonly string[]): string[] {
  const short = ids.filter((id) => id !== '' && id.length <= itemIdLengthMax);
  return [...new Set(short)].slice(0, itemsMax);
}

function kindOf(kind: string): FileKind {
  if (kind === 'response' || kind === 'conversation') return kind;
  if (kind !== '') throw new GatewayError('internal');
  return 'file';
}

function notFound(kind: FileKind): GatewayError {
  return new GatewayError(`${kind}.not_found`);
}
