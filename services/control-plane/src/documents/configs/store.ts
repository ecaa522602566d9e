import type { Page } from '@sluice/contracts/admin';
import { type Config, type ConfigVersion, Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { paged } from '../../kernel/http/shapes.ts';
import { isUuid, newId } from '../../kernel/names/ids.ts';

export type ConfigRow = Config;
export type ConfigVersionRow = ConfigVersion;

const bySlugOrId = (reference: string) =>
  isUuid(reference) ? { id: reference.toLowerCase() } : { slug: reference };

/** A config of the workspace, by slug or UUID. */
export function findConfig(
  db: Database,
  workspaceId: string,
  reference: string,
): Promise<ConfigRow | null> {
  return db.config.findFirst({ where: { workspaceId, ...bySlugOrId(reference) } });
}

/** Two at most: enough to see that a slug alone does not say which config is meant. */
export function findConfigsOfOrganisation(
  db: Database,
  organisationId: string,
  reference: string,
): Promise<ConfigRow[]> {
  return db.config.findMany({ where: { organisationId, ...bySlugOrId(reference) }, take: 2 });
}

export function currentVersion(db: Database, config: ConfigRow): Promise<ConfigVersionRow> {
  return db.configVersion.findUniqueOrThrow({
    where: { configId_version: { configId: config.id, version: config.version } },
  });
}

export function listConfigs(
  db: Database,
  scope: { organisationId: string; workspaceId: string | undefined },
  page: Page,
): Promise<ConfigRow[]> {
  return db.config.findMany({
    where: scope,
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
    ...paged(page),
  });
}

/** Newest first. */
export async function listVersions(
  db: Database,
  configId: string,
  page: Page,
): Promise<{ rows: ConfigVersionRow[]; total: number }> {
  const [rows, total] = await Promise.all([
    db.configVersion.findMany({
      where: { configId },
      orderBy: { version: 'desc' },
      ...paged(page),
    }),
    db.configVersion.count({ where: { configId } }),
  ]);
  return { rows, total };
}

export interface NewVersion {
  id: string;
  name: string;
  status: string;
  /** The document in clear, or masked with the whole of it sealed. */
  body: string;
  sealedBody: Uint8Array<ArrayBuffer> | null;
  actor: string;
  now: Date;
}

export async function insertConfig(
  db: Database,
  config: { organisationId: string; workspaceId: string; slug: string; isDefault: boolean },
  version: NewVersion,
): Promise<{ config: ConfigRow; version: ConfigVersionRow }> {
  const row = await db.config.create({
    data: {
      ...config,
      id: newId(),
      name: version.name,
      status: version.status,
      version: 1,
      ownerId: version.actor,
      updatedBy: version.actor,
      createdAt: version.now,
      updatedAt: version.now,
    },
  });
  return { config: row, version: await insertVersion(db, row.id, 1, version) };
}

export async function appendVersion(
  db: Database,
  config: ConfigRow,
  isDefault: boolean,
  version: NewVersion,
): Promise<{ config: ConfigRow; version: ConfigVersionRow }> {
  const number = config.version + 1;
  const row = await db.config.update({
    where: { id: config.id },
    data: {
      name: version.name,
      status: version.status,
      version: number,
      isDefault,
      updatedBy: version.actor,
      updatedAt: version.now,
    },
  });
  return { config: row, version: await insertVersion(db, config.id, number, version) };
}

function insertVersion(
  db: Database,
  configId: string,
  number: number,
  { actor, now, ...version }: NewVersion,
): Promise<ConfigVersionRow> {
  return db.configVersion.create({
    data: { ...version, configId, version: number, createdBy: actor, createdAt: now },
  });
}

/** At most one config of a workspace is its default. */
export async function clearDefault(db: Database, workspaceId: string): Promise<void> {
  await db.config.updateMany({
    where: { workspaceId, isDefault: true },
    data: { isDefault: false },
  });
}

/** Keys and workspaces that name the config; it cannot go while there are any. */
export async function countUses(
  db: Database,
  configId: string,
): Promise<{ keys: number; workspaces: number }> {
  const [keys, workspaces] = await Promise.all([
    db.apiKey.count({ where: { configId } }),
    db.workspace.count({ where: { userApiKeyConfigId: configId } }),
  ]);
  return { keys, workspaces };
}

export async function removeConfig(db: Database, id: string): Promise<void> {
  await db.config.delete({ where: { id } });
}

export interface ActiveDocument {
  slug: string;
  /** JSON text of the version in force, its credentials masked. */
  body: string;
}

export function findActiveDocuments(
  db: Database,
  workspaceId: string,
  slugs: readonly string[],
): Promise<ActiveDocument[]> {
  return db.$queryRaw<ActiveDocument[]>(
    Prisma.sql`SELECT c.slug, v.body
      FROM configs c JOIN config_versions v ON v.config_id = c.id AND v.version = c.version
      WHERE c.workspace_id = ${workspaceId}::uuid AND c.status = 'active'
        AND c.slug = ANY(${slugs}::text[])`,
  );
}

/** Versions of configs of a workspace, as they may be shown. */
export function findVersions(
  db: Database,
  workspaceId: string,
  ids: readonly string[],
): Promise<{ id: string; slug: string; body: string }[]> {
  return db.$queryRaw(
    Prisma.sql`SELECT v.id::text, c.slug, v.body
      FROM config_versions v JOIN configs c ON c.id = v.config_id
      WHERE c.workspace_id = ${workspaceId}::uuid AND v.id = ANY(${ids}::uuid[])`,
  );
}

const mentionsPerPage = 500;

/**
 * Active configs of the workspace whose document holds one of these texts,
 * page by page: what else than a reference it may be there, the text alone does not tell.
 */
export async function* mentionsOf(
  db: Database,
  workspaceId: string,
  texts: readonly string[],
): AsyncGenerator<ActiveDocument[]> {
  for (let last = ''; ; ) {
    const page = await db.$queryRaw<ActiveDocument[]>(
      Prisma.sql`SELECT c.slug, v.body
        FROM configs c JOIN config_versions v ON v.config_id = c.id AND v.version = c.version
        WHERE c.workspace_id = ${workspaceId}::uuid AND c.status = 'active'
          AND c.slug > ${last} AND EXISTS (SELECT FROM unnest(${texts}::text[]) AS mentioned WHERE position(mentioned IN v.body) > 0)
        ORDER BY c.slug LIMIT ${mentionsPerPage}`,
    );
    yield page;
    if (page.length < mentionsPerPage) return;
    last = page.at(-1)?.slug ?? '';
  }
}
