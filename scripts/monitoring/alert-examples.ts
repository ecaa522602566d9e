/** For each alert samples on which it fires, and the nearest on which it does not: for the test of ours and for promtool. */
import type { Series } from './evaluate-expression.ts';

/** Two samples, a minute apart. */
const went = (
  name: string,
  from: number,
  to: number,
  labels: Readonly<Record<string, string>> = {},
): Series => ({
  name,
  labels,
  points: [
    [0, from],
    [60, to],
  ],
});
export const was = (name: string, value: number, labels?: Readonly<Record<string, string>>) =>
  went(name, value, value, labels);
const slowest = 'service_processing_time_excluding_last_byte_ms_bucket';

/** For each alert samples on which it fires, and the nearest on which it does not. */
export const alertExamples: Readonly<Record<string, { fires: Series[]; isQuiet: Series[] }>> = {
  SluiceServerErrors: {
    fires: [
      went('request_count', 0, 90, { code: '200' }),
      went('request_count', 5, 8, { code: '502' }),
      went('request_count', 0, 7, { code: '5xx' }),
    ],
    isQuiet: [
      went('request_count', 0, 96, { code: '200' }),
      went('request_count', 5, 9, { code: '502' }),
      // Many once, none of late.
      was('request_count', 1000, { code: '500' }),
    ],
  },
  SluiceGatewaySlow: {
    fires: [
      went(slowest, 0, 90, { le: '200' }),
      went(slowest, 0, 100, { le: '500' }),
      went(slowest, 0, 100, { le: '+Inf' }),
    ],
    isQuiet: [
      went(slowest, 0, 96, { le: '200' }),
      went(slowest, 0, 100, { le: '500' }),
      went(slowest, 0, 100, { le: '+Inf' }),
    ],
  },
  ...atThreshold('SluiceControlPlaneAway', 'sluice_config_away_seconds', 120),
  ...atThreshold('SluiceControlPlaneRefused', 'sluice_config_refused', 0),
  ...atThreshold('SluiceOutboxRefused', 'sluice_outbox_refused', 0),
  ...atThreshold('SluicePriceFilesFailing', 'sluice_price_files_failing', 0),
  ...atThreshold('SluiceOutboxOld', 'sluice_outbox_oldest_seconds', 300),
  ...atThreshold('SluiceOutboxDamaged', 'sluice_outbox_damaged_ranges', 0),
  ...atThreshold('SluiceRecordsDropped', 'sluice_outbox_dropped_records', 0),
  ...atThreshold('SluiceBodiesDropped', 'sluice_content_dropped_logs', 0),
  ...atThreshold('SluiceLogStoreAway', 'sluice_content_store_away', 0),
  ...atThreshold('SluiceLedgerGaps', 'usage_sequence_gaps', 0),
  ...atThreshold('SluiceSealOld', 'usage_seal_age_seconds', 129_600),
  ...atThreshold('SluiceStreamOld', 'usage_stream_oldest_seconds', 3600),
  ...atThreshold('SluiceStreamMayDrop', 'usage_stream_dangers', 0),
  SluiceInsertsFail: {
    fires: [went('usage_insert_failures_total', 5, 6)],
    isQuiet: [was('usage_insert_failures_total', 6)],
  },
  ...atThreshold('SluiceLimitsDegraded', 'sluice_limits_degraded', 0),
  ...atThreshold('SluiceLimitsSettleLate', 'sluice_limit_settling_seconds', 30),
  SluiceLimitGroupsFull: {
    // The gateway began anew.
    fires: [went('sluice_limit_overflows', 9, 1)],
    isQuiet: [was('sluice_limit_overflows', 9)],
  },
};

function atThreshold(alert: string, metric: string, value: number) {
  const isQuiet = [was(metric, value, { app: 'a' }), was(metric, 0, { app: 'b' })];
  return { [alert]: { fires: [...isQuiet, was(metric, value + 1, { app: 'c' })], isQuiet } };
}
