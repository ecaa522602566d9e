import type { Database } from '../../kernel/database/client.ts';
import { rewarn } from '../usage/rewarn.ts';
import { budgetOf, type StoredUsageLimits } from './stored-limits.ts';

type Kept = StoredUsageLimits | StoredUsageLimits[] | null;

/** Warns anew of the budgets of a holder that grant more than before, or warn later. */
export async function rewarnHolder(db: Database, before: unknown, after: unknown): Promise<void> {
  const now = new Map(listOf(after as Kept).map((limits) => [limits.id, limits]));
  for (const limits of listOf(before as Kept)) {
    const changed = now.get(limits.id);
    if (changed !== undefined) await rewarn(db, budgetOf(limits), budgetOf(changed));
  }
}

function listOf(limits: Kept): StoredUsageLimits[] {
  return [limits ?? []].flat();
}
