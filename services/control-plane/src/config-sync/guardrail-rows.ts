import { guardrailVersionsKept } from '../documents/guardrails/kept-versions.ts';
import type { Database } from '../kernel/database/client.ts';

/** A guardrail that is in force in a workspace, without what its versions check. */
export type GuardrailHead = Awaited<ReturnType<typeof readGuardrails>>[number];

export type GuardrailVersionBody = Awaited<ReturnType<typeof readGuardrailVersions>>[number];

const head = { id: true, slug: true, version: true } as const;

/** Of the workspace and of its organisation, in the order of their slugs; of these ids, or all. */
export async function readGuardrails(
  db: Database,
  workspaceId: string,
  onProgress: () => void,
  ids?: readonly string[],
) {
  const rows = await db.guardrail.findMany({
    where: {
      ...(await inForce(db, workspaceId)),
      ...(ids === undefined ? {} : { id: { in: [...ids] } }),
    },
    select: head,
    orderBy: { slug: 'asc' },
  });
  onProgress();
  return rows;
}

/** The versions within reach of these guardrails. */
export async function readGuardrailVersions(db: Database, guardrails: readonly GuardrailHead[]) {
  if (guardrails.length === 0) return [];
  return db.guardrailVersion.findMany({
    where: {
      OR: guardrails.map(({ id, version }) => ({
        guardrailId: id,
        version: { gt: version - guardrailVersionsKept },
      })),
    },
    select: body,
  });
}

/** Of these versions those within reach of a guardrail that is in force. */
export async function readGuardrailVersionsById(
  db: Database,
  workspaceId: string,
  ids: readonly string[],
): Promise<GuardrailVersionBody[]> {
  const rows = await db.guardrailVersion.findMany({
    where: { id: { in: [...ids] }, guardrail: await inForce(db, workspaceId) },
    select: { ...body, guardrail: { select: { version: true } } },
  });
  return rows
    .filter(({ version, guardrail }) => version > guardrail.version - guardrailVersionsKept)
    .map(({ guardrail: _guardrail, ...version }) => version);
}

const body = {
  id: true,
  guardrailId: true,
  version: true,
  sealedChecks: true,
  actions: true,
} as const;

async function inForce(db: Database, workspaceId: string) {
  const { organisationId } = await db.workspace.findUniqueOrThrow({
    where: { id: workspaceId },
    select: { organisationId: true },
  });
  return { organisationId, status: 'active', OR: [{ workspaceId }, { workspaceId: null }] };
}
