import type { ClickHouseClient } from '@clickhouse/client';
import type { Logger } from '@sluice/telemetry';
import type { IngestMetrics } from './metrics.ts';
import { findSequenceGaps } from './queries/sequence-gaps.ts';

export interface GapGaugeOptions {
  client: ClickHouseClient;
  metrics: IngestMetrics;
  logger: Logger;
  nowMs: () => number;
  /** The query reads a week of records, so scrapes in quick succession share an answer. */
  everyMs: number;
}

/** Brings `usage_sequence_gaps` up to date before a scrape. Never rejects: metrics are shown without ClickHouse, too. */
export function createGapGauge(options: GapGaugeOptions): () => Promise<void> {
  let computedAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (options.nowMs() - computedAtMs < options.everyMs) return;
    computedAtMs = options.nowMs();
    try {
      const gaps = await findSequenceGaps(options.client, computedAtMs);
      options.metrics.sequenceGaps.replace(
        gaps.map(({ replicaId, missing }) => [replicaId, missing]),
      );
      const lossy = gaps.filter(({ missing }) => missing > 0);
      if (lossy.length > 0) options.logger.warn({ replicas: lossy }, 'usage records are missing');
    } catch (error) {
      options.logger.warn({ err: error }, 'the search for missing usage records failed');
    }
  };
}
