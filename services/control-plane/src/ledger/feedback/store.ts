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
