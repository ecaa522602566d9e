import type { Page } from '@sluice/contracts/admin';
import { Prisma, type Prompt } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { literally } from '../../kernel/database/literally.ts';
import { paged } from '../../kernel/http/shapes.ts';
import { newId } from '../../kernel/names/ids.ts';
import type { ReferenceFilter } from '../../kernel/tenancy/reach.ts';
import { sharedWith } from '../shares/share.ts';

const withLabels = {
  labels: {
    select: { labelId: true },
    orderBy: [{ createdAt: 'desc' }, { labelId: 'asc' }],
    take: 1000,
  },
} satisfies Prisma.PromptVersionInclude;

export type PromptRow = Prompt;
export type VersionRow = Prisma.PromptVersionGetPayload<{ include: typeof withLabels }>;

/** What a version says, apart from who made it and when. */
export interface VersionContent {
  readonly template: string;
  readonly isRawTemplate: boolean;
  readonly parameters: unknown;
  readonly virtualKey: string;
  readonly model: string | null;
  readonly functions: unknown;
  readonly tools: unknown;
  readonly toolChoice: unknown;
  readonly templateMetadata: unknown;
  readonly description: string | null;
}

export function findPrompts(db: Database, filter: ReferenceFilter): Promise<PromptRow[]> {
  return db.prompt.findMany({ where: filter, take: 2 });
}

export interface PromptFilter {
  organisationId: string;
  workspaceId: string | undefined;
  collectionId: string | undefined;
  search: string | undefined;
  /** Those of other workspaces that are shared with this one, instead of its own. */
  onlyShared: boolean;
}

export async function listPrompts(
  db: Database,
  filter: PromptFilter,
  page: Page,
): Promise<{ rows: PromptRow[]; total: number }> {
  const { organisationId, workspaceId, collectionId, search } = filter;
  const where: Prisma.PromptWhereInput = {
    organisationId,
    collectionId,
    ...(filter.onlyShared ? sharedWith(workspaceId) : { workspaceId }),
    ...(search === undefined
      ? {}
      : { name: { contains: literally(search), mode: 'insensitive' as const } }),
  };
  const [rows, total] = await Promise.all([
    db.prompt.findMany({
      where,
      orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
      ...paged(page),
    }),
    db.prompt.count({ where }),
  ]);
  return { rows, total };
}

/** The model that the published version of each prompt asks for. */
export async function publishedModels(
  db: Database,
  ids: readonly string[],
): Promise<Map<string, string | null>> {
  const rows = await db.$queryRaw<{ id: string; model: string | null }[]>(
    Prisma.sql`SELECT p.id::text, v.model FROM prompts p
      JOIN prompt_versions v ON v.prompt_id = p.id AND v.version = p.published_version
      WHERE p.id = ANY(${ids}::uuid[])`,
  );
  return new Map(rows.map((row) => [row.id, row.model]));
}

export async function insertPrompt(
  db: Database,
  data: Prisma.PromptUncheckedCreateInput,
  content: VersionContent,
): Promise<{ prompt: PromptRow; version: VersionRow }> {
  const prompt = await db.prompt.create({ data });
  return { prompt, version: await insertVersion(db, prompt, content) };
}

/** A version under the number that is the prompt's latest. */
export function insertVersion(
  db: Database,
  prompt: PromptRow,
  content: VersionContent,
): Promise<VersionRow> {
  return db.promptVersion.create({
    data: {
      ...content,
      id: newId(),
      promptId: prompt.id,
      version: prompt.latestVersion,
      parameters: content.parameters as Prisma.InputJsonObject,
      functions: orNull(content.functions),
      tools: orNull(content.tools),
      toolChoice: orNull(content.toolChoice),
      templateMetadata: orNull(content.templateMetadata),
      createdBy: prompt.updatedBy,
      createdAt: prompt.updatedAt,
    },
    include: withLabels,
  });
}

function orNull(value: unknown): Prisma.InputJsonValue | typeof Prisma.DbNull {
  return value === null ? Prisma.DbNull : (value as Prisma.InputJsonValue);
}

export function updatePrompt(
  db: Database,
  id: string,
  data: Prisma.PromptUncheckedUpdateInput,
): Promise<PromptRow> {
  return db.prompt.update({ where: { id }, data });
}

export async function removePrompt(db: Database, id: string): Promise<void> {
  await db.prompt.delete({ where: { id } });
}

export function findVersion(
  db: Database,
  promptId: string,
  which: { version: number } | { id: string },
): Promise<VersionRow | null> {
  return db.promptVersion.findFirst({ where: { promptId, ...which }, include: withLabels });
}

/** The version that carries a label of this name. */
export function findLabelledVersion(
  db: Database,
  promptId: string,
  labelName: string,
): Promise<VersionRow | null> {
  return db.promptVersion.findFirst({
    where: { promptId, labels: { some: { label: { name: labelName } } } },
    include: withLabels,
  });
}

/** Newest first. */
export function listVersions(db: Database, promptId: string, page: Page): Promise<VersionRow[]> {
  return db.promptVersion.findMany({
    where: { promptId },
    include: withLabels,
    orderBy: { version: 'desc' },
    ...paged(page),
  });
}

/** Provider and description are about a version, not what it says: they may change where it stands. */
export function updateVersion(
  db: Database,
  id: string,
  data: { virtualKey?: string | undefined; description?: string | null | undefined },
): Promise<VersionRow> {
  return db.promptVersion.update({ where: { id }, data, include: withLabels });
}

/** A label is on one version of a prompt at a time: it leaves the one it was on. */
export async function setLabel(
  db: Database,
  version: { id: string; promptId: string },
  labelId: string,
  now: Date,
): Promise<void> {
  const { id: versionId, promptId } = version;
  await db.promptVersionLabel.upsert({
    where: { promptId_labelId: { promptId, labelId } },
    create: { promptId, labelId, versionId, createdAt: now },
    update: { versionId, createdAt: now },
  });
}

export async function clearLabels(db: Database, versionId: string): Promise<void> {
  await db.promptVersionLabel.deleteMany({ where: { versionId } });
}
