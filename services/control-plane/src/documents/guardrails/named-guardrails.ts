import { type Hook, savedHook, splitGuardrailReference } from '@sluice/engine';
import { invalidField } from '@sluice/errors';
import type { Database } from '../../kernel/database/client.ts';
import { nearestAdvice } from '../../kernel/names/nearest.ts';
import { guardrailVersionsKept } from './kept-versions.ts';
import type { GuardrailRow } from './store.ts';

/**
 * The guardrails that configs and servers of a workspace may name, as far as a compiler asks
 * for them: which there are. What they check was looked at when they were saved.
 */
export async function namedGuardrails(db: Database, workspaceId: string): Promise<FindGuardrail> {
  const { organisationId } = await db.workspace.findUniqueOrThrow({
    where: { id: workspaceId },
    select: { organisationId: true },
  });
  return finderOf(await listNamed(db, organisationId, [{ workspaceId }, { workspaceId: null }]));
}

/**
 * Holds names to what is there: in its workspace, or, of what is the organisation's, in all of them.
 * @param field  of the list, for the error
 * @throws 400 with the path of the first that names nothing, and the nearest name
 */
export async function requireGuardrails(
  db: Database,
  { organisationId, workspaceId }: { organisationId: string; workspaceId: string | null },
  names: readonly string[],
  field: string,
): Promise<void> {
  if (names.length === 0) return;
  const places =
    workspaceId === null ? [{ workspaceId }] : [{ workspaceId }, { workspaceId: null }];
  const rows = await listNamed(db, organisationId, places);
  const find = finderOf(rows);
  const missing = names.findIndex((name) => find(name) === undefined);
  const name = names[missing];
  if (name === undefined) return;
  if (workspaceId === null && finderOf(await listNamed(db, organisationId))(name) !== undefined)
    throw invalidField(
      `${field}[${missing}]`,
      'is a guardrail of one workspace, which no other has: name it in the policy of its server there',
    );
  const slugs = rows.map(({ slug }) => slug);
  throw invalidField(
    `${field}[${missing}]`,
    `names no guardrail, "${name.slice(0, 80)}"${nearestAdvice(name, slugs)}`,
  );
}

type FindGuardrail = (reference: string) => Hook | undefined;
type Row = Pick<GuardrailRow, 'id' | 'slug' | 'version'>;

function listNamed(
  db: Database,
  organisationId: string,
  places?: { workspaceId: string | null }[],
): Promise<Row[]> {
  return db.guardrail.findMany({
    where: { organisationId, status: 'active', ...(places && { OR: places }) },
    select: { id: true, slug: true, version: true },
  });
}

function finderOf(rows: readonly Row[]): FindGuardrail {
  const byName = new Map(rows.flatMap((row) => [[row.id, row] as const, [row.slug, row] as const]));
  return (reference) => {
    const { name, version } = splitGuardrailReference(reference);
    const row = byName.get(name);
    if (row === undefined) return undefined;
    const isKept =
      version === undefined ||
      (version >= 1 && version <= row.version && version > row.version - guardrailVersionsKept);
    return isKept
      ? savedHook({ slug: row.slug, versionId: row.id, checks: [], actions: {} })
      : undefined;
  };
}
