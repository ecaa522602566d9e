import { Prisma, type ServiceFile } from '../generated/prisma/client.ts';
import { behind } from '../kernel/database/behind.ts';
import type { Database } from '../kernel/database/client.ts';

export type FileRow = ServiceFile;

/** Those that callers can see: whole, neither deleted nor expired. */
const isThere = (now: Date): Prisma.ServiceFileWhereInput => ({
  status: 'processed',
  uploadId: null,
  OR: [{ expiresAt: null }, { expiresAt: { gt: now } }],
});

/** What the contents are that are kept alike. */
export type FileKind = 'file' | KeptKind;

/** What callers do not send themselves; it has one content after the other. */
export type KeptKind = 'response' | 'conversation';

/** Which one, and whose. */
export interface FileName {
  readonly id: string;
  readonly workspaceId: string;
  readonly kind: FileKind;
}

export function findFile(
  db: Database,
  { id, workspaceId, kind }: FileName,
  now: Date,
): Promise<FileRow | null> {
  return db.serviceFile.findFirst({ where: { id, workspaceId, kind, ...isThere(now) } });
}

/** Ids of responses that answered one of these items, the newest first. Ids are UUIDv7s: their order is that of time. */
export async function findByItems(
  db: Database,
  { workspaceId, itemIds, max }: { workspaceId: string; itemIds: string[]; max: number },
  now: Date,
): Promise<string[]> {
  const rows = await db.serviceFile.findMany({
    where: { workspaceId, kind: 'response', itemIds: { hasSome: itemIds }, ...isThere(now) },
    orderBy: { id: 'desc' },
    take: max,
    select: { id: true },
  });
  return rows.map(({ id }) => id);
}

/** Those under way count, too. */
export function countFiles(db: Database, workspaceId: string, now: Date): Promise<number> {
  return db.serviceFile.count({
    where: {
      workspaceId,
      kind: 'file',
      uploadId: null,
      status: { not: 'deleted' },
      OR: [{ expiresAt: null }, { expiresAt: { gt: now } }],
    },
  });
}

/** How many responses and conversations a workspace has, and how large they are together. */
export async function sumKept(
  db: Database,
  workspaceId: string,
): Promise<{ count: number; bytes: number }> {
  const { _count, _sum } = await db.serviceFile.aggregate({
    where: { workspaceId, kind: { not: 'file' }, status: { not: 'deleted' } },
    _count: true,
    _sum: { bytes: true },
  });
  return { count: _count, bytes: Number(_sum.bytes ?? 0) };
}

export function insertFile(
  db: Database,
  data: Prisma.ServiceFileUncheckedCreateInput,
): Promise<FileRow> {
  return db.serviceFile.create({ data });
}

/**
 * Undefined = its content came too late, or twice.
 * @param keptMs since its creation, 0 = until it is deleted; undefined = as long as was said when it began
 */
export async function finishFile(
  db: Database,
  id: string,
  data: { purpose: string; bytes: bigint; segments: number },
  keptMs: number | undefined,
): Promise<FileRow | undefined> {
  const expiry = keptMs === undefined ? {} : { expiresAt: await expiryOf(db, id, keptMs) };
  const rows = await db.serviceFile.updateManyAndReturn({
    where: { id, status: 'uploading' },
    data: { ...data, ...expiry, status: 'processed' },
  });
  return rows[0];
}

async function expiryOf(db: Database, id: string, keptMs: number): Promise<Date | null> {
  if (keptMs === 0) return null;
  const begun = await db.serviceFile.findUnique({ where: { id }, select: { createdAt: true } });
  return begun && new Date(begun.createdAt.getTime() + keptMs);
}

/** Undefined = another content came first, or it is gone. */
export async function finishKept(
  db: Database,
  {
    id,
    version,
    ...data
  }: {
    id: string;
    version: number;
    content: string;
    bytes: bigint;
    segments: number;
    expiresAt: Date | null;
    itemIds: string[];
  },
): Promise<FileRow | undefined> {
  const rows = await db.serviceFile.updateManyAndReturn({
    where: { id, version, status: version === 0 ? 'uploading' : 'processed' },
    data: { ...data, version: version + 1, status: 'processed' },
  });
  return rows[0];
}

/** Of a content, and whose it is. */
export function sizeOf(
  db: Database,
  id: string,
  version: number,
): Promise<{ workspaceId: string; bytes: bigint } | null> {
  return db.serviceFile.findFirst({
    where: { id, version },
    select: { workspaceId: true, bytes: true },
  });
}

/** False = there is none. */
export async function markDeleted(
  db: Database,
  { id, workspaceId, kind }: FileName,
  now: Date,
): Promise<boolean> {
  const { count } = await db.serviceFile.updateMany({
    where: { id, workspaceId, kind, ...isThere(now) },
    data: { status: 'deleted' },
  });
  return count === 1;
}

export interface FilePage {
  readonly workspaceId: string;
  /** The last one of the page before. */
  readonly after: string | undefined;
  readonly limit: number;
  readonly isAscending: boolean;
  readonly purpose: string | undefined;
}

/** One more than asked for, where there are more. Ids are UUIDv7s: their order is that of time. */
export function listFiles(
  db: Database,
  { workspaceId, after, limit, isAscending, purpose }: FilePage,
  now: Date,
): Promise<FileRow[]> {
  return db.serviceFile.findMany({
    where: {
      workspaceId,
      kind: 'file',
      ...(purpose !== undefined && { purpose }),
      ...(after !== undefined && { id: isAscending ? { gt: after } : { lt: after } }),
      ...isThere(now),
    },
    orderBy: { id: isAscending ? 'asc' : 'desc' },
    take: limit + 1,
  });
}

/**
 * Deleted, expired, never finished, or of a workspace that was deleted: nobody can reach it any more. By their ids.
 * @param after an id; undefined = from the beginning
 */
export async function listObsoleteFiles(
  db: Database,
  {
    uploadingSince,
    now,
    max,
    after,
  }: { uploadingSince: Date; now: Date; max: number; after: string | undefined },
): Promise<string[]> {
  const rows = await db.$queryRaw<{ id: string }[]>(Prisma.sql`
    SELECT id::text FROM service_files AS file
    WHERE (
        status = 'deleted' OR expires_at < ${now} OR (status = 'uploading' AND created_at < ${uploadingSince})
        OR NOT EXISTS (
          SELECT 1 FROM workspaces WHERE id = file.workspace_id AND (workspaces.status = 'active' OR file.status = 'uploading')))
      ${behind(after)}
    ORDER BY id LIMIT ${max}`);
  return rows.map(({ id }) => id);
}

export async function removeFiles(db: Database, ids: readonly string[]): Promise<void> {
  await db.serviceFile.deleteMany({ where: { id: { in: [...ids] } } });
}
