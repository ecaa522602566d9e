import type { ClickHouseClient } from '@clickhouse/client';
import type { Logger } from '@sluice/telemetry';
import type { IngestMetrics } from './metrics.ts';
import { findGaps } from './queries/list-gaps.ts';

export interface GapGaugeOptions {
  client: ClickHouseClient;
  metrics: IngestMetrics;
  logger: Logger;
  nowMs: () => number;
  graceMs: number;
  /** Scrapes in quick succession share an answer. */
  everyMs: number;
}

const weekMs = 7 * 24 * 3_600_000;
/** Replicas in metrics, gaps in the log. */
const shownMax = 100;

/** Brings `usage_sequence_gaps` up to date before a scrape. Never rejects: metrics are shown without ClickHouse, too. */
export function createGapGauge(options: GapGaugeOptions): () => Promise<void> {
  let computedAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    if (options.nowMs() - computedAtMs < options.everyMs) return;
    computedAtMs = options.nowMs();
    try {
      const gaps = await findGaps(options.client, {
        nowMs: computedAtMs,
        graceMs: options.graceMs,
        sinceMs: computedAtMs - weekMs,
      });
      const missing = new Map<string, number>();
      for (const { replicaId, from, to } of gaps)
        missing.set(replicaId, (missing.get(replicaId) ?? 0) + to - from + 1);
      options.metrics.sequenceGaps.replace([...missing].slice(0, shownMax));
      if (gaps.length > 0)
        options.logger.warn({ gaps: gaps.slice(0, shownMax) }, 'usage records are missing');
    } catch (error) {
      options.logger.warn({ err: error }, 'the search for missing usage records failed');
    }
  };
}
