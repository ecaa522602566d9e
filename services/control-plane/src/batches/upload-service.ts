import { GatewayError } from '@sluice/errors';
import type { jobs } from '@sluice/proto-stubs';
import type { RpcHandlers } from '@sluice/rpc';
import { isUuid, newId } from '../kernel/names/ids.ts';
import type { FileServiceParts } from './file-service.ts';
import { countFiles } from './file-store.ts';
import { uploadMessage } from './messages.ts';
import { claimUpload, countUploads, moveUpload, partsOf } from './upload-store.ts';

/** From when it is made, as at OpenAI. */
const uploadMs = 3_600_000;
const table = 'service_files';

/** What is known of files that come in parts. */
export function uploadHandlers({
  client: db,
  vault,
  now,
  filesMax,
}: FileServiceParts): RpcHandlers<typeof jobs.UploadService> {
  return {
    async beginUpload({ owner, filename, purpose, bytes, keptS }) {
      const { organisationId, workspaceId } = owner ?? { organisationId: '', workspaceId: '' };
      if (!isUuid(organisationId) || !isUuid(workspaceId)) throw new GatewayError('internal');
      const files = await countFiles(db, workspaceId, now());
      if (files + (await countUploads(db, workspaceId, now())) >= filesMax)
        throw new GatewayError('file.too_many');
      const createdAt = now();
      const id = newId(createdAt.getTime());
      const expiresAt = new Date(createdAt.getTime() + uploadMs);
      const row = await db.serviceUpload.create({
        data: {
          id,
          organisationId,
          workspaceId,
          filename,
          purpose,
          bytes,
          keptS,
          createdAt,
          expiresAt,
        },
      });
      return { upload: uploadMessage(row) };
    },
    async claimUpload({ workspaceId, id, partIds }) {
      if (!isUuid(workspaceId) || !isUuid(id)) throw new GatewayError('upload.not_found');
      const upload = await claimUpload(db, id, workspaceId, now());
      if (upload === undefined) return refuseMoved(id, workspaceId);
      const known = new Map((await partsOf(db, id)).map((part) => [part.id, part]));
      const parts = partIds.flatMap((part) => known.get(part) ?? []);
      const bytes = parts.reduce((sum, part) => sum + part.bytes, 0n);
      const isDouble = new Set(partIds).size < partIds.length;
      if (isDouble || parts.length < partIds.length || bytes !== upload.bytes) {
        await moveUpload(db, { id, status: 'completing' }, { status: 'pending' });
        throw new GatewayError('upload.parts_invalid', {
          field: 'body.part_ids',
          message:
            isDouble || parts.length < partIds.length
              ? 'body.part_ids must name parts of this upload, each once.'
              : `The parts have ${bytes} bytes, and ${upload.bytes} were announced.`,
        });
      }
      return {
        upload: uploadMessage(upload),
        parts: parts.map((part) => ({
          id: part.id,
          segments: part.segments,
          dataKey: Buffer.from(
            vault.open(Buffer.from(part.sealedKey), { table, id: part.id }),
            'base64',
          ),
        })),
      };
    },
    async endUpload({ id, fileId }) {
      if (isUuid(id) && isUuid(fileId))
        await moveUpload(db, { id, status: 'completing' }, { status: 'completed', fileId });
      return {};
    },
    async releaseUpload({ id }) {
      if (isUuid(id)) await moveUpload(db, { id, status: 'completing' }, { status: 'pending' });
      return {};
    },
    async cancelUpload({ workspaceId, id }) {
      if (!isUuid(workspaceId) || !isUuid(id)) throw new GatewayError('upload.not_found');
      const row = await moveUpload(
        db,
        { id, workspaceId, status: 'pending' },
        { status: 'cancelled' },
      );
      return row === undefined ? refuseMoved(id, workspaceId) : { upload: uploadMessage(row) };
    },
  };

  async function refuseMoved(id: string, workspaceId: string): Promise<never> {
    const row = await db.serviceUpload.findFirst({ where: { id, workspaceId } });
    throw new GatewayError(row === null ? 'upload.not_found' : 'upload.not_pending');
  }
}
