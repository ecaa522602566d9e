import type { Database } from '../../kernel/database/client.ts';
import { wholeGroupId } from './group-id.ts';
import type { Usages } from './usage-of.ts';

/** What was counted of these limits, whose requests are not told apart. */
export async function readUsages(db: Database, limitIds: readonly string[]): Promise<Usages> {
  if (limitIds.length === 0) return new Map();
  const rows = await db.limitUsage.findMany({
    where: { limitId: { in: [...limitIds] }, groupId: wholeGroupId },
  });
  return new Map(rows.map((row) => [row.limitId, row]));
}
