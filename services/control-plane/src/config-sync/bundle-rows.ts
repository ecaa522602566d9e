import { Prisma } from '../generated/prisma/client.ts';
import type { Database, DatabaseClient } from '../kernel/database/client.ts';
import { isUuid } from '../kernel/names/ids.ts';
import { readGuardrails } from './guardrail-rows.ts';
import { readPartials, readPrompts } from './prompt-rows.ts';
import { readServerIds } from './server-rows.ts';

/** What the core of a bundle is built from. */
export type CoreRows = NonNullable<Awaited<ReturnType<typeof readCoreRows>>>;

/** Of configs, prompts and partials, which versions are in force; which servers there are. */
export type BundleHeads = Awaited<ReturnType<typeof readBundleHeads>>;

/** Everything the bundle of the release before is built from, read at one moment. */
export type BundleRows = CoreRows & BundleHeads;

export type BundleConfigRow = BundleHeads['configs'][number];

/** Rows read at once: a workspace with 100,000 configs must not hold up everybody else's requests. */
const configsPerPage = 2_000;

/** One moment for all of it, or the revision would not fit the content. */
export const atOneMoment = {
  isolationLevel: Prisma.TransactionIsolationLevel.RepeatableRead,
  maxWait: 5_000,
  timeout: 15_000,
};

/**
 * `undefined` when there is no such workspace, or it is archived.
 * @param onProgress called after each page of what there may be very many of
 */
export async function readBundleRows(
  client: DatabaseClient,
  workspaceId: string,
  onProgress: () => void,
): Promise<BundleRows | undefined> {
  return client.$transaction(async (db) => {
    const core = await readCoreRows(db, workspaceId);
    if (core === undefined) return undefined;
    return { ...core, ...(await readBundleHeads(db, core.workspace.id, onProgress)) };
  }, atOneMoment);
}

export async function readCoreRows(db: Database, workspaceId: string) {
  if (!isUuid(workspaceId)) return undefined;
  const workspace = await db.workspace.findFirst({
    where: { id: workspaceId.toLowerCase(), status: 'active' },
    include: {
      organisation: {
        select: {
          blockInlineConfig: true,
          settings: true,
          inputGuardrails: true,
          outputGuardrails: true,
        },
      },
    },
  });
  if (workspace === null) return undefined;
  const { id } = workspace;
  const defaultConfig = await db.config.findFirst({
    where: { workspaceId: id, isDefault: true, status: 'active' },
    select: { slug: true },
  });
  const providers = await db.provider.findMany({
    where: { workspaceId: id },
    include: {
      integration: { include: { models: true, grants: { where: { workspaceId: id } } } },
    },
  });
  const { organisationId } = workspace;
  const itsOwnOrAll = { organisationId, OR: [{ workspaceId: id }, { workspaceId: null }] };
  const policies = await db.rateLimitsPolicy.findMany({
    where: { ...itsOwnOrAll, status: 'active' },
  });
  const usagePolicies = await db.usageLimitsPolicy.findMany({
    where: { ...itsOwnOrAll, status: 'active' },
    include: { resets: true },
  });
  const defaultConfigSlug = defaultConfig?.slug ?? '';
  return { workspace, defaultConfigSlug, providers, policies, usagePolicies };
}

export async function readBundleHeads(db: Database, workspaceId: string, onProgress: () => void) {
  const configs = await readConfigs(db, workspaceId, onProgress);
  const prompts = await readPrompts(db, workspaceId, onProgress);
  const partials = await readPartials(db, workspaceId, onProgress);
  const guardrails = await readGuardrails(db, workspaceId, onProgress);
  const servers = await readServerIds(db, workspaceId);
  return { workspaceId, configs, prompts, partials, guardrails, ...servers };
}

const configHead = { id: true, slug: true, name: true, version: true } as const;

/** In the order of their slugs. */
async function readConfigs(db: Database, workspaceId: string, onProgress: () => void) {
  const configs = [];
  for (let last = ''; ; ) {
    const page = await db.config.findMany({
      where: { workspaceId, status: 'active', slug: { gt: last } },
      select: configHead,
      orderBy: { slug: 'asc' },
      take: configsPerPage,
    });
    for (const config of page) configs.push(config);
    onProgress();
    if (page.length < configsPerPage) return configs;
    last = page.at(-1)?.slug ?? '';
  }
}

/** Of these configs those that are in force. */
export function readConfigsById(db: Database, workspaceId: string, ids: readonly string[]) {
  return db.config.findMany({
    where: { workspaceId, status: 'active', id: { in: [...ids] } },
    select: configHead,
  });
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
