/** What an operator looks at: deploy/grafana/<name>.json are made of this by `npm run generate`. */
export interface Panel {
  readonly title: string;
  /** As Grafana names them. */
  readonly unit: string;
  readonly expressions: readonly string[];
}

const quantile = (q: number, metric: string, by = 'le') =>
  `histogram_quantile(${q}, sum by (${by}) (rate(${metric}_bucket[5m])))`;

export const dashboards: Readonly<Record<string, readonly Panel[]>> = {
  gateway: [
    panel('Requests', 'reqps', 'sum by (code) (rate(request_count[5m]))'),
    panel(
      'Requests that failed',
      'percentunit',
      'sum(rate(request_count{code=~"5.*"}[5m])) / sum(rate(request_count[5m]))',
      'sum(rate(request_count{code=~"4.*"}[5m])) / sum(rate(request_count[5m]))',
    ),
    panel(
      'Duration of requests',
      's',
      quantile(0.5, 'http_request_duration_seconds'),
      quantile(0.95, 'http_request_duration_seconds'),
    ),
    panel(
      'Duration of calls, 95 %',
      'ms',
      quantile(0.95, 'llm_request_duration_milliseconds', 'provider, le'),
    ),
    panel(
      'Time of the gateway itself, 95 %',
      'ms',
      quantile(0.95, 'service_processing_time_excluding_last_byte_ms'),
      quantile(0.95, 'authentication_duration_milliseconds'),
      quantile(0.95, 'api_key_rate_limit_check_duration_milliseconds'),
      quantile(0.95, 'pre_request_processing_duration_milliseconds'),
      quantile(0.95, 'llm_cache_processing_duration_milliseconds'),
      quantile(0.95, 'post_request_processing_duration_milliseconds'),
    ),
    panel('Cost, USD a second', 'currencyUSD', 'sum by (provider) (rate(llm_cost_sum_total[5m]))'),
    panel('Tokens a second', 'short', 'sum by (provider) (rate(llm_token_sum_total[5m]))'),
    panel('Answers from the cache', 'reqps', 'sum by (cacheStatus) (rate(request_count[5m]))'),
    panel(
      'Asked again',
      'reqps',
      'sum(rate(sluice_retries[5m]))',
      'sum(rate(sluice_fallbacks[5m]))',
      'sum(rate(sluice_hedges[5m]))',
      'sum(rate(sluice_continued_streams[5m]))',
    ),
    panel('Circuits open', 'short', 'sluice_circuits_open'),
    panel('Without the control plane', 's', 'sluice_config_away_seconds'),
    panel('Collections of garbage', 'percentunit', 'sum(rate(node_gc_duration_seconds_sum[5m]))'),
  ],
  ledger: [
    panel('Oldest record in the outbox', 's', 'sluice_outbox_oldest_seconds'),
    panel('Outbox on disk', 'bytes', 'sluice_outbox_bytes'),
    panel(
      'Lost on a disk',
      'short',
      'sluice_outbox_damaged_ranges',
      'sluice_outbox_dropped_records',
    ),
    panel('Rows stored a second', 'short', 'sum by (table) (rate(usage_rows_stored_total[5m]))'),
    panel('Rows that wait', 'short', 'usage_queued_rows'),
    panel('Duration of inserts, 95 %', 's', quantile(0.95, 'usage_insert_seconds')),
    panel('Inserts that failed', 'short', 'rate(usage_insert_failures_total[5m])'),
    panel('Messages in NATS', 'short', 'usage_stream_messages'),
    panel('Oldest message in NATS', 's', 'usage_stream_oldest_seconds'),
    panel('Records that are missing', 'short', 'sum(usage_sequence_gaps)'),
  ],
  limits: [
    panel(
      'Refusals',
      'reqps',
      'sum by (level, type) (rate(sluice_limit_refusals[5m]))',
      'sum by (level, type) (rate(sluice_limit_shadow_refusals[5m]))',
    ),
    panel(
      'Duration of the check, 95 %',
      'ms',
      quantile(0.95, 'api_key_rate_limit_check_duration_milliseconds'),
    ),
    panel('Requests that hold something', 'short', 'sluice_limit_reservations'),
    panel('Held the longest', 's', 'sluice_limit_reservation_oldest_seconds'),
    panel('Counts on their way to Redis', 'short', 'sluice_limit_settling_lines'),
    panel('On their way for', 's', 'sluice_limit_settling_seconds'),
    panel('Counted without others', 'short', 'sluice_limits_degraded'),
    panel(
      'Groups without a counter of their own',
      'short',
      'sum(rate(sluice_limit_overflows[5m]))',
    ),
  ],
};

function panel(title: string, unit: string, ...expressions: string[]): Panel {
  return { title, unit, expressions };
}
