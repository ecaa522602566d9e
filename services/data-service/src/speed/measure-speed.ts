import { setTimeout as delay } from 'node:timers/promises';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { ClickHouseClient } from '@clickhouse/client';
import { analytics } from '@sluice/proto-stubs';
import { createLogger, createMetrics } from '@sluice/telemetry';
import { applySchema, schemaFolder } from '../clickhouse/apply-schema.ts';
import type { ClickHouse } from '../clickhouse/clickhouse.ts';
import { connectClickHouse } from '../clickhouse/connect.ts';
import { ingestMetrics } from '../metrics.ts';
import { listGaps } from '../queries/list-gaps.ts';
import { repeatRollUps } from '../rollups/repeat-roll-ups.ts';
import { rollUp } from '../rollups/roll-up.ts';
import { analyticsHandlers } from '../rpc/analytics.ts';
import { logHandlers } from '../rpc/logs.ts';
import { createUsageSink } from '../sinks/usage-sink.ts';
import { filledDays, filledOrganisation, fillLedger } from './fill-ledger.ts';
import { writeSteadily } from './write-steadily.ts';

type FilterInit = MessageInitShape<typeof analytics.FilterSchema>;
const { Graph, Group, Summary } = analytics;

export interface SpeedOptions {
  /** Filled where it is empty. */
  readonly dataDir: string;
  readonly rows: number;
  /** How often each question is asked. */
  readonly times: number;
  /** Records a second that arrive meanwhile. */
  readonly arriving: number;
  /** Words of the names of the questions to ask; all when left out. */
  readonly only?: RegExp | undefined;
}

export interface Speed {
  readonly rollUpSeconds: number;
  readonly bytesPerRecord: number;
  /** What a question takes in milliseconds, by what it asks. */
  readonly questions: readonly {
    readonly name: string;
    readonly p50: number;
    readonly p95: number;
    /** CPU of the process, the least of all times: what goes on beside it is in the others. */
    readonly cpu: number;
  }[];
}

/** What questions over the last thirty days take in the embedded engine, one after the other, while roll-ups are made as in service. */
export async function measureSpeed(options: SpeedOptions): Promise<Speed> {
  const clickHouse = await connectClickHouse({
    dataDir: options.dataDir,
  });
  const { client, intake, insertBlock, catchUp, close } = clickHouse;
  const stop = new AbortController();
  const parts: Promise<void>[] = [];
  try {
    await applySchema(client, schemaFolder);
    const rollUpSeconds = await fillAndRollUp(client, options);
    const metrics = ingestMetrics(createMetrics({ app: 'data-service', env: 'speed' }));
    const logger = createLogger({ service: 'data-service', level: 'warn' });
    const stopping = stop.signal;
    parts.push(repeatRollUps({ client, catchUp, metrics, logger, nowMs: Date.now, stopping }));
    if (options.arriving > 0) {
      const sink = createUsageSink({
        client: intake,
        insertBlock,
        metrics,
        logger,
        nowMs: Date.now,
        insertIntervalMs: 200,
      });
      parts.push(writeSteadily(sink, { perSecond: options.arriving, stopping }));
      await delay(arrivedMs);
    }
    const questions = [];
    for (const [name, ask] of await questionsOf(clickHouse)) {
      if (options.only !== undefined && !options.only.test(name)) continue;
      questions.push({ name, ...(await timesOf(ask, options.times)) });
    }
    return { rollUpSeconds, bytesPerRecord: await bytesPerRecord(client), questions };
  } finally {
    stop.abort();
    await Promise.all(parts);
    await close();
  }
}

/** So long records arrive before the first question: until there are minutes in each state. */
const arrivedMs = 60_000;

/** Seconds that the roll-ups of the filled ledger took; few where they were made before. */
async function fillAndRollUp(client: ClickHouseClient, { rows }: SpeedOptions): Promise<number> {
  if ((await countRecords(client)) === 0) await fillLedger(client, { rows, endMs: Date.now() });
  const began = performance.now();
  const stopping = new AbortController().signal;
  const options = { client, slackMs: 0, givenUpMs: 0, sinceMs: 0, stopping };
  while ((await rollUp(options)) > 0);
  return (performance.now() - began) / 1000;
}

async function countRecords(client: ClickHouseClient): Promise<number> {
  const result = await client.query({
    query: 'SELECT count() AS records FROM usage_records',
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ records: number | string }>();
  return Number(row?.records ?? 0);
}

async function questionsOf(clickHouse: ClickHouse): Promise<[string, () => Promise<unknown>][]> {
  const { client, questions } = clickHouse;
  const handlers = analyticsHandlers(clickHouse);
  const context = { signal: new AbortController().signal };
  const filterOf = (some: FilterInit = {}) => ({
    organisationId: filledOrganisation,
    fromMs: BigInt(Date.now() - filledDays * 86_400_000),
    toMs: BigInt(Date.now()),
    ...some,
  });
  const graph = (kind: analytics.Graph, filter?: FilterInit) => () =>
    handlers.getGraph(
      create(analytics.GetGraphRequestSchema, { graph: kind, filter: filterOf(filter) }),
      context,
    );
  const groups =
    (group: analytics.Group, columns: string[] = []) =>
    () =>
      handlers.listGroups(
        create(analytics.ListGroupsRequestSchema, {
          group,
          metadataKey: 'team',
          columns,
          filter: filterOf(),
        }),
        context,
      );
  const logs = logHandlers(questions);
  const listLogs = (filter?: FilterInit) => () =>
    logs.listLogs(create(analytics.ListLogsRequestSchema, { filter: filterOf(filter) }), context);
  const some = await someRecord(client);
  const kinds = Object.values(Graph).filter(
    (kind): kind is analytics.Graph => typeof kind === 'number' && kind !== Graph.UNSPECIFIED,
  );
  return [
    ...kinds.map((kind): [string, () => Promise<unknown>] => [
      `graph ${Graph[kind].toLowerCase()}`,
      graph(kind),
    ]),
    [
      'summary cache',
      () =>
        handlers.getSummary(
          create(analytics.GetSummaryRequestSchema, { summary: Summary.CACHE, filter: filterOf() }),
          context,
        ),
    ],
    ['groups users', groups(Group.USERS)],
    ['groups metadata', groups(Group.METADATA)],
    ['groups model, three columns', groups(Group.MODEL, ['cost', 'p95_latency', 'last_seen'])],
    ['graph cost of a key', graph(Graph.COST, { apiKeyIds: ['key-7'] })],
    ['graph cost by metadata', graph(Graph.COST, { metadata: { team: 'team-7' } })],
    [
      'graph cost of a key and a model',
      graph(Graph.COST, { apiKeyIds: ['key-7'], aiModels: ['model-3'] }),
    ],
    ['logs', listLogs()],
    ['logs of a key', listLogs({ apiKeyIds: ['key-7'] })],
    ['logs with an error', listLogs({ isSuccess: false })],
    ['logs by metadata', listLogs({ metadata: { team: 'team-7' } })],
    [
      'a log by id',
      () =>
        logs.getLog(
          create(analytics.GetLogRequestSchema, {
            organisationId: filledOrganisation,
            id: some.id,
          }),
          context,
        ),
    ],
    [
      'a request by id',
      () =>
        logs.listAttempts(
          create(analytics.ListAttemptsRequestSchema, {
            organisationId: filledOrganisation,
            requestId: some.request_id,
          }),
          context,
        ),
    ],
    [
      'a trace',
      () =>
        logs.listAttempts(
          create(analytics.ListAttemptsRequestSchema, {
            organisationId: filledOrganisation,
            traceId: some.trace_id,
          }),
          context,
        ),
    ],
    [
      'gaps',
      () =>
        listGaps(client, create(analytics.ListGapsRequestSchema, { pageSize: 100 }), {
          nowMs: Date.now(),
          graceMs: 120_000,
        }),
    ],
    ['graph latency of a day', graph(Graph.LATENCY, { fromMs: BigInt(Date.now() - 86_400_000) })],
  ];
}

/** One of the middle. */
async function someRecord(
  client: ClickHouseClient,
): Promise<{ id: string; request_id: string; trace_id: string }> {
  const result = await client.query({
    query: `SELECT id, request_id, trace_id FROM usage_records
      WHERE organisation_id = '${filledOrganisation}' AND created_at < now64(3) - INTERVAL 15 DAY AND trace_id != '' LIMIT 1`,
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ id: string; request_id: string; trace_id: string }>();
  if (row === undefined) throw new Error('The ledger holds nothing of fifteen days ago.');
  return row;
}

async function timesOf(ask: () => Promise<unknown>, times: number) {
  const taken: number[] = [];
  let cpuLeast = Number.POSITIVE_INFINITY;
  for (let time = 0; time < times; time += 1) {
    const cpu = process.cpuUsage();
    const start = performance.now();
    // What is refused for its time took too long.
    await ask().then(
      () => taken.push(performance.now() - start),
      () => taken.push(Number.POSITIVE_INFINITY),
    );
    const { user, system } = process.cpuUsage(cpu);
    cpuLeast = Math.min(cpuLeast, (user + system) / 1000);
  }
  taken.sort((one, other) => one - other);
  const at = (part: number) => taken[Math.ceil(part * times) - 1] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), cpu: cpuLeast };
}

async function bytesPerRecord(client: ClickHouseClient): Promise<number> {
  const result = await client.query({
    query: `
      SELECT sum(bytes_on_disk) / sumIf(rows, table = 'usage_records') AS bytes
      FROM system.parts WHERE active AND database = currentDatabase()`,
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ bytes: number }>();
  return row?.bytes ?? Number.NaN;
}
