import type { FoundBudget } from '../budgets/find-budgets.ts';
import { told } from '../usage/budget.ts';
import type { CountedUsage } from '../usage/counted-usage.ts';

/** What is told of a budget, once in each of its epochs. */
export type AlertType = 'limit.threshold_reached' | 'limit.exhausted';

/** An alert as it is written into the audit log, and sent. */
export interface Alert {
  readonly id: string;
  readonly type: AlertType;
  readonly created_at: string;
  readonly organisation_id: string;
  readonly workspace_id: string | null;
  readonly limit: {
    readonly id: string;
    readonly holder: FoundBudget['holder']['kind'];
    readonly holder_id: string;
    readonly holder_name: string;
    readonly type: string;
    readonly credit_limit: number;
    readonly alert_threshold: number | null;
    readonly shadow: boolean;
  };
  /** Of a policy: whose counter it is; else empty. */
  readonly value_key: string;
  readonly epoch: string;
  readonly current_usage: number;
  /** Of a key: who is to be told besides. No mail is sent from here. */
  readonly alert_emails: readonly string[];
}

export function alertOf(
  type: AlertType,
  { budget, holder, organisationId, workspaceId, alertEmails = [] }: FoundBudget,
  usage: CountedUsage,
  { id, now }: { id: string; now: Date },
): Alert {
  return {
    id,
    type,
    created_at: now.toISOString(),
    organisation_id: organisationId,
    workspace_id: workspaceId,
    limit: {
      id: budget.id,
      holder: holder.kind,
      holder_id: holder.id,
      holder_name: holder.name,
      type: budget.type,
      credit_limit: budget.creditLimit,
      alert_threshold: budget.alertThreshold,
      shadow: budget.shadow,
    },
    value_key: usage.valueKey,
    epoch: `${usage.generation}.${usage.periodStartMs}`,
    current_usage: told(budget.type, usage.posted),
    alert_emails: alertEmails,
  };
}
