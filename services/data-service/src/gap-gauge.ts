import type { ClickHouseClient } from '@clickhouse/client';
import { createSeldom, type Logger } from '@sluice/telemetry';
import type { IngestMetrics } from './metrics.ts';
import { findGaps } from './queries/list-gaps.ts';
import { readerFor } from './queries/questions.ts';

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
const searchMs = 20_000;
/** Replicas in metrics, gaps in the log. */
const shownMax = 100;
/** A search that fails fails again with the next scrape. */
const saidAgainMs = 300_000;

const searchContext = () => ({
  signal: AbortSignal.timeout(searchMs),
  deadlineMs: Date.now() + searchMs,
});

/** Brings `usage_sequence_gaps` up to date before a scrape. Never rejects: metrics are shown without ClickHouse, too. */
export function createGapGauge(options: GapGaugeOptions): () => Promise<void> {
  let computedAtMs = Number.NEGATIVE_INFINITY;
  /** The same gaps are there for days, and are said once. */
  let said = '[]';
  const seldom = createSeldom(saidAgainMs, options.nowMs);
  return async () => {
    if (options.nowMs() - computedAtMs < options.everyMs) return;
    computedAtMs = options.nowMs();
    try {
      const gaps = await findGaps(readerFor(options.client, searchContext()), {
        nowMs: computedAtMs,
        graceMs: options.graceMs,
        sinceMs: computedAtMs - weekMs,
      });
      const missing = new Map<string, number>();
      for (const { replicaId, from, to } of gaps)
        missing.set(replicaId, (missing.get(replicaId) ?? 0) + to - from + 1);
      options.metrics.sequenceGaps.replace([...missing].slice(0, shownMax));
      const shown = gaps.slice(0, shownMax);
      const found = JSON.stringify(shown);
      if (found === said) return;
      said = found;
      if (gaps.length > 0) options.logger.warn({ gaps: shown }, 'usage records are missing');
      else options.logger.info('no usage records are missing any more');
    } catch (error) {
      seldom.say('', (repeats) =>
        options.logger.warn({ err: error, repeats }, 'the search for missing usage records failed'),
      );
    }
  };
}
