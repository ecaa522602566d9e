import type { Database } from '../../kernel/database/client.ts';
import { readUsages } from '../usage/read-usages.ts';
import type { Usages } from '../usage/usage-of.ts';
import type { StoredUsageLimits } from './stored-limits.ts';

/** What is used of the budgets of these holders: each has one, a list of them, or none. */
export function usagesOf(
  db: Database,
  holders: readonly { usageLimits: unknown }[],
): Promise<Usages> {
  const limits = holders.flatMap(
    ({ usageLimits }) => (usageLimits ?? []) as StoredUsageLimits | StoredUsageLimits[],
  );
  return readUsages(
    db,
    limits.map(({ id }) => id),
  );
}
