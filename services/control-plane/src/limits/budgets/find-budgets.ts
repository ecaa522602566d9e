import type { Database } from '../../kernel/database/client.ts';
import { isUuid } from '../../kernel/names/ids.ts';
import type { Budget } from '../usage/budget.ts';
import {
  budgetOf as budgetOfHolder,
  type StoredUsageLimits,
} from '../usage-limits/stored-limits.ts';
import { budgetOf as budgetOfPolicy } from '../usage-limits-policies/budget.ts';

/** Whose a budget is, as people are told. */
export interface BudgetHolder {
  readonly kind: 'api_key' | 'workspace' | 'provider' | 'integration' | 'policy';
  readonly id: string;
  /** Slug, or the name of a policy. */
  readonly name: string;
}

export interface FoundBudget {
  readonly budget: Budget;
  readonly holder: BudgetHolder;
  readonly organisationId: string;
  readonly workspaceId: string | null;
  /** Who is to hear of it besides, as the holder has it; only keys say so. */
  readonly alertEmails?: readonly string[];
}

/**
 * The budgets of these ids that there are. Those of a workspace's own things are
 * looked for in the workspaces they were reported of, where they are few.
 */
export async function findBudgets(
  db: Database,
  limitIds: readonly string[],
  workspaceIds: readonly string[],
): Promise<Map<string, FoundBudget>> {
  const wanted = new Set(limitIds);
  const ids = [...wanted];
  const workspaceId = { in: [...new Set(workspaceIds.filter(isUuid))] };
  const found = new Map<string, FoundBudget>();
  const add = (
    limits: unknown,
    { organisationId, workspaceId: of, holder, alertEmails }: Omit<FoundBudget, 'budget'>,
  ): void => {
    for (const each of [(limits ?? []) as StoredUsageLimits | StoredUsageLimits[]].flat())
      if (wanted.has(each.id))
        found.set(each.id, {
          budget: budgetOfHolder(each),
          holder,
          organisationId,
          workspaceId: of,
          ...(alertEmails && { alertEmails }),
        });
  };
  const ofIntegration = { id: true, slug: true, organisationId: true } as const;
  const named = { ...ofIntegration, usageLimits: true } as const;

  for (const row of await db.apiKey.findMany({
    where: { usageLimitId: { in: ids } },
    select: { ...named, workspaceId: true, alertEmails: true },
  }))
    add(row.usageLimits, { ...row, holder: { kind: 'api_key', id: row.id, name: row.slug } });

  for (const row of await db.usageLimitsPolicy.findMany({
    where: { id: { in: ids }, status: 'active' },
  }))
    found.set(row.id, {
      budget: budgetOfPolicy(row),
      holder: { kind: 'policy', id: row.id, name: row.name ?? '' },
      organisationId: row.organisationId,
      workspaceId: row.workspaceId,
    });

  if (found.size === wanted.size) return found;
  for (const row of await db.workspace.findMany({ where: { id: workspaceId }, select: named })) {
    const holder = { kind: 'workspace', id: row.id, name: row.slug } as const;
    add(row.usageLimits, { ...row, workspaceId: row.id, holder });
  }
  for (const row of await db.provider.findMany({
    where: { workspaceId },
    select: { ...named, workspaceId: true },
  }))
    add(row.usageLimits, { ...row, holder: { kind: 'provider', id: row.id, name: row.slug } });
  for (const row of await db.integrationWorkspace.findMany({
    where: { workspaceId },
    select: { usageLimits: true, workspaceId: true, integration: { select: ofIntegration } },
  })) {
    const { id, slug, organisationId } = row.integration;
    const holder = { kind: 'integration', id, name: slug } as const;
    add(row.usageLimits, { organisationId, workspaceId: row.workspaceId, holder });
  }
  return found;
}
