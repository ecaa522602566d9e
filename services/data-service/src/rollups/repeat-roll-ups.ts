import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseClient } from '@clickhouse/client';
import type { Logger } from '@sluice/telemetry';
import type { IngestMetrics } from '../metrics.ts';
import { rollUp } from './roll-up.ts';

export interface RepeatRollUpsOptions {
  readonly client: ClickHouseClient;
  /** Before each look: what a replica lacks would be missing from the figures until somebody marks it. */
  readonly catchUp: () => Promise<void>;
  readonly metrics: IngestMetrics;
  readonly logger: Logger;
  readonly nowMs: () => number;
  readonly stopping: AbortSignal;
}

/** From one look for what changed to the next. */
const everyMs = 5000;
/** So much of the past is looked at each time, and all of it every now and then: what is so late seldom comes. */
const recentMs = 2 * 86_400_000;
const allEveryMs = 300_000;
/** An insert is seen by every question so long after it was marked, also on a busy server. */
const slackMs = 10_000;
/** Longer than any roll takes to write. */
const givenUpMs = 300_000;

/** Rolls up what changed until it is stopped. Rests as long as it works, so that questions and inserts go first. */
export async function repeatRollUps(options: RepeatRollUpsOptions): Promise<void> {
  const { client, catchUp, metrics, logger, nowMs, stopping } = options;
  const rest = (ms: number) => delay(ms, undefined, { signal: stopping }).catch(() => {});
  let allAtMs = Number.NEGATIVE_INFINITY;
  while (!stopping.aborted) {
    const isAll = nowMs() - allAtMs > allEveryMs;
    try {
      await catchUp();
      const units = await rollUp({
        client,
        slackMs,
        givenUpMs,
        sinceMs: isAll ? 0 : nowMs() - recentMs,
        stopping,
        onFound: (oldestMs) =>
          metrics.rollUpAgeSeconds.set(oldestMs === undefined ? 0 : (nowMs() - oldestMs) / 1000),
        async onBatch({ units: count, tookMs }) {
          metrics.rolledUnits.inc(count);
          await rest(tookMs);
        },
      });
      // What follows from a look is done at once: hours wait for their minutes.
      if (units > 0) continue;
      if (isAll) allAtMs = nowMs();
    } catch (error) {
      if (!stopping.aborted)
        logger.warn({ err: error }, 'the roll-up of analytics failed and will be tried again');
    }
    await rest(everyMs);
  }
}
