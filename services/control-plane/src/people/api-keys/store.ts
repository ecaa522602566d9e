import { type KeyType, keyTypes } from '@sluice/contracts';
import type { Page, Settings } from '@sluice/contracts/admin';
import { Prisma } from '../../generated/prisma/client.ts';
import { bytes } from '../../kernel/database/change.ts';
import type { Database } from '../../kernel/database/client.ts';
import { takenSlug } from '../../kernel/database/faults.ts';
import { paged } from '../../kernel/http/shapes.ts';
import { newId } from '../../kernel/names/ids.ts';
import { effectiveSettings } from '../../kernel/tenancy/settings.ts';

const withParts = {
  config: { select: { slug: true } },
  secrets: {
    omit: { hash: true, previousHash: true, pepper: true },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  },
} satisfies Prisma.ApiKeyInclude;

export type ApiKeyRow = Prisma.ApiKeyGetPayload<{ include: typeof withParts }>;

export function findApiKey(db: Database, id: string): Promise<ApiKeyRow | null> {
  return db.apiKey.findUnique({ where: { id }, include: withParts });
}

/**
 * Of keys only chosen slugs are unique: those that are made of names are nearly so. Changes of an organisation wait for
 * one another, so that it stays free.
 * @throws 409 when a key of the organisation has it
 */
export async function requireFreeSlug(
  db: Database,
  organisationId: string,
  slug: string | undefined,
): Promise<void> {
  if (slug === undefined) return;
  if (
    (await db.apiKey.findFirst({ where: { organisationId, slug }, select: { id: true } })) !== null
  )
    throw takenSlug();
}

/** Which keys are listed. */
export interface ListedKeys {
  organisationId: string;
  /** One of the organisation's. */
  workspaceId: string | undefined;
  types: readonly KeyType[];
  /** Only user keys of this user. */
  userId: string | undefined;
  ids: readonly string[] | undefined;
}

/**
 * A page of keys, newest first. A page may lie behind a hundred thousand others:
 * those are skipped and counted in an index, and only its own rows are read.
 */
export async function listApiKeys(
  db: Database,
  listed: ListedKeys,
  page: Page,
): Promise<{ rows: ApiKeyRow[]; total: number }> {
  const where = whereOf(listed);
  const [ids, total] = await Promise.all([
    db.apiKey.findMany({ where, select: { id: true }, orderBy: newestFirst, ...paged(page) }),
    db.apiKey.count({ where }),
  ]);
  const rows = await db.apiKey.findMany({
    where: { id: { in: ids.map(({ id }) => id) } },
    include: withParts,
    orderBy: newestFirst,
  });
  return { rows, total };
}

const newestFirst: Prisma.ApiKeyOrderByWithRelationInput[] = [
  { createdAt: 'desc' },
  { id: 'desc' },
];

/** Says only what narrows the list: a column that is not in the index would have every row read. */
function whereOf({ organisationId, workspaceId, types, userId, ids }: ListedKeys) {
  const possible = keyTypes.filter(
    (type) => workspaceId === undefined || type !== 'organisation-service',
  );
  const where: Prisma.ApiKeyWhereInput =
    workspaceId === undefined ? { organisationId } : { workspaceId };
  if (possible.some((type) => !types.includes(type))) where.type = { in: [...types] };
  if (userId !== undefined) where.userId = userId;
  if (ids !== undefined) where.id = { in: [...ids] };
  return where;
}

/** What is kept of a key's secret. */
export interface StoredSecret {
  hash: Buffer;
  masked: string;
  /** The name of the pepper of the hash. */
  pepper: string;
}

export async function insertApiKey(
  db: Database,
  data: Prisma.ApiKeyUncheckedCreateInput,
  secret: StoredSecret,
  now: Date,
): Promise<void> {
  await db.apiKey.create({ data });
  await insertSecret(db, data.id, secret, now);
}

export async function updateApiKey(
  db: Database,
  id: string,
  data: Prisma.ApiKeyUncheckedUpdateInput,
): Promise<void> {
  await db.apiKey.update({ where: { id }, data });
}

export async function removeApiKey(db: Database, id: string): Promise<void> {
  await db.apiKey.delete({ where: { id } });
}

/** Of the organisation's own, those but this one that work now. */
export function countOtherWorkingKeys(
  db: Database,
  key: Pick<ApiKeyRow, 'id' | 'organisationId'>,
  now: Date,
): Promise<number> {
  return db.apiKey.count({
    where: {
      organisationId: key.organisationId,
      type: 'organisation-service',
      id: { not: key.id },
      suspendedAt: null,
      OR: [{ expiresAt: null }, { expiresAt: { gt: now } }],
    },
  });
}

export function countOrganisationKeys(db: Database, organisationId: string): Promise<number> {
  return db.apiKey.count({ where: { organisationId, type: 'organisation-service' } });
}

/** How many user keys, of those that have not ended, the user and the workspace have. */
export async function countUserKeys(
  db: Database,
  workspaceId: string,
  userId: string,
  now: Date,
): Promise<{ ofUser: number; ofWorkspace: number }> {
  const where: Prisma.ApiKeyWhereInput = {
    workspaceId,
    type: 'workspace-user',
    OR: [{ expiresAt: null }, { expiresAt: { gt: now } }],
  };
  const ofUser = await db.apiKey.count({ where: { ...where, userId } });
  return { ofUser, ofWorkspace: await db.apiKey.count({ where }) };
}

/** What holds for keys of the workspace, or of none. */
export async function readSettings(
  db: Database,
  organisationId: string,
  workspaceId: string | undefined,
): Promise<Settings> {
  const select = { settings: true } as const;
  const organisation = await db.organisation.findUniqueOrThrow({
    where: { id: organisationId },
    select,
  });
  const workspace =
    workspaceId === undefined
      ? undefined
      : await db.workspace.findUniqueOrThrow({ where: { id: workspaceId }, select });
  return effectiveSettings(organisation.settings, workspace?.settings);
}

/** The present secret works on until `overlapEndsAt`, the new one from now; those whose time is over go. */
export async function replaceSecret(
  db: Database,
  apiKeyId: string,
  secret: StoredSecret,
  times: { now: Date; overlapEndsAt: Date; nextRotationAt: Date | null },
): Promise<void> {
  await db.apiKeySecret.deleteMany({ where: { apiKeyId, expiresAt: { lte: times.now } } });
  await db.apiKeySecret.updateMany({
    where: { apiKeyId, OR: [{ expiresAt: null }, { expiresAt: { gt: times.overlapEndsAt } }] },
    data: { expiresAt: times.overlapEndsAt },
  });
  await insertSecret(db, apiKeyId, secret, times.now);
  await db.apiKey.update({
    where: { id: apiKeyId },
    data: {
      lastRotatedAt: times.now,
      nextRotationAt: times.nextRotationAt,
      rotationNoticeAt: times.nextRotationAt,
      updatedAt: times.now,
    },
  });
}

async function insertSecret(
  db: Database,
  apiKeyId: string,
  secret: StoredSecret,
  now: Date,
): Promise<void> {
  await db.apiKeySecret.create({
    data: {
      id: newId(),
      apiKeyId,
      hash: bytes(secret.hash),
      masked: secret.masked,
      pepper: secret.pepper,
      createdAt: now,
    },
  });
}

/** A user of the organisation with their role in the workspace, if they have one. */
export function findUser(db: Database, organisationId: string, id: string, workspaceId: string) {
  return db.user.findFirst({
    where: { organisationId, id },
    include: { memberships: { where: { workspaceId } } },
  });
}

/** Any number will do, as long as every replica uses the same. */
const maintenanceLock = 7_271_640_321;

/** Whether nobody else maintains keys; held to the end of the transaction. */
export async function lockMaintenance(db: Database): Promise<boolean> {
  const rows = await db.$queryRaw<{ locked: boolean }[]>(
    Prisma.sql`SELECT pg_try_advisory_xact_lock(${maintenanceLock}::bigint) AS locked`,
  );
  return rows[0]?.locked === true;
}

/** Secrets whose overlap is over, the oldest first. */
export async function secretsThatEnded(
  db: Database,
  now: Date,
  count: number,
): Promise<{ id: string; organisationId: string }[]> {
  const rows = await db.apiKeySecret.findMany({
    where: { expiresAt: { lte: now } },
    select: { id: true, apiKey: { select: { organisationId: true } } },
    orderBy: [{ expiresAt: 'asc' }, { id: 'asc' }],
    take: count,
  });
  return rows.map(({ id, apiKey }) => ({ id, organisationId: apiKey.organisationId }));
}

/** Removes a secret if its overlap is over, and returns what it was. */
export async function removeSecret(db: Database, id: string, now: Date) {
  const secret = await db.apiKeySecret.findFirst({ where: { id, expiresAt: { lte: now } } });
  if (secret !== null) await db.apiKeySecret.delete({ where: { id } });
  return secret;
}

/** Keys of which the audit log is to be told by now, the oldest first. */
export function keysToNotice(
  db: Database,
  column: 'expiryNoticeAt' | 'rotationNoticeAt',
  now: Date,
  count: number,
): Promise<{ id: string; organisationId: string }[]> {
  return db.apiKey.findMany({
    where: { [column]: { lte: now } },
    select: { id: true, organisationId: true },
    orderBy: [{ [column]: 'asc' }, { id: 'asc' }],
    take: count,
  });
}

export async function findUserKeyIds(
  db: Database,
  whose: { userId: string; workspaceId?: string },
): Promise<string[]> {
  const rows = await db.apiKey.findMany({
    where: { ...whose, type: 'workspace-user' },
    select: { id: true },
  });
  return rows.map((row) => row.id);
}

/** User keys of these workspaces whose user the settings can limit. */
export async function findLimitedUserKeyIds(
  db: Database,
  workspaceIds: readonly string[],
): Promise<string[]> {
  const rows = await db.apiKey.findMany({
    where: {
      workspaceId: { in: [...workspaceIds] },
      type: 'workspace-user',
      user: { role: { not: 'owner' } },
    },
    select: { id: true },
  });
  return rows.map((row) => row.id);
}

export async function removeApiKeys(db: Database, ids: readonly string[]): Promise<void> {
  await db.apiKey.deleteMany({ where: { id: { in: [...ids] } } });
}

/** Secrets of keys whose hash is not known to be of this pepper: made before names were kept, or not used since it is in use. */
export async function countHashesOfOthers(db: Database, pepper: string): Promise<number> {
  return db.apiKeySecret.count({ where: { OR: [{ pepper: null }, { pepper: { not: pepper } }] } });
}
