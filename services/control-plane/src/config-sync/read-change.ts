import { createHash } from 'node:crypto';
import { toBinary } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { Prisma } from '../generated/prisma/client.ts';
import type { Database, DatabaseClient } from '../kernel/database/client.ts';
import { isUuid } from '../kernel/names/ids.ts';
import { buildCore, type Openers } from './build-bundle.ts';
import { atOneMoment, type BundleHeads, readBundleHeads, readCoreRows } from './bundle-rows.ts';
import { sections } from './sections/index.ts';
import type { SectionItem, SectionSource } from './sections/section-source.ts';

/** What a caller says it holds. */
export type Known = Pick<
  config.GetSectionsRequest,
  'workspaceId' | 'knownRevision' | 'knownStamp' | 'knownFormats'
>;

/** A state of a workspace, by number and by what was drawn with it. */
export interface Revision {
  revision: bigint;
  stamp: string;
}

/** The difference between what a caller holds and what is in force, read at one moment. */
export interface BundleChange extends Revision {
  readonly core: config.Bundle;
  readonly coreHash: string;
  /** What of each section; those that are not here start over. */
  readonly sections: ReadonlyMap<SectionSource, ChangedItems>;
  /** For those that start over; undefined when none does. */
  readonly heads: BundleHeads | undefined;
}

export interface ChangedItems {
  readonly items: readonly SectionItem[];
  readonly gone: readonly string[];
}

/** More than this of a section is read and sent from its beginning. */
const changedMax = 500;

/** The state in force; undefined when there is no such workspace, or it is archived. */
async function currentRevision(db: Database, workspaceId: string): Promise<Revision | undefined> {
  return (await currentRevisions(db, [workspaceId])).get(workspaceId.toLowerCase());
}

/** The same of many, by id in lower case. */
export async function currentRevisions(
  db: Database,
  workspaceIds: readonly string[],
): Promise<Map<string, Revision>> {
  const ids = workspaceIds.filter(isUuid);
  if (ids.length === 0) return new Map();
  const rows = await db.$queryRaw<(Revision & { id: string })[]>(
    Prisma.sql`SELECT w.id::text, w.revision, r.stamp::text FROM workspaces w
      JOIN bundle_revisions r ON r.workspace_id = w.id AND r.revision = w.revision
      WHERE w.id = ANY(${ids}::uuid[]) AND w.status = 'active'`,
  );
  return new Map(rows.map(({ id, ...revision }) => [id, revision]));
}

/** @param onProgress called after each page of what there may be very many of */
export function readChange(
  client: DatabaseClient,
  open: Openers,
  known: Known,
  onProgress: () => void,
): Promise<BundleChange | undefined> {
  return client.$transaction(async (db) => {
    const now = await currentRevision(db, known.workspaceId);
    const rows = await readCoreRows(db, known.workspaceId);
    if (now === undefined || rows === undefined) return undefined;
    const core = buildCore(rows, open);
    const { id } = rows.workspace;
    const changed = new Map<SectionSource, ChangedItems>();
    if (await isKept(db, id, known))
      for (const section of sections) {
        if (known.knownFormats[section.name] !== section.format) continue;
        const ids = await changedIds(db, id, section.name, known.knownRevision);
        if (ids.length > changedMax) continue;
        const items = ids.length === 0 ? [] : await section.itemsById({ db, open }, id, ids);
        const found = new Set(items.map((item) => item.id));
        changed.set(section, { items, gone: ids.filter((each) => !found.has(each)) });
        onProgress();
      }
    const startsOver = changed.size < sections.length;
    return {
      ...now,
      core,
      coreHash: createHash('sha256').update(toBinary(config.BundleSchema, core)).digest('hex'),
      sections: changed,
      heads: startsOver ? await readBundleHeads(db, id, onProgress) : undefined,
    };
  }, atOneMoment);
}

/** Whether the caller's state is one that the changes since are noted of. */
async function isKept(db: Database, workspaceId: string, known: Known): Promise<boolean> {
  if (!isUuid(known.knownStamp)) return false;
  const count = await db.bundleRevision.count({
    where: { workspaceId, revision: known.knownRevision, stamp: known.knownStamp },
  });
  return count === 1;
}

async function changedIds(
  db: Database,
  workspaceId: string,
  section: string,
  since: bigint,
): Promise<string[]> {
  const rows = await db.bundleChange.findMany({
    where: { workspaceId, section, revision: { gt: since } },
    select: { itemId: true },
    take: changedMax + 1,
  });
  return rows.map((row) => row.itemId);
}
