import { createLogger, createMetrics } from '@sluice/telemetry';
import { temporaryFolder } from '@sluice/testkit';
import { applySchema, schemaFolder } from '../src/clickhouse/apply-schema.ts';
import { connectClickHouse } from '../src/clickhouse/connect.ts';
import { ingestMetrics } from '../src/metrics.ts';
import { createUsageSink } from '../src/sinks/usage-sink.ts';

/** Before every record of a test: its copies are stored, as those of young records are. */
const whenAllIsYoung = Date.UTC(2020, 0, 1);

/** The real engine inside the test, with schema and sink. One a process: the engine allows no more. */
export async function openLedger({ nowMs = () => whenAllIsYoung }: { nowMs?: () => number } = {}) {
  const { client, intake, questions, insertBlock, catchUp, close } = await connectClickHouse({
    dataDir: await temporaryFolder('clickhouse'),
  });
  await applySchema(client, schemaFolder);
  const metrics = ingestMetrics(createMetrics({ app: 'test', env: 'test' }));
  const logger = createLogger({ service: 'test', level: 'silent' });
  const sink = createUsageSink({
    client: intake,
    insertBlock,
    metrics,
    logger,
    nowMs,
    insertIntervalMs: 200,
  });
  return {
    client,
    intake,
    questions,
    catchUp,
    sink,
    /** The rows of a query as objects. */
    async rows<T = Record<string, unknown>>(query: string): Promise<T[]> {
      const result = await client.query({ query, format: 'JSONEachRow' });
      return result.json<T>();
    },
    async close() {
      await sink.close(1000);
      await close();
    },
  };
}

export type Ledger = Awaited<ReturnType<typeof openLedger>>;
