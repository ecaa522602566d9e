import { GatewayError } from '@sluice/errors';
import type { ServiceFile, ServiceUpload } from '../generated/prisma/client.ts';
import type { Database } from '../kernel/database/client.ts';
import { isUuid } from '../kernel/names/ids.ts';

/** Whoever took an upload and said nothing for so long is gone. */
const claimMsMax = 10 * 60_000;
const partsMax = 10_000;

/** For a part that is about to come. @throws GatewayError `upload.not_found`, `upload.not_pending`, `upload.parts_invalid` */
export async function openUpload(
  db: Database,
  workspaceId: string,
  id: string,
  now: Date,
): Promise<ServiceUpload> {
  const row = isUuid(id)
    ? await db.serviceUpload.findFirst({ where: { id, workspaceId } })
    : undefined;
  if (row === undefined || row === null) throw new GatewayError('upload.not_found');
  if (row.status !== 'pending' || row.expiresAt <= now)
    throw new GatewayError('upload.not_pending');
  const { _count, _sum } = await db.serviceFile.aggregate({
    where: { uploadId: id },
    _count: true,
    _sum: { bytes: true },
  });
  // A part that was lost may come twice; a store without end is none.
  if (_count >= partsMax || (_sum.bytes ?? 0n) > 2n * row.bytes)
    throw new GatewayError('upload.parts_invalid', {
      message: `An upload has ${partsMax} parts at most, and not more than twice the bytes that were announced.`,
    });
  return row;
}

/** Undefined = nobody may put it together now. */
export async function claimUpload(
  db: Database,
  id: string,
  workspaceId: string,
  now: Date,
): Promise<ServiceUpload | undefined> {
  const rows = await db.serviceUpload.updateManyAndReturn({
    where: {
      id,
      workspaceId,
      expiresAt: { gt: now },
      OR: [
        { status: 'pending' },
        { status: 'completing', claimedAt: { lt: new Date(now.getTime() - claimMsMax) } },
      ],
    },
    data: { status: 'completing', claimedAt: now },
  });
  return rows[0];
}

export function partsOf(db: Database, uploadId: string): Promise<ServiceFile[]> {
  return db.serviceFile.findMany({
    where: { uploadId, status: 'processed' },
    take: partsMax,
  });
}

/** From one of these states into another; undefined = it is in none of them. Its parts go with its end. */
export async function moveUpload(
  db: Database,
  where: { id: string; workspaceId?: string; status: string },
  data: { status: string; fileId?: string },
): Promise<ServiceUpload | undefined> {
  const [row] = await db.serviceUpload.updateManyAndReturn({ where, data });
  if (row !== undefined && data.status !== 'pending')
    await db.serviceFile.updateMany({
      where: { uploadId: row.id, status: 'processed' },
      data: { status: 'deleted' },
    });
  return row;
}

export function countUploads(db: Database, workspaceId: string, now: Date): Promise<number> {
  return db.serviceUpload.count({
    where: { workspaceId, status: { in: ['pending', 'completing'] }, expiresAt: { gt: now } },
  });
}

/** Their parts went before them. */
export async function removeOldUploads(db: Database, before: Date): Promise<void> {
  await db.serviceUpload.deleteMany({ where: { expiresAt: { lt: before } } });
}
