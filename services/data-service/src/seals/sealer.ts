import { setTimeout as delay } from 'node:timers/promises';
import type { ClickHouseClient } from '@clickhouse/client';
import type { Logger } from '@sluice/telemetry';
import { dayMs, dayStartMs, lastDueDay } from './days.ts';
import { sealDueDays } from './seal-due-days.ts';

export interface SealerOptions {
  client: ClickHouseClient;
  /** Before days are sealed: a seal stands for all that was stored. */
  catchUp: () => Promise<void>;
  logger: Logger;
  nowMs: () => number;
  everyMs: number;
}

export interface Sealer {
  start(): void;
  stop(): Promise<void>;
  /** Since the end of the last day that every organisation has sealed; 0 = there was nothing to seal yet. */
  ageSeconds(): number;
}

/** Seals each day once it is over for long enough. What fails is tried again, and shows as an age that grows. */
export function createSealer({ client, catchUp, logger, nowMs, everyMs }: SealerOptions): Sealer {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let doneTo = '';
  let sealedTo: string | undefined;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const due = lastDueDay(nowMs());
      try {
        if (due > doneTo) {
          await catchUp();
          await sealDueDays(client, nowMs(), stopping.signal);
          if (!stopping.signal.aborted) doneTo = due;
        }
      } catch (error) {
        logger.warn(
          { err: error },
          'days of the ledger could not be sealed and will be tried again',
        );
      }
      try {
        sealedTo = await readSealedTo(client);
      } catch (error) {
        logger.warn({ err: error }, 'the seals of the ledger could not be read');
      }
      await delay(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  return {
    start() {
      running ??= run();
    },
    async stop() {
      stopping.abort();
      // What is cut off is sealed at the next start.
      await Promise.race([running, delay(2000, undefined, { ref: false })]);
    },
    ageSeconds: () =>
      sealedTo === undefined ? 0 : Math.max(0, (nowMs() - dayStartMs(sealedTo) - dayMs) / 1000),
  };
}

async function readSealedTo(client: ClickHouseClient): Promise<string | undefined> {
  const result = await client.query({
    query: `SELECT toString(min(last)) AS day, toString(count()) AS organisations
      FROM (SELECT max(day) AS last FROM ledger_seals GROUP BY organisation_id)
      SETTINGS max_execution_time = 20`,
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ day: string; organisations: string }>();
  return row === undefined || row.organisations === '0' ? undefined : row.day;
}
