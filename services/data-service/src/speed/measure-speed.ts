import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { ClickHouseClient } from '@clickhouse/client';
import { analytics } from '@sluice/proto-stubs';
import { applySchema, schemaFolder } from '../clickhouse/apply-schema.ts';
import { connectClickHouse } from '../clickhouse/connect.ts';
import { analyticsHandlers } from '../rpc/analytics.ts';
import { filledDays, filledOrganisation, fillLedger } from './fill-ledger.ts';

type FilterInit = MessageInitShape<typeof analytics.FilterSchema>;
const { Graph, Group, Summary } = analytics;

export interface SpeedOptions {
  readonly dataDir: string;
  readonly rows: number;
  /** How often each question is asked. */
  readonly times: number;
}

export interface Speed {
  readonly bytesPerRecord: number;
  /** Milliseconds that a question takes, by what it asks. */
  readonly questions: readonly {
    readonly name: string;
    readonly p50: number;
    readonly p95: number;
  }[];
}

/** What questions over thirty days of records take in the embedded engine, one after the other. */
export async function measureSpeed({ dataDir, rows, times }: SpeedOptions): Promise<Speed> {
  const { client, close } = await connectClickHouse({ dataDir });
  try {
    await applySchema(client, schemaFolder);
    const endMs = Date.UTC(2026, 0, 31);
    await fillLedger(client, { rows, endMs });
    const questions = [];
    for (const [name, ask] of questionsOf(client, endMs))
      questions.push({ name, ...(await timesOf(ask, times)) });
    return { bytesPerRecord: await bytesPerRecord(client), questions };
  } finally {
    await close();
  }
}

function questionsOf(client: ClickHouseClient, endMs: number): [string, () => Promise<unknown>][] {
  const handlers = analyticsHandlers(client);
  const context = { signal: new AbortController().signal };
  const filterOf = (some: FilterInit = {}) => ({
    organisationId: filledOrganisation,
    fromMs: BigInt(endMs - filledDays * 86_400_000),
    toMs: BigInt(endMs),
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
    ['graph latency of a day', graph(Graph.LATENCY, { fromMs: BigInt(endMs - 86_400_000) })],
  ];
}

async function timesOf(ask: () => Promise<unknown>, times: number) {
  const taken: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const start = performance.now();
    await ask();
    taken.push(performance.now() - start);
  }
  taken.sort((one, other) => one - other);
  const at = (part: number) => taken[Math.ceil(part * times) - 1] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95) };
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
