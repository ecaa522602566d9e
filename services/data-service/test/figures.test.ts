import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { ClickHouseClient } from '@clickhouse/client';
import { analytics } from '@sluice/proto-stubs';
import { isLongForm } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bucketStarts, bucketWidthMs } from '../src/queries/buckets.ts';
import { findSources } from '../src/queries/rolled/find-sources.ts';
import { rollUp } from '../src/rollups/roll-up.ts';
import { analyticsHandlers } from '../src/rpc/analytics.ts';
import { type Ledger, openLedger } from './embedded-ledger.ts';
import { type RandomLedger, randomLedger } from './random-ledger.ts';
import { type Entry, entriesOf, feedbackOf, figuresOf, groupBy } from './reference-figures.ts';
import { dayFilter, dayMs } from './usage-records.ts';

type FilterInit = MessageInitShape<typeof analytics.FilterSchema>;
type Figure = keyof ReturnType<typeof figuresOf>;
const { Graph, Group, Summary } = analytics;

/** `npm run ledger:figures` asks everything of 100,000 records; the suite every question once in the stage between, and half of them before and after it, of few. */
const isFull = isLongForm;
const rows = Number(process.env.LEDGER_TEST_ROWS ?? (isFull ? 100_000 : 2500));
const organisationId = 'random';
const context = { signal: new AbortController().signal };

let ledger: Ledger;
let handlers: ReturnType<typeof analyticsHandlers>;
let random: RandomLedger;
let all: Entry[];

beforeAll(async () => {
  ledger = await openLedger();
  handlers = analyticsHandlers(ledger);
  // Copies stay in parts of their own.
  for (const table of ['usage_records', 'usage_adjustments', 'feedbacks'])
    await ledger.client.command({ query: `SYSTEM STOP MERGES ${table}` });
  random = randomLedger(organisationId, rows, 20_261_122);
  await ledger.sink.write(randomLedger('another', 200, 1).written.map(({ entry }) => entry));
});
afterAll(() => ledger.close());

const dayEnd = dayMs + 24 * 3_600_000 - 1;
const inDay = (entry: Entry) => entry.at >= dayMs && entry.at <= dayEnd;
const weighted = (entry: Entry) =>
  entry.feedback.reduce((sum, { value, weight }) => sum + value * weight, 0);

/** Ways to ask, and the entries that each admits. */
const filters: readonly [string, FilterInit, (entry: Entry) => boolean][] = [
  ['all', {}, () => true],
  ['a workspace', { workspaceIds: ['ws-2'] }, ({ last }) => last.workspaceId === 'ws-2'],
  ['a person', { userId: 'person-1' }, ({ last }) => last.userId === 'person-1'],
  [
    'keys and a provider',
    { apiKeyIds: ['key-1', 'key-3'], virtualKeys: ['main'] },
    ({ last }) => ['key-1', 'key-3'].includes(last.apiKeyId) && last.providerSlug === 'main',
  ],
  [
    'a model, by either name',
    { aiOrgModels: ['openai__gpt-4o', 'x__y'], aiModels: ['gpt-4o'] },
    ({ last }) => last.provider === 'openai' && last.model === 'gpt-4o',
  ],
  [
    'configs and prompts',
    { configs: ['pc-1', 'c-1'], promptSlugs: ['pp-1'] },
    ({ last }) =>
      (last.configSlug === 'pc-1' || last.configId === 'c-1') && last.promptSlug === 'pp-1',
  ],
  [
    'statuses',
    { statusCodes: [246, 446, 0] },
    ({ last }) => [246, 446, 0].includes(last.statusCode),
  ],
  [
    'tools of a provider',
    { capabilityNames: ['forecast'], virtualKeys: ['main', 'other'] },
    ({ last }) =>
      last.capabilityName === 'forecast' && ['main', 'other'].includes(last.providerSlug),
  ],
  ['what succeeded', { isSuccess: true }, (entry) => entry.isSuccess],
  ['what failed', { isSuccess: false }, (entry) => !entry.isSuccess],
  [
    'metadata',
    { metadata: { team: 'gré\n', _user: "user ' 3" } },
    ({ last }) => last.metadata.team === 'gré\n' && last.metadata._user === "user ' 3",
  ],
  ['metadata that is empty', { metadata: { team: '' } }, ({ last }) => last.metadata.team === ''],
  [
    'spans, and the cache',
    { spanIds: ['span-1', 'span-2'], cacheStatuses: ['HIT'] },
    ({ last, isHit }) => ['span-1', 'span-2'].includes(last.spanId) && isHit,
  ],
  [
    'tokens and costs',
    {
      totalUnitsMin: 500n,
      promptTokenMax: 4000n,
      completionTokenMin: 1n,
      costMin: 0.5,
      costMax: 4,
    },
    (entry) =>
      entry.tokens >= 500 &&
      entry.inputTokens <= 4000 &&
      entry.outputTokens >= 1 &&
      entry.cents >= 0.5 &&
      entry.cents <= 4,
  ],
  [
    'feedback',
    { weightedFeedbackMin: -2, weightedFeedbackMax: 3.5 },
    (entry) => entry.feedback.length > 0 && weighted(entry) >= -2 && weighted(entry) <= 3.5,
  ],
  [
    'a text in metadata, model or error',
    { search: 'CLAUDE' },
    ({ last }) => last.model.includes('claude'),
  ],
  [
    'lists that are longer than an address may be',
    {
      traceIds: Array.from({ length: 1000 }, (_, index) => `trace-${index}`),
      apiKeyIds: [
        'key-2',
        ...Array.from({ length: 999 }, (_, index) => `' \\ \0 ${index}`.padEnd(60)),
      ],
    },
    ({ last }) => last.apiKeyId === 'key-2' && /^trace-\d{1,3}$/.test(last.traceId),
  ],
];

/** What comes when the rest was rolled up: of some requests of the second half of the day, and of a few traces. */
const isLate = (id: Buffer) =>
  id.readUIntBE(0, 6) > dayMs + 12 * 3_600_000
    ? id.readUInt32BE(12) % 25 === 0
    : id.readUIntBE(0, 6) === dayMs && id.readUInt32BE(12) % 300 === 0;

async function write(isWritten: (id: Buffer) => boolean): Promise<void> {
  const written = random.written.filter(({ of }) => isWritten(of)).map(({ entry }) => entry);
  const size = Math.ceil(written.length / 4);
  for (let from = 0; from < written.length; from += size)
    await ledger.sink.write(written.slice(from, from + size));
}

function rollUpOnce(client = ledger.client): Promise<number> {
  const stopping = new AbortController().signal;
  return rollUp({ client, slackMs: 0, givenUpMs: 0, sinceMs: 0, stopping });
}

/** Rolls up what there is, as often as it takes. */
async function rollUpAll(client = ledger.client): Promise<number> {
  let count = 0;
  for (;;) {
    const units = await rollUpOnce(client);
    if (units === 0) return count;
    count += units;
  }
}

/** How far the roll-ups are, each as it follows from the one before. */
const stages: readonly [string, () => Promise<void>, (filter: string) => boolean][] = [
  [
    'read from attempts',
    async () => {
      await write((id) => !isLate(id));
      all = entriesOf({
        ...random,
        attempts: random.attempts.filter(({ requestId }) => !isLate(requestId)),
        judgements: random.judgements.filter(({ id }) => !isLate(id)),
      });
    },
    (filter) => filter === 'all' || !asksForAll.has(filter),
  ],
  [
    'read from roll-ups, and from attempts where more came since',
    async () => {
      const minutes = groupBy(all, ({ at }) => String(Math.floor(at / 60_000)));
      expect(await rollUpAll()).toBeGreaterThanOrEqual(minutes.size);
      await write(isLate);
      all = entriesOf(random);
    },
    () => true,
  ],
  [
    'read from roll-ups, after one was cut off and two were made at once',
    async () => {
      const cutOff = brokenAt(ledger.client, ({ is_whole }) => is_whole === 1);
      await expect(rollUpAll(cutOff)).rejects.toThrow('cut off');
      // Neither waits for what the other has begun: two that went on until nothing is left would undo each other's for minutes.
      await Promise.all([rollUpAll(), rollUpOnce()]);
      expect(await readFromAttempts()).toEqual([]);
      for (const table of ['usage_changes', 'usage_rolls', 'settled_entries', 'usage_rollups'])
        await ledger.client.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
    },
    (filter) => ['all', 'a workspace', 'statuses', 'metadata that is empty'].includes(filter),
  ],
];

/** A client whose process ends when it would insert a row. */
function brokenAt(client: ClickHouseClient, isLast: (row: { is_whole?: number }) => boolean) {
  return Object.assign(Object.create(client) as ClickHouseClient, {
    insert: (options: { values: readonly { is_whole?: number }[] }) => {
      if (options.values.some(isLast)) throw new Error('cut off');
      return client.insert(options as Parameters<ClickHouseClient['insert']>[0]);
    },
  });
}

/** The parts of the day that are read from attempts. */
async function readFromAttempts() {
  const span = { from: dayMs, to: dayEnd + 1 };
  const { raw } = await findSources(ledger.client, { organisationId, span });
  return raw;
}

/** In the full form every figure is asked for under these, and under the others some of each kind. */
const asksForAll = new Set(['all', 'a person', 'metadata', 'feedback']);

describe.each(stages)('%s', (stage, enter, isAsked) => {
  const stageAt = stages.findIndex(([name]) => name === stage);
  beforeAll(enter, isFull ? 600_000 : 120_000);

  const asked = filters.filter(([name]) => isAsked(name));
  describe.each(asked.map((filter, turn) => [...filter, turn] as const))(
    'of %s',
    (filterName, filter, admits, turn) => {
      const asksFor = (names: readonly string[], name: string) =>
        asksForAll.has(filterName) || names.includes(name);
      let place = 0;
      /**
       * In the short form the filters of a stage take the questions in turns: all of them where roll-ups and attempts
       * are read together, and before and after it every second time that it is a filter's turn.
       */
      const isTurn = () => {
        const [round, at] = [Math.floor(place / asked.length), place % asked.length];
        place += 1;
        return isFull || (at === turn && (stageAt === 1 || round % 2 === stageAt / 2));
      };
      const inTurn = (title: string, test: () => Promise<void>) => {
        if (isTurn()) it(title, test);
      };
      let entries: Entry[];
      beforeAll(() => {
        entries = all.filter((entry) => inDay(entry) && admits(entry));
      });

      const graphs: readonly [
        keyof typeof Graph,
        Record<string, Figure>,
        Record<string, Figure>?,
      ][] = [
        ['REQUESTS', { total: 'requests' }],
        ['COST', { total: 'cost', avg: 'avg_cost', unpriced: 'unpriced' }],
        ['TOKENS', { total: 'total_tokens', avg: 'avg_tokens' }],
        [
          'LATENCY',
          { avg: 'avg_latency', p50: 'p50_latency', p90: 'p90_latency', p99: 'p99_latency' },
        ],
        ['USERS', { total: 'users' }],
        ['USERS_REQUESTS', { total: 'user_requests', unique: 'users', avg: 'avg_user_requests' }],
        ['ERRORS', { total: 'error_count' }],
        ['ERRORS_RATE', { rate: 'error_rate' }],
        ['ERRORS_STACKS', { total: 'error_count' }],
        ['REQUESTS_RESCUED', { retry: 'retries', fallback: 'fallbacks' }],
        [
          'CACHE_HIT_RATE',
          {
            total: 'hits',
            rate: 'cache_hit_rate',
            simple_hits: 'simple_hits',
            semantic_hits: 'semantic_hits',
          },
        ],
        ['CACHE_LATENCY', { avg: 'hit_latency' }],
        ['FEEDBACKS', { total: 'feedbacks' }],
        ['FEEDBACKS_WEIGHTED', { avg: 'avg_weighted_feedback' }],
      ];

      const someGraphs = graphs.filter(([name]) =>
        isFull
          ? asksFor(['COST', 'LATENCY', 'REQUESTS_RESCUED', 'FEEDBACKS_WEIGHTED'], name)
          : isTurn(),
      );
      it.each(someGraphs)('the graph %s is what the reference counts', async (name, figures) => {
        const { summary, dataPoints } = await graph(Graph[name], filter);
        expectFigures(summary ?? {}, figures, entries, 'summary');
        const range = { fromMs: dayMs, toMs: dayEnd };
        const width = bucketWidthMs(range);
        const buckets = groupBy(entries, ({ at }) => String(Math.floor(at / width) * width));
        expect(dataPoints?.map(({ timestampMs }) => Number(timestampMs))).toEqual(
          bucketStarts(range, width),
        );
        for (const { timestampMs, values } of dataPoints ?? [])
          expectFigures(
            values ?? {},
            figures,
            buckets.get(String(timestampMs)) ?? [],
            `${timestampMs}`,
          );
      });

      inTurn(
        'errors and retries are told in parts, of the whole time and of each bucket',
        async () => {
          const failed = entries.filter((entry) => !entry.isSuccess);
          const retried = entries.filter((entry) => entry.isSuccess && entry.last.retryCount > 0);
          const statuses = countBy(failed, ({ last }) => last.statusCode);
          const keyed = await graph(Graph.ERRORS_STATUS_CODES, filter);
          expect(keyed.summary).toEqual({
            total_errors: failed.length,
            unique_error_codes: Object.keys(statuses).length,
          });
          expect(
            Object.fromEntries(
              (keyed.dataPoints ?? []).map(({ key, values }) => [key, values?.count]),
            ),
          ).toEqual(statuses);
          expect(partsOf((await graph(Graph.ERRORS_STACKS, filter)).dataPoints)).toEqual(statuses);
          expect(partsOf((await graph(Graph.REQUESTS_RESCUED, filter)).dataPoints)).toEqual(
            countBy(retried, ({ last }) => last.retryCount),
          );
        },
      );

      inTurn('savings of the cache add up', async () => {
        const { dataPoints } = await graph(Graph.CACHE_HIT_RATE, filter);
        const { simple_savings, semantic_savings } = figuresOf(entries);
        const last = dataPoints?.at(-1)?.values;
        expect(last?.cumulative_simple_cache_savings).toBeCloseTo(simple_savings, 6);
        expect(last?.cumulative_semantic_cache_savings).toBeCloseTo(semantic_savings, 6);
        const sums = (dataPoints ?? []).map(
          ({ values }) => values?.cumulative_simple_cache_savings ?? 0,
        );
        expect(sums).toEqual([...sums].sort((one, other) => one - other));
      });

      inTurn('feedback is told by score and by model', async () => {
        const scores = await graph(Graph.FEEDBACKS_SCORES, filter);
        expect(
          Object.fromEntries(
            (scores.dataPoints ?? []).map(({ key, values }) => [key, values?.total]),
          ),
        ).toEqual(countBy(feedbackOf(entries), ({ value }) => value));
        const models = await graph(Graph.FEEDBACKS_AI_MODELS, filter);
        const judged = [...groupBy(entries, ({ last }) => last.model)].filter(
          ([model, some]) => model !== '' && feedbackOf(some).length > 0,
        );
        expect(models.dataPoints?.map(({ key }) => key).sort()).toEqual(
          judged.map(([key]) => key).sort(),
        );
        for (const { key, values } of models.dataPoints ?? [])
          expectFigures(
            values ?? {},
            { total: 'feedbacks', avg_weighted_feedback: 'avg_weighted_feedback' },
            entries.filter(({ last }) => last.model === key),
            `${key}`,
          );
      });

      inTurn('the summary of the cache is what the reference counts', async () => {
        const request = create(analytics.GetSummaryRequestSchema, {
          summary: Summary.CACHE,
          filter: filterOf(filter),
        });
        const { values } = await handlers.getSummary(request, context);
        expectFigures(
          values ?? {},
          {
            hits: 'hits',
            avg_latency: 'hit_latency',
            total_requests: 'requests',
            cache_speedup: 'cache_speedup',
          },
          entries,
          'summary',
        );
      });

      const groups: readonly [keyof typeof Group, (entry: Entry) => string][] = [
        ['AI_MODELS', ({ last }) => last.model],
        ['USERS', ({ user }) => user],
        ['METADATA', ({ last }) => last.metadata.team ?? ''],
        ['AI_SERVICE', ({ last }) => last.provider],
        ['MODEL', ({ last }) => last.model],
        ['STATUS_CODE', ({ last }) => String(last.statusCode)],
        ['API_KEY', ({ last }) => last.apiKeyId],
        ['CONFIG', ({ last }) => last.configSlug],
        ['WORKSPACE', ({ last }) => last.workspaceId],
        ['PROVIDER', ({ last }) => last.providerSlug],
        ['PROMPT', ({ last }) => last.promptSlug],
        ['TOOL', ({ last }) => last.capabilityName],
        ['MODE', ({ last }) => last.endpoint],
      ];
      const columns = [
        'cost',
        'total_tokens',
        'avg_tokens',
        'avg_input_tokens',
        'avg_output_tokens',
        'avg_latency',
        'p95_latency',
        'p99_latency',
        'success_rate',
        'error_count',
        'cache_hit_rate',
        'first_seen',
        'last_seen',
        'requests_with_feedback',
        'avg_weighted_feedback',
      ] as const satisfies Figure[];

      const someGroups = groups.filter(([name]) =>
        isFull ? asksFor(['METADATA', 'STATUS_CODE'], name) : isTurn(),
      );
      it.each(someGroups)(
        'groups by %s have every column as the reference counts it',
        async (name, keyOf) => {
          const expected = [...groupBy(entries, keyOf)].filter(([key]) => key !== '');
          const request = create(analytics.ListGroupsRequestSchema, {
            group: Group[name],
            metadataKey: 'team',
            filter: filterOf(filter),
            columns: [...columns],
          });
          const { total, rows: groupRows = [] } = await handlers.listGroups(request, context);
          expect(Number(total)).toBe(expected.length);
          expect(groupRows.map(({ value }) => value)).toEqual(
            expected
              .sort(([key, some], [otherKey, others]) =>
                some.length === others.length
                  ? Buffer.compare(Buffer.from(key), Buffer.from(otherKey))
                  : others.length - some.length,
              )
              .map(([key]) => key),
          );
          const byKey = new Map(expected);
          for (const { value, requests, values } of groupRows) {
            const some = byKey.get(value ?? '') ?? [];
            expect(Number(requests)).toBe(some.length);
            expectFigures(
              values ?? {},
              Object.fromEntries(columns.map((name) => [name, name])),
              some,
              value ?? '',
            );
          }
        },
      );

      inTurn('groups are ordered by any column, either way', async () => {
        const order = async (orderBy: string, ascending: boolean) => {
          const request = create(analytics.ListGroupsRequestSchema, {
            group: Group.API_KEY,
            filter: filterOf(filter),
            columns: [orderBy],
            orderBy,
            ascending,
          });
          const { rows: groupRows = [] } = await handlers.listGroups(request, context);
          return groupRows.map(({ values }) => values?.[orderBy] ?? 0);
        };
        const up = await order('cost', true);
        expect(up).toEqual([...up].sort((one, other) => one - other));
        const down = await order('avg_latency', false);
        expect(down).toEqual([...down].sort((one, other) => other - one));
      });
    },
  );
});

function filterOf(filter: FilterInit) {
  return dayFilter({ ...filter, organisationId });
}

function graph(kind: analytics.Graph, filter: FilterInit) {
  const request = create(analytics.GetGraphRequestSchema, {
    graph: kind,
    filter: filterOf(filter),
  });
  return handlers.getGraph(request, context);
}

function expectFigures(
  shown: Readonly<Record<string, number>>,
  figures: Readonly<Record<string, Figure>>,
  entries: readonly Entry[],
  where: string,
): void {
  const reference = figuresOf(entries);
  for (const [name, figure] of Object.entries(figures)) {
    const [value, expected] = [shown[name] ?? Number.NaN, reference[figure]];
    const tolerance = /^p\d\d_/.test(figure)
      ? expected / 100
      : 1e-6 * Math.max(1, Math.abs(expected));
    if (!(Math.abs(value - expected) <= tolerance))
      expect.fail(`${name} of ${where} is ${value}, and the reference says ${expected}`);
  }
}

function countBy<T>(values: readonly T[], keyOf: (value: T) => number): Record<string, number> {
  return Object.fromEntries(
    [...groupBy(values, (value) => String(keyOf(value)))].map(([key, some]) => [key, some.length]),
  );
}

function partsOf(points: readonly { parts?: readonly { key?: string; value?: number }[] }[] = []) {
  const sums: Record<string, number> = {};
  for (const { key = '', value = 0 } of points.flatMap(({ parts = [] }) => parts))
    sums[key] = (sums[key] ?? 0) + value;
  return sums;
}
