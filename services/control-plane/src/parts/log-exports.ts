import type { BreakingStore } from '@sluice/object-store';
import type { Part } from '@sluice/service';
import type { Logger, Metrics } from '@sluice/telemetry';
import type { DatabaseClient } from '../kernel/database/client.ts';
import type { Ledger } from '../ledger/analytics/ledger.ts';
import { ExportJobs } from '../ledger/log-exports/export-jobs.ts';
import { createExportMetrics } from '../ledger/log-exports/metrics.ts';
import type { Env } from '../settings.ts';

interface ExportParts {
  readonly client: DatabaseClient;
  readonly ledger: Ledger;
  /** Undefined = none is set, and nothing is exported. */
  readonly store: BreakingStore | undefined;
  readonly metrics: Metrics;
  readonly now: () => Date;
  readonly logger: Logger;
}

/** Runs exports of logs, by a lease each. */
export function logExportsPart(env: Env, { store, metrics, ...parts }: ExportParts): Part {
  const exports =
    store === undefined
      ? undefined
      : new ExportJobs(
          { ...parts, store, metrics: createExportMetrics(metrics) },
          {
            atOnce: env.LOG_EXPORTS_AT_ONCE,
            intervalMs: env.LOG_EXPORT_INTERVAL,
            leaseMs: env.LOG_EXPORT_LEASE,
            keptMs: env.LOG_EXPORT_KEEP_DAYS * 86_400_000,
          },
        );
  return {
    name: 'log-exports',
    start: () => exports?.start(),
    drain: () => exports?.drain(),
    stop: () => exports?.drain(),
    gauges: () => [
      {
        name: 'sluice_log_exports_running',
        help: 'Log exports under way at this replica.',
        read: () => exports?.running ?? 0,
      },
    ],
  };
}
