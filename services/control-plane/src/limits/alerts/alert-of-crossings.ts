import { systemEntry } from '../../kernel/audit/system-entry.ts';
import { commitChange } from '../../kernel/database/change.ts';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { newId } from '../../kernel/names/ids.ts';
import type { FoundBudget } from '../budgets/find-budgets.ts';
import { counted } from '../usage/budget.ts';
import type { CountedUsage } from '../usage/counted-usage.ts';
import { isCurrent } from '../usage/usage-of.ts';
import { type Alert, type AlertType, alertOf } from './alert.ts';
import { insertDeliveries, markSent } from './store.ts';

export interface AlertParts {
  client: DatabaseClient;
  now: () => Date;
  hasNats: boolean;
  onAlert: () => void;
}

/** In one transaction, which others of the organisation wait for. */
const toldAtOnce = 100;

/** A budget that has reached its threshold or its end. */
interface Crossing {
  readonly type: AlertType;
  readonly found: FoundBudget;
  readonly usage: CountedUsage;
  /** What had to be used for it. */
  readonly from: bigint;
}

/** Tells of each budget that has reached its threshold or its end, unless that was told in this epoch. */
export async function alertOfCrossings(
  parts: AlertParts,
  budgets: ReadonlyMap<string, FoundBudget>,
  usages: readonly CountedUsage[],
): Promise<void> {
  const now = parts.now();
  const crossings = usages.flatMap((usage) => {
    const found = budgets.get(usage.limitId);
    return found !== undefined && isCurrent(found.budget, usage, now)
      ? crossingsOf(found, usage)
      : [];
  });
  const together = Map.groupBy(
    crossings,
    ({ found }) => `${found.organisationId} ${found.holder.kind}`,
  );
  for (const alike of together.values())
    for (let at = 0; at < alike.length; at += toldAtOnce)
      await alert(parts, alike.slice(at, at + toldAtOnce));
}

function crossingsOf(found: FoundBudget, usage: CountedUsage): Crossing[] {
  const { type, creditLimit, alertThreshold } = found.budget;
  const crossings: Crossing[] = [];
  if (!usage.thresholdAlertSent && alertThreshold !== null) {
    const from = counted(type, alertThreshold);
    crossings.push({ type: 'limit.threshold_reached', found, usage, from });
  }
  if (!usage.exhaustedAlertSent) {
    const from = counted(type, creditLimit);
    crossings.push({ type: 'limit.exhausted', found, usage, from });
  }
  // A threshold of nothing is passed by what is used first.
  return crossings.filter(({ from }) => usage.posted > 0n && usage.posted >= from);
}

const resourceTypes = {
  api_key: 'api_keys',
  workspace: 'workspaces',
  provider: 'providers',
  integration: 'integrations',
  policy: 'policies',
} as const;

/** The marks, the audit entries and what is to be sent are written together, or by somebody else. */
async function alert(
  { client, now, hasNats, onAlert }: AlertParts,
  crossings: readonly Crossing[],
): Promise<void> {
  const [first] = crossings;
  if (first === undefined) return;
  const timestamp = now();
  const { organisationId, holder } = first.found;
  const kind = { resourceType: resourceTypes[holder.kind], action: 'alert' } as const;
  const facts = { organisationId, timestamp, method: 'PUT', uri: 'limits', ...kind } as const;
  await commitChange(client, systemEntry(facts), async ({ db, describe, alsoRecord }) => {
    const alerts: Alert[] = [];
    for (const { type, found, usage, from } of crossings)
      if (await markSent(db, type, usage, from)) {
        const told = alertOf(type, found, usage, { id: newId(), now: timestamp });
        if (alerts.length === 0) describe(factsOf(told));
        else alsoRecord({ ...factsOf(told), ...kind });
        alerts.push(told);
      }
    if (alerts.length === 0) throw toldAlready;
    await insertDeliveries(db, organisationId, alerts, { hasNats, now: timestamp });
  }).then(onAlert, (error: unknown) => {
    if (error !== toldAlready) throw error;
  });
}

function factsOf({ id, type, workspace_id, limit, value_key, epoch, current_usage }: Alert) {
  return {
    resourceId: limit.holder_id,
    workspaceId: workspace_id ?? undefined,
    detail: { alert_id: id, alert: type, limit, value_key, epoch, current_usage },
  };
}

/** Takes a change back, and its audit entry with it. */
const toldAlready = new Error('somebody told of it');
