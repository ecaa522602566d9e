import { type Hook, savedHook, splitGuardrailReference } from '@sluice/engine';
import type { Database } from '../../kernel/database/client.ts';
import { guardrailVersionsKept } from './kept-versions.ts';

/**
 * The guardrails that configs of a workspace may name, as far as a compiler asks
 * for them: which there are. What they check was looked at when they were saved.
 */
export async function namedGuardrails(
  db: Database,
  workspaceId: string,
): Promise<(reference: string) => Hook | undefined> {
  const { organisationId } = await db.workspace.findUniqueOrThrow({
    where: { id: workspaceId },
    select: { organisationId: true },
  });
  const rows = await db.guardrail.findMany({
    where: { organisationId, status: 'active', OR: [{ workspaceId }, { workspaceId: null }] },
    select: { id: true, slug: true, version: true },
  });
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
