import { Prisma } from '../../generated/prisma/client.ts';
import type { Database } from '../../kernel/database/client.ts';
import { newId } from '../../kernel/names/ids.ts';
import { listFiguresDays } from '../logs/store.ts';

const dayMs = 86_400_000;
const removedAtOnce = 5_000;

/**
 * Removes feedback that is older than its organisation keeps figures, as the ledger does with what it has of it. What the ledger does not
 * have yet stays. Ids are made in the order of time, so what is younger than all that may go is not looked at.
 */
export async function removeAgedFeedback(
  db: Database,
  now: Date,
  signal: AbortSignal,
  atOnce = removedAtOnce,
): Promise<void> {
  const kept = await listFiguresDays(db);
  const today = now.getTime() - (now.getTime() % dayMs);
  const ids = kept.map(({ id }) => id);
  const firsts = kept.map(({ days }) => new Date(today - days * dayMs));
  const youngest = newId(Math.max(0, ...firsts.map((first) => first.getTime())));
  while (!signal.aborted) {
    const removed = await db.$executeRaw(Prisma.sql`
      DELETE FROM feedback WHERE id IN (
        SELECT feedback.id FROM feedback
          JOIN unnest(${ids}::uuid[], ${firsts}::timestamptz[]) AS kept (organisation_id, first) USING (organisation_id)
        WHERE feedback.id < ${youngest}::uuid AND is_sent AND created_at < kept.first
        LIMIT ${atOnce})`);
    if (removed < atOnce) return;
  }
}
