import { systemEntry } from '../../kernel/audit/system-entry.ts';
import { commitChange } from '../../kernel/database/change.ts';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { newId } from '../../kernel/names/ids.ts';
import type { FoundBudget } from '../budgets/find-budgets.ts';
import { counted } from '../usage/budget.ts';
import type { CountedUsage } from '../usage/counted-usage.ts';
import { isCurrent } from '../usage/usage-of.ts';
import { type AlertType, alertOf } from './alert.ts';
import { insertDeliveries, markSent } from './store.ts';

export interface AlertParts {
  client: DatabaseClient;
  now: () => Date;
  hasNats: boolean;
  onAlert: () => void;
}

/** Tells of each budget that has reached its threshold or its end, unless that was told in this epoch. */
export async function alertOfCrossings(
  parts: AlertParts,
  budgets: ReadonlyMap<string, FoundBudget>,
  usages: readonly CountedUsage[],
): Promise<void> {
  const now = parts.now();
  for (const usage of usages) {
    const found = budgets.get(usage.limitId);
    if (found === undefined || !isCurrent(found.budget, usage, now)) continue;
    const { type, creditLimit, alertThreshold } = found.budget;
    if (!usage.thresholdAlertSent && alertThreshold !== null) {
      const from = counted(type, alertThreshold);
      if (usage.posted >= from) await alert(parts, 'limit.threshold_reached', found, usage, from);
    }
    const end = counted(type, creditLimit);
    if (!usage.exhaustedAlertSent && usage.posted >= end)
      await alert(parts, 'limit.exhausted', found, usage, end);
  }
}

const resourceTypes = {
  api_key: 'api_keys',
  workspace: 'workspaces',
  provider: 'providers',
  integration: 'integrations',
  policy: 'policies',
} as const;

/** The mark, the audit entry and what is to be sent are written together, or by somebody else. */
async function alert(
  { client, now, hasNats, onAlert }: AlertParts,
  type: AlertType,
  found: FoundBudget,
  usage: CountedUsage,
  from: bigint,
): Promise<void> {
  const timestamp = now();
  const told = alertOf(type, found, usage, { id: newId(), now: timestamp });
  const entry = systemEntry({
    organisationId: found.organisationId,
    timestamp,
    method: 'PUT',
    uri: 'limits',
    resourceType: resourceTypes[found.holder.kind],
    action: 'alert',
  });
  await commitChange(client, entry, async ({ db, describe }) => {
    if (!(await markSent(db, type, usage, from))) throw toldAlready;
    const { id, type: what, limit, value_key, epoch, current_usage } = told;
    describe({
      resourceId: found.holder.id,
      workspaceId: found.workspaceId ?? undefined,
      detail: { alert_id: id, alert: what, limit, value_key, epoch, current_usage },
    });
    await insertDeliveries(db, told, { hasNats, now: timestamp });
  }).then(onAlert, (error: unknown) => {
    if (error !== toldAlready) throw error;
  });
}

/** Takes a change back, and its audit entry with it. */
const toldAlready = new Error('somebody told of it');
