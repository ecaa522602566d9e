import { setTimeout as delay } from 'node:timers/promises';
import { createLogger, createMetrics } from '@sluice/telemetry';
import { applySchema, schemaFolder } from '../clickhouse/apply-schema.ts';
import { type ClickHousePlace, connectClickHouse } from '../clickhouse/connect.ts';
import { ingestMetrics } from '../metrics.ts';
import { createUsageSink } from '../sinks/usage-sink.ts';
import { recordOf } from './write-steadily.ts';

export interface IntakeOptions {
  readonly place: ClickHousePlace;
  readonly perSecond: number;
  readonly seconds: number;
  /** How old the records are, as those of a backlog. */
  readonly agedMs: number;
}

export interface Intake {
  /** Until the last record was stored. */
  readonly seconds: number;
  /** Of all threads, merges included, without making the records. */
  readonly cpuMicrosEach: number;
  readonly rssMax: number;
}

/** Records an entry list, as gateways send them. */
const listed = 500;

/** What it takes to store so many records a second for so long. */
export async function measureIntake(options: IntakeOptions): Promise<Intake> {
  const { perSecond, seconds, agedMs } = options;
  const { client, intake, insertBlock, close } = await connectClickHouse(options.place);
  try {
    await applySchema(client, schemaFolder);
    const metrics = ingestMetrics(createMetrics({ app: 'data-service', env: 'speed' }));
    const logger = createLogger({ service: 'data-service', level: 'warn' });
    const sink = createUsageSink({
      client: intake,
      insertBlock,
      metrics,
      logger,
      nowMs: Date.now,
      insertIntervalMs: 200,
    });
    let [rssMax, madeMicros] = [0, 0];
    const stored: Promise<void>[] = [];
    const began = performance.now();
    const cpu = process.cpuUsage();
    for (let sent = 0; sent < perSecond * seconds; sent += listed) {
      await delay(Math.max(0, began + (sent / perSecond) * 1000 - performance.now()));
      while (sink.size > waitingMax) await delay(5);
      const making = process.threadCpuUsage();
      const records = Array.from({ length: listed }, (_, index) =>
        recordOf(sent + index + 1, Date.now() - agedMs),
      );
      const { user, system } = process.threadCpuUsage(making);
      madeMicros += user + system;
      stored.push(sink.write(records));
      rssMax = Math.max(rssMax, process.memoryUsage.rss());
    }
    await Promise.all(stored);
    const took = (performance.now() - began) / 1000;
    await merged();
    const { user, system } = process.cpuUsage(cpu);
    await sink.close(1000);
    return {
      seconds: took,
      cpuMicrosEach: (user + system - madeMicros) / (perSecond * seconds),
      rssMax,
    };
  } finally {
    await close();
  }

  /** Until nothing is merged any more: what intake leaves to be done belongs to it. */
  async function merged(): Promise<void> {
    for (let idle = 0; idle < 5; ) {
      const result = await client.query({
        query:
          'SELECT toUInt32(count()) AS running FROM system.merges WHERE database = currentDatabase()',
        format: 'JSONEachRow',
      });
      const [row] = await result.json<{ running: number }>();
      idle = row?.running === 0 ? idle + 1 : 0;
      await delay(200);
    }
  }
}

/** As the consumer of the stream waits for room. */
const waitingMax = 40_000;
