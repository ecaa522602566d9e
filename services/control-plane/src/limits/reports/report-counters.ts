import type { config } from '@sluice/proto-stubs';
import type { DatabaseClient } from '../../kernel/database/client.ts';
import { alertOfCrossings } from '../alerts/alert-of-crossings.ts';
import { findBudgets } from '../budgets/find-budgets.ts';
import { readReports } from './read-reports.ts';
import { putCounters } from './store.ts';

export interface ReportParts {
  client: DatabaseClient;
  now: () => Date;
  /** Whether alerts go to NATS as well. */
  hasNats: boolean;
  /** Told when there are alerts to send. */
  onAlert: () => void;
}

/**
 * Keeps what a gateway counted of budgets, and alerts of those that passed their
 * threshold or their end. When it has answered, it is done: a gateway that hears
 * nothing says it again.
 */
export async function reportCounters(
  parts: ReportParts,
  { replicaId, shared: isShared, counters }: config.ReportCountersRequest,
): Promise<void> {
  const { client } = parts;
  const now = parts.now();
  const reports = readReports(counters);
  if (reports.length === 0) return;
  const budgets = await findBudgets(
    client,
    reports.map(({ limitId }) => limitId),
    reports.map(({ workspaceId }) => workspaceId),
  );
  const known = reports.flatMap((report) => {
    const found = budgets.get(report.limitId);
    return found === undefined ? [] : [{ ...report, organisationId: found.organisationId }];
  });
  if (known.length === 0) return;
  const usages = await client.$transaction(
    (db) => putCounters(db, known, { replicaId: replicaName(replicaId), isShared, now }),
    { maxWait: 5_000, timeout: 15_000 },
  );
  await alertOfCrossings(parts, budgets, usages);
}

/** Without the part that names one life of it: after a restart it goes on with what it counted. */
function replicaName(replicaId: string): string {
  return replicaId.replace(/\.[0-9a-f]{8}$/, '');
}
