/**
 * When somebody has to look: deploy/prometheus/alerts.yaml is made of this by
 * `npm run generate`. Expressions keep to what `evaluate-expression.ts` reads,
 * so that a test can let each of them fire.
 */
export interface AlertRule {
  readonly name: string;
  readonly expression: string;
  /** How long it has to hold. */
  readonly holds: string;
  readonly severity: 'critical' | 'warning';
  readonly summary: string;
}

export const alertRules: Readonly<Record<string, readonly AlertRule[]>> = {
  gateway: [
    {
      name: 'SluiceServerErrors',
      expression: 'sum(rate(request_count{code=~"5.*"}[5m])) / sum(rate(request_count[5m])) > 0.05',
      holds: '5m',
      severity: 'critical',
      summary: 'More than 5 % of all requests end with a 5xx.',
    },
    {
      name: 'SluiceGatewaySlow',
      expression:
        'histogram_quantile(0.95, sum by (le) (rate(service_processing_time_excluding_last_byte_ms_bucket[5m]))) > 250',
      holds: '10m',
      severity: 'warning',
      summary: 'The gateway itself takes more than 250 ms of every twentieth request.',
    },
    {
      name: 'SluiceControlPlaneAway',
      expression: 'sluice_config_away_seconds > 120',
      holds: '1m',
      severity: 'warning',
      summary: 'A gateway serves with what it last heard: changes and new keys do not reach it.',
    },
    {
      name: 'SluiceControlPlaneRefused',
      expression: 'sluice_config_refused > 0',
      holds: '5m',
      severity: 'warning',
      summary: 'A gateway and the control plane are of releases that do not work together.',
    },
    {
      name: 'SluicePriceFilesFailing',
      expression: 'sluice_price_files_failing > 0',
      holds: '5m',
      severity: 'warning',
      summary: 'A price file cannot be read, and the prices before it stay in use.',
    },
  ],
  ledger: [
    {
      name: 'SluiceOutboxOld',
      expression: 'sluice_outbox_oldest_seconds > 300',
      holds: '1m',
      severity: 'critical',
      summary:
        'A gateway cannot hand over its usage records; it refuses requests once its outbox is full.',
    },
    {
      name: 'SluiceOutboxRefused',
      expression: 'sluice_outbox_refused > 0',
      holds: '5m',
      severity: 'critical',
      summary:
        'A gateway is newer than the data service can follow: its usage records wait in its outbox.',
    },
    {
      name: 'SluiceOutboxDamaged',
      expression: 'sluice_outbox_damaged_ranges > 0',
      holds: '0m',
      severity: 'critical',
      summary:
        'Usage records on a disk cannot be read: see outbox/damaged and GET /v1/ledger/gaps.',
    },
    {
      name: 'SluiceRecordsDropped',
      expression: 'sluice_outbox_dropped_records > 0',
      holds: '0m',
      severity: 'critical',
      summary: 'A disk refused usage records, and memory had no room for them.',
    },
    {
      name: 'SluiceBodiesDropped',
      expression: 'sluice_content_dropped_logs > 0',
      holds: '0m',
      severity: 'warning',
      summary: 'Bodies of requests are dropped on their way to the log store.',
    },
    {
      name: 'SluiceLogStoreAway',
      expression: 'sluice_content_store_away > 0',
      holds: '10m',
      severity: 'warning',
      summary: 'The log store takes no bodies of requests: they wait on the gateways’ disks.',
    },
    {
      name: 'SluiceLedgerGaps',
      expression: 'sum(usage_sequence_gaps) > 0',
      holds: '10m',
      severity: 'critical',
      summary: 'The ledger lacks records that gateways made: GET /v1/ledger/gaps names them.',
    },
    {
      name: 'SluiceSealOld',
      // A day is sealed six hours after its end, and is the last one for another day.
      expression: 'max(usage_seal_age_seconds) > 129600',
      holds: '10m',
      severity: 'warning',
      summary: 'A day of the ledger is over and not sealed; the log of the data service says why.',
    },
    {
      name: 'SluiceStreamOld',
      expression: 'usage_stream_oldest_seconds > 3600',
      holds: '5m',
      severity: 'critical',
      summary:
        'Usage records wait in NATS for more than an hour; the stream keeps them for days only.',
    },
    {
      name: 'SluiceStreamMayDrop',
      expression: 'usage_stream_dangers > 0',
      holds: '0m',
      severity: 'critical',
      summary: 'The NATS stream may drop usage records that are not stored; the log says why.',
    },
    {
      name: 'SluiceInsertsFail',
      expression: 'rate(usage_insert_failures_total[5m]) > 0',
      holds: '10m',
      severity: 'critical',
      summary: 'ClickHouse does not take usage records.',
    },
  ],
  limits: [
    {
      name: 'SluiceLimitsDegraded',
      expression: 'max(sluice_limits_degraded) > 0',
      holds: '5m',
      severity: 'warning',
      summary: 'Gateways count limits each by itself, as their rules without Redis say.',
    },
    {
      name: 'SluiceLimitsSettleLate',
      expression: 'max(sluice_limit_settling_seconds) > 30',
      holds: '5m',
      severity: 'warning',
      summary: 'What was used reaches Redis late: limits hold more than they have to.',
    },
    {
      name: 'SluiceLimitGroupsFull',
      expression: 'sum(rate(sluice_limit_overflows[10m])) > 0',
      holds: '0m',
      severity: 'warning',
      summary:
        'A policy has more groups than LIMIT_GROUPS_MAX; the further ones are counted together.',
    },
  ],
};
