import { addCounter, type Metrics } from '@sluice/telemetry';

const ends = ['success', 'failed'] as const;

/** Told of what exports of this replica come to. */
export interface ExportMetrics {
  wrote(rows: number): void;
  ended(how: (typeof ends)[number]): void;
}

export function createExportMetrics({ registry }: Metrics): ExportMetrics {
  const rows = addCounter(
    registry,
    'sluice_log_export_rows_total',
    'Rows that log exports wrote to the store.',
  ).child({});
  const ended = addCounter(
    registry,
    'sluice_log_exports_total',
    'Log exports that ended, by how.',
    { labels: { status: new Set(ends) }, seriesMax: ends.length },
  );
  return {
    wrote: (count) => rows.add(count),
    ended: (status) => ended.child({ status }).add(1),
  };
}
