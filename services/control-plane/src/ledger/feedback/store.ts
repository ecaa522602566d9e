import type { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';

export async function insertFeedback(
  db: Database,
  rows: readonly Prisma.FeedbackCreateManyInput[],
): Promise<void> {
  await db.feedback.createMany({ data: [...rows] });
}

/** Whether the workspace has a feedback of this id, which is changed now. */
export async function updateFeedback(
  db: Database,
  workspaceId: string,
  id: string,
  data: Prisma.FeedbackUncheckedUpdateManyInput,
): Promise<boolean> {
  const { count } = await db.feedback.updateMany({ where: { id, workspaceId }, data });
  return count > 0;
}

/** Some that the ledger does not have as they stand, those that changed longest ago first. */
export function listUnsentFeedback(db: Database, limit: number) {
  return db.feedback.findMany({
    where: { isSent: false },
    orderBy: { updatedAt: 'asc' },
    take: limit,
  });
}

/** Those that did not change while they were sent are done. */
export async function markFeedbackSent(
  db: Database,
  rows: readonly { id: string; updatedAt: Date }[],
): Promise<void> {
  await db.$executeRaw`
    UPDATE feedback SET is_sent = true
    FROM unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map((row) => row.updatedAt)}::timestamptz[])
      AS sent (id, updated_at)
    WHERE feedback.id = sent.id AND feedback.updated_at = sent.updated_at`;
}
