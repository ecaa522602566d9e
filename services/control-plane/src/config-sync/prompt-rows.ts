import { Prisma } from '../generated/prisma/client.ts';
import type { Database } from '../kernel/database/client.ts';

/** Rows read at once, as with configs. */
const headsPerPage = 2_000;

/**
 * Versions of one prompt or partial that gateways hold, beside the published
 * and the labelled ones. References by number are kept for years, so this is
 * far more than anybody saves by hand; it bounds what a script can fill them with.
 */
const versionsMax = 1_000;

/** A prompt of the bundle: which of its versions the names of a reference mean. */
export interface PromptHead {
  id: string;
  slug: string;
  publishedVersion: number;
  latestVersion: number;
  /** The one part of a version that may change where it stands. */
  latestVirtualKey: string;
  labels: Record<string, number>;
}

export interface PartialHead {
  id: string;
  slug: string;
  publishedVersion: number;
  latestVersion: number;
}

/** Active prompts in the order of their slugs. */
export function readPrompts(db: Database, workspaceId: string, onProgress: () => void) {
  return readAll(onProgress, (last) =>
    db.$queryRaw<PromptHead[]>(
      Prisma.sql`${promptHeadsOf(workspaceId)} AND p.slug > ${last} ORDER BY p.slug LIMIT ${headsPerPage}`,
    ),
  );
}

/** Of these prompts those that are in force. */
export function readPromptsById(db: Database, workspaceId: string, ids: readonly string[]) {
  return db.$queryRaw<PromptHead[]>(
    Prisma.sql`${promptHeadsOf(workspaceId)} AND p.id = ANY(${ids}::uuid[])`,
  );
}

const promptHeadsOf = (workspaceId: string) =>
  Prisma.sql`SELECT p.id::text, p.slug, p.published_version AS "publishedVersion",
      p.latest_version AS "latestVersion", latest.virtual_key AS "latestVirtualKey",
      (SELECT coalesce(jsonb_object_agg(l.name, carrier.version), '{}')
        FROM prompt_version_labels m
        JOIN labels l ON l.id = m.label_id
        JOIN prompt_versions carrier ON carrier.id = m.version_id
        WHERE m.prompt_id = p.id) AS labels
    FROM prompts p
    JOIN prompt_versions latest ON latest.prompt_id = p.id AND latest.version = p.latest_version
    WHERE p.workspace_id = ${workspaceId}::uuid AND p.status = 'active'`;

/** Active partials in the order of their slugs. */
export function readPartials(db: Database, workspaceId: string, onProgress: () => void) {
  return readAll<PartialHead>(onProgress, (last) =>
    db.promptPartial.findMany({
      where: { workspaceId, status: 'active', slug: { gt: last } },
      select: partialHead,
      orderBy: { slug: 'asc' },
      take: headsPerPage,
    }),
  );
}

/** Of these partials those that are in force. */
export function readPartialsById(
  db: Database,
  workspaceId: string,
  ids: readonly string[],
): Promise<PartialHead[]> {
  return db.promptPartial.findMany({
    where: { workspaceId, status: 'active', id: { in: [...ids] } },
    select: partialHead,
  });
}

const partialHead = { id: true, slug: true, publishedVersion: true, latestVersion: true } as const;

async function readAll<Head extends { slug: string }>(
  onProgress: () => void,
  readPage: (last: string) => Promise<Head[]>,
): Promise<Head[]> {
  const heads: Head[] = [];
  for (let last = ''; ; ) {
    const page = await readPage(last);
    for (const head of page) heads.push(head);
    onProgress();
    if (page.length < headsPerPage) return heads;
    last = page.at(-1)?.slug ?? '';
  }
}

/** Templates may be large: as few as this are in memory at a time. */
const versionsPerPage = 100;
const headsPerQuery = 500;

export interface PromptVersionBody {
  id: string;
  ownerId: string;
  version: number;
  template: string;
  isRawTemplate: boolean;
  templateMetadata: unknown;
  parameters: Record<string, unknown>;
  model: string | null;
  functions: unknown;
  tools: unknown;
  toolChoice: unknown;
  virtualKey: string;
}

/** Versions never change but for their provider, so this needs no transaction with the heads. */
export function readPromptVersions(db: Database, heads: readonly PromptHead[]) {
  return readVersions(heads, (ids, last) =>
    db.$queryRaw<PromptVersionBody[]>(
      Prisma.sql`${heldPromptVersions} AND v.prompt_id = ANY(${ids}::uuid[])
          AND (v.prompt_id, v.version) > (${last.ownerId}::uuid, ${last.version}::int)
        ORDER BY v.prompt_id, v.version LIMIT ${versionsPerPage}`,
    ),
  );
}

/** Of these versions those that gateways hold. */
export function readPromptVersionsById(db: Database, workspaceId: string, ids: readonly string[]) {
  return db.$queryRaw<PromptVersionBody[]>(
    Prisma.sql`${heldPromptVersions} AND v.id = ANY(${ids}::uuid[])
      AND p.workspace_id = ${workspaceId}::uuid AND p.status = 'active'`,
  );
}

/** What moves versions in and out is noted by triggers (see the migration `bundle_sections`). */
const heldPromptVersions = Prisma.sql`SELECT v.id::text, v.prompt_id::text AS "ownerId", v.version, v.template,
      v.is_raw_template AS "isRawTemplate", v.template_metadata AS "templateMetadata",
      v.parameters, v.model, v.functions, v.tools, v.tool_choice AS "toolChoice",
      v.virtual_key AS "virtualKey"
    FROM prompt_versions v JOIN prompts p ON p.id = v.prompt_id
    WHERE (v.version > p.latest_version - ${versionsMax} OR v.version = p.published_version
        OR EXISTS (SELECT 1 FROM prompt_version_labels m WHERE m.version_id = v.id))`;

export interface PartialVersionBody {
  id: string;
  ownerId: string;
  version: number;
  template: string;
}

export function readPartialVersions(db: Database, heads: readonly PartialHead[]) {
  return readVersions(heads, (ids, last) =>
    db.$queryRaw<PartialVersionBody[]>(
      Prisma.sql`${heldPartialVersions} AND v.partial_id = ANY(${ids}::uuid[])
          AND (v.partial_id, v.version) > (${last.ownerId}::uuid, ${last.version}::int)
        ORDER BY v.partial_id, v.version LIMIT ${versionsPerPage}`,
    ),
  );
}

export function readPartialVersionsById(db: Database, workspaceId: string, ids: readonly string[]) {
  return db.$queryRaw<PartialVersionBody[]>(
    Prisma.sql`${heldPartialVersions} AND v.id = ANY(${ids}::uuid[])
      AND p.workspace_id = ${workspaceId}::uuid AND p.status = 'active'`,
  );
}

const heldPartialVersions = Prisma.sql`SELECT v.id::text, v.partial_id::text AS "ownerId", v.version, v.template
    FROM prompt_partial_versions v JOIN prompt_partials p ON p.id = v.partial_id
    WHERE (v.version > p.latest_version - ${versionsMax} OR v.version = p.published_version)`;

interface Place {
  ownerId: string;
  version: number;
}

const beginning: Place = { ownerId: '00000000-0000-0000-0000-000000000000', version: 0 };

async function* readVersions<Version extends Place>(
  heads: readonly { id: string }[],
  readPage: (ids: string[], last: Place) => Promise<Version[]>,
): AsyncGenerator<Version> {
  for (let at = 0; at < heads.length; at += headsPerQuery) {
    const ids = heads.slice(at, at + headsPerQuery).map((head) => head.id);
    for (let last: Place | undefined = beginning; last !== undefined; ) {
      const page: Version[] = await readPage(ids, last);
      yield* page;
      last = page.length < versionsPerPage ? undefined : page.at(-1);
    }
  }
}
