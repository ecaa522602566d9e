import { addCounter, addGauges, type Metrics } from '@sluice/telemetry';

/** What the ledger's intake counts. */
export type IngestMetrics = ReturnType<typeof ingestMetrics>;

export function ingestMetrics(metrics: Metrics) {
  return {
    rows: addCounter(
      metrics.registry,
      'usage_rows_stored_total',
      'Rows inserted, by table. Copies of a record count each time they arrive.',
      {
        labels: {
          table: new Set([
            'usage_records',
            'usage_adjustments',
            'feedbacks',
            'late_hooks',
            'usage_rejects',
            'replica_lives',
            'stored_objects',
          ]),
        },
        seriesMax: 20,
      },
    ),
    insertSeconds: metrics.histogram(
      'usage_insert_seconds',
      'Duration of inserts into ClickHouse.',
      [0.01, 0.03, 0.1, 0.3, 1, 3, 10],
    ),
    insertFailures: metrics.counter(
      'usage_insert_failures_total',
      'Inserts that failed and were tried again.',
    ),
    queuedRows: metrics.gauge('usage_queued_rows', 'Rows waiting for their insert, or in it.'),
    natsConnected: metrics.gauge(
      'nats_connected',
      '1 while connected to NATS; 0 also where NATS_URL is not set.',
    ),
    streamMessages: metrics.gauge(
      'usage_stream_messages',
      'Messages in the NATS stream that are not stored yet.',
    ),
    streamAgeSeconds: metrics.gauge(
      'usage_stream_oldest_seconds',
      'Age of the oldest message in the NATS stream that is not stored yet; 0 = there is none.',
    ),
    streamDangers: metrics.gauge(
      'usage_stream_dangers',
      'Reasons for which the NATS stream may drop usage records that are not stored yet; the log names them.',
    ),
    rolledUnits: metrics.counter(
      'analytics_rolled_units_total',
      'Minutes, hours and days of organisations that were rolled up for analytics.',
    ),
    rollUpAgeSeconds: metrics.gauge(
      'analytics_roll_up_oldest_seconds',
      'Age of the oldest minute that is due to be rolled up for analytics; 0 = there is none.',
    ),
    sealAgeSeconds: metrics.gauge(
      'usage_seal_age_seconds',
      'Time since the end of the last day that every organisation has sealed; 0 = there was nothing to seal.',
    ),
    sequenceGaps: addGauges(
      metrics.registry,
      'usage_sequence_gaps',
      'Records that a replica heard of in the last seven days made and the ledger does not have.',
      // A replica has a new name with each start of its gateway.
      { label: 'replica_id', seriesMax: 100 },
    ),
  };
}
