import { Prisma } from '../generated/prisma/client.ts';
import type { Database, DatabaseClient } from '../kernel/database/client.ts';
import { isUuid } from '../kernel/names/ids.ts';
import { readPartials, readPrompts } from './prompt-rows.ts';

/** Everything a bundle is built from, read at one moment; of configs, prompts and partials, which versions are in force. */
export type BundleRows = NonNullable<Awaited<ReturnType<typeof readBundleRows>>>;

export type BundleConfigRow = BundleRows['configs'][number];

/** Rows read at once: a workspace with 100,000 configs must not hold up everybody else's requests. */
const configsPerPage = 2_000;

/**
 * `undefined` when there is no such workspace, or it is archived.
 * @param onProgress called after each page of what there may be very many of
 */
export async function readBundleRows(
  client: DatabaseClient,
  workspaceId: string,
  onProgress: () => void,
) {
  if (!isUuid(workspaceId)) return undefined;
  return client.$transaction(
    async (db) => {
      const workspace = await db.workspace.findFirst({
        where: { id: workspaceId.toLowerCase(), status: 'active' },
        include: { organisation: { select: { blockInlineConfig: true, settings: true } } },
      });
      if (workspace === null) return undefined;
      const id = workspace.id;
      const configs = await readConfigs(db, id, onProgress);
      const prompts = await readPrompts(db, id, onProgress);
      const partials = await readPartials(db, id, onProgress);
      const providers = await db.provider.findMany({
        where: { workspaceId: id },
        include: {
          integration: { include: { models: true, grants: { where: { workspaceId: id } } } },
        },
      });
      const policies = await db.rateLimitsPolicy.findMany({
        where: { workspaceId: id, status: 'active', target: 'llm' },
      });
      return { workspace, configs, prompts, partials, providers, policies };
    },
    // One moment for all of it, or the revision would not fit the content.
    {
      isolationLevel: Prisma.TransactionIsolationLevel.RepeatableRead,
      maxWait: 5_000,
      timeout: 15_000,
    },
  );
}

/** In the order of their slugs. */
async function readConfigs(db: Database, workspaceId: string, onProgress: () => void) {
  const configs = [];
  for (let last = ''; ; ) {
    const page = await db.config.findMany({
      where: { workspaceId, status: 'active', slug: { gt: last } },
      select: { id: true, slug: true, name: true, version: true, isDefault: true },
      orderBy: { slug: 'asc' },
      take: configsPerPage,
    });
    for (const config of page) configs.push(config);
    onProgress();
    if (page.length < configsPerPage) return configs;
    last = page.at(-1)?.slug ?? '';
  }
}

export interface ConfigBody {
  configId: string;
  versionId: string;
  body: string;
  /** The whole document when `body` has its credentials masked. */
  sealedBody: Uint8Array | null;
}

/**
 * The documents of these versions. Versions never change, so this needs no
 * transaction with the rows; one whose config was deleted meanwhile is missing.
 */
export async function readConfigBodies(
  db: Database,
  configs: readonly BundleConfigRow[],
): Promise<ConfigBody[]> {
  const ids = configs.map((config) => config.id);
  const versions = configs.map((config) => config.version);
  return db.$queryRaw<ConfigBody[]>(
    Prisma.sql`SELECT v.config_id::text AS "configId", v.id::text AS "versionId", v.body,
        v.sealed_body AS "sealedBody"
      FROM unnest(${ids}::uuid[], ${versions}::int[]) AS wanted (config_id, version)
      JOIN config_versions v ON v.config_id = wanted.config_id AND v.version = wanted.version`,
  );
}
