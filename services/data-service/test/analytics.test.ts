import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { analytics, usage } from '@sluice/proto-stubs';
import { freshName, inTurns } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createQuestions, questionLimits } from '../src/queries/questions.ts';
import { rollUp } from '../src/rollups/roll-up.ts';
import { analyticsHandlers } from '../src/rpc/analytics.ts';
import { type Ledger, openLedger } from './embedded-ledger.ts';
import { dayFilter, dayMs, encodedRecord } from './usage-records.ts';

type FilterInit = MessageInitShape<typeof analytics.FilterSchema>;

const minute = 60_000;
const hour = 60 * minute;
const context = { signal: new AbortController().signal };

let ledger: Ledger;
let handlers: ReturnType<typeof analyticsHandlers>;

beforeAll(async () => {
  ledger = await openLedger();
  handlers = analyticsHandlers(ledger);
  await ledger.client.command({ query: 'SYSTEM STOP MERGES usage_records' });
});
afterAll(() => ledger.close());

/** Every figure below is asked of rows that are there twice, in parts that never merge. */
async function writeTwice(records: Uint8Array[]): Promise<void> {
  await ledger.sink.write(records);
  await ledger.sink.write(records);
}

async function graph(kind: analytics.Graph, filter: FilterInit) {
  const request = create(analytics.GetGraphRequestSchema, {
    graph: kind,
    filter: dayFilter(filter),
  });
  const { summary, dataPoints } = await handlers.getGraph(request, context);
  const points = (dataPoints ?? []).map((point) => ({
    atMs: Number(point.timestampMs),
    values: point.values,
  }));
  return { summary, points };
}

async function countOf(filter: FilterInit): Promise<number> {
  return Number((await graph(analytics.Graph.REQUESTS, filter)).summary?.total);
}

async function models(filter: FilterInit, page: { pageSize?: number; currentPage?: number } = {}) {
  const request = create(analytics.ListGroupsRequestSchema, {
    group: analytics.Group.AI_MODELS,
    filter: dayFilter(filter),
    ...page,
  });
  return handlers.listGroups(request, context);
}

describe('GetGraph', () => {
  const organisationId = 'graphs';
  const at = (ms: number, some: Parameters<typeof encodedRecord>[0] = {}) =>
    encodedRecord({ organisationId, createdAtMs: BigInt(dayMs + ms), ...some });

  beforeAll(() =>
    writeTwice([
      at(0, { inputTokens: 100n, outputTokens: 20n, costNanoUsd: 30_000_000n, latencyMs: 100 }),
      at(1000, { inputTokens: 50n, outputTokens: 0n, costNanoUsd: 10_000_000n, latencyMs: 300 }),
      at(2 * hour, {
        costKnown: false,
        costNanoUsd: 999_999n,
        inputTokens: 7n,
        outputTokens: 3n,
        latencyMs: 200,
      }),
      at(2 * hour, {
        outcome: usage.Outcome.DENIED,
        statusCode: 429,
        costKnown: false,
        inputTokens: 0n,
        outputTokens: 0n,
        latencyMs: 1,
      }),
      at(24 * hour, { costNanoUsd: 1n }),
      at(-1, { costNanoUsd: 1n }),
    ]),
  );

  it('counts requests, in all and by bucket, with zeros where there were none', async () => {
    const { summary, points } = await graph(analytics.Graph.REQUESTS, { organisationId });
    expect(summary).toEqual({ total: 4 });
    expect(points.map(({ atMs }) => atMs)).toEqual(
      Array.from({ length: 96 }, (_, index) => dayMs + index * 15 * minute),
    );
    expect(nonZero(points)).toEqual([
      { atMs: dayMs, values: { total: 2 } },
      { atMs: dayMs + 2 * hour, values: { total: 2 } },
    ]);
  });

  it('gives cost in US cents, averaged over the requests that cost any', async () => {
    const { summary, points } = await graph(analytics.Graph.COST, { organisationId });
    expect(summary).toEqual({ total: 4, avg: 2, unpriced: 0 });
    expect(nonZero(points)).toEqual([{ atMs: dayMs, values: { total: 4, avg: 2, unpriced: 0 } }]);
  });

  it('adds input and output tokens, averaged over the requests that used any', async () => {
    const { summary, points } = await graph(analytics.Graph.TOKENS, { organisationId });
    expect(summary).toEqual({ total: 180, avg: 60 });
    expect(nonZero(points)).toEqual([
      { atMs: dayMs, values: { total: 170, avg: 85 } },
      { atMs: dayMs + 2 * hour, values: { total: 10, avg: 10 } },
    ]);
  });

  it('gives latency in milliseconds, without requests that were refused', async () => {
    const { summary, points } = await graph(analytics.Graph.LATENCY, { organisationId });
    expect(summary).toMatchObject({ avg: 200, p50: 200 });
    expect(summary?.p90).toBeGreaterThan(200);
    expect(summary?.p99).toBeLessThanOrEqual(300);
    expect(nonZero(points)[1]).toEqual({
      atMs: dayMs + 2 * hour,
      values: { avg: 200, p50: 200, p90: 200, p99: 200 },
    });
  });

  it('gives percentiles near the true ones for many requests', async () => {
    const latencies = Array.from({ length: 1000 }, (_, index) => index + 1);
    await writeTwice(
      latencies.map((latencyMs) => encodedRecord({ organisationId: 'percentiles', latencyMs })),
    );
    const { summary } = await graph(analytics.Graph.LATENCY, { organisationId: 'percentiles' });
    expect(summary?.avg).toBeCloseTo(500.5);
    for (const [name, value] of [
      ['p50', 500],
      ['p90', 900],
      ['p99', 990],
    ] as const)
      expect(Math.abs(Number(summary?.[name]) - value)).toBeLessThan(10);
  });

  it.each([
    analytics.Graph.REQUESTS,
    analytics.Graph.COST,
    analytics.Graph.TOKENS,
    analytics.Graph.LATENCY,
  ])(
    'answers graph %s with zeros where nothing happened, and without points for an empty range',
    async (kind) => {
      const quiet = await graph(kind, { organisationId: 'nobody', toMs: BigInt(dayMs + hour) });
      expect(quiet.points).toHaveLength(61);
      expect(
        [quiet.summary, ...quiet.points.map(({ values }) => values)]
          .flatMap((values) => Object.values(values ?? {}))
          .every((value) => value === 0),
      ).toBe(true);
      const empty = await graph(kind, {
        organisationId,
        fromMs: BigInt(dayMs + 1),
        toMs: BigInt(dayMs),
      });
      expect(empty.points).toEqual([]);
      expect(Object.values(empty.summary ?? {}).every((value) => value === 0)).toBe(true);
    },
  );

  it('includes both ends of the range, and takes ends that no calendar holds', async () => {
    expect(
      await countOf({ organisationId, fromMs: BigInt(dayMs), toMs: BigInt(dayMs + 1000) }),
    ).toBe(2);
    expect(
      await countOf({ organisationId, fromMs: BigInt(dayMs - 1), toMs: BigInt(dayMs + 24 * hour) }),
    ).toBe(6);
    const all = { fromMs: -(2n ** 63n), toMs: 2n ** 63n - 1n };
    expect(await countOf({ organisationId, ...all })).toBe(6);
  });

  it('says that a question is too large, and does not call the ledger away', async () => {
    const { client } = ledger;
    const tight: typeof client = Object.assign(Object.create(client), {
      query: (asked: Parameters<typeof client.query>[0]) =>
        client.query({
          ...asked,
          query: asked.query.replace(/max_rows_to_read = \d+/, 'max_rows_to_read = 1'),
        }),
    });
    const request = create(analytics.GetGraphRequestSchema, {
      graph: analytics.Graph.REQUESTS,
      filter: dayFilter({ organisationId }),
    });
    const questions = createQuestions(tight, { ...questionLimits, atOnce: 2 });
    await expect(
      analyticsHandlers({ client, questions }).getGraph(request, context),
    ).rejects.toMatchObject({
      code: 'admin.analytics_too_large',
      status: 400,
    });
  });

  it('leaves no limit behind that what is asked or stored next would meet', async () => {
    await countOf({ organisationId });
    expect(
      await ledger.rows(
        "SELECT name FROM system.settings WHERE changed AND name IN ('max_execution_time', 'max_memory_usage', 'max_rows_to_read', 'prefer_column_name_to_alias')",
      ),
    ).toEqual([]);
  });

  it('refuses a graph it does not have, and a question without an organisation', async () => {
    await expect(graph(analytics.Graph.UNSPECIFIED, {})).rejects.toMatchObject({
      code: 'admin.validation',
    });
    await expect(countOf({ organisationId: '' })).rejects.toMatchObject({
      code: 'admin.validation',
    });
    await expect(
      handlers.getGraph(
        create(analytics.GetGraphRequestSchema, { graph: analytics.Graph.COST }),
        context,
      ),
    ).rejects.toMatchObject({ field: 'filter' });
  });
});

describe('Filter', () => {
  const organisationId = 'filters';

  beforeAll(() =>
    writeTwice([
      encodedRecord({
        organisationId,
        workspaceId: 'ws-a',
        providerSlug: 'main-openai',
        configSlug: 'pc-a',
        configId: 'config-a',
        apiKeyId: 'key-a',
        userId: 'user-a',
        traceId: 'trace-a',
        spanId: 'span-a',
        statusCode: 200,
        inputTokens: 10n,
        cacheReadTokens: 4n,
        outputTokens: 100n,
        costNanoUsd: 20_000_000n,
        metadata: { _user: 'ann', team: 'red', empty: '' },
      }),
      encodedRecord({
        organisationId,
        workspaceId: 'ws-b',
        provider: 'anthropic',
        model: 'claude-sonnet-4-5',
        providerSlug: 'other',
        configSlug: 'pc-b',
        configId: 'config-b',
        apiKeyId: 'key-b',
        traceId: 'trace-b',
        spanId: 'span-b',
        statusCode: 500,
        inputTokens: 200n,
        outputTokens: 20n,
        costKnown: false,
        costNanoUsd: 9n,
        metadata: { _user: 'ann', team: 'blue' },
        endpoint: 'mcp:tool_call',
        capabilityName: 'forecast',
      }),
      encodedRecord({ organisationId: 'another', workspaceId: 'ws-a' }),
    ]),
  );

  it('tells of targets how much of what was sent their caches knew, rolled up or not', async () => {
    const request = create(analytics.ListGroupsRequestSchema, {
      group: analytics.Group.PROVIDER,
      columns: ['prompt_cache_rate'],
      filter: dayFilter({ organisationId }),
    });
    const { rows } = await handlers.listGroups(request, context);
    expect(rows?.map(({ value, values }) => [value, values?.prompt_cache_rate])).toEqual([
      ['main-openai', 40],
      ['other', 0],
    ]);
  });

  const cases: [string, FilterInit, number][] = [
    ['no part', {}, 2],
    ['one workspace', { workspaceIds: ['ws-a'] }, 1],
    ['several workspaces', { workspaceIds: ['ws-a', 'ws-b', 'ws-c'] }, 2],
    ['a workspace of nobody', { workspaceIds: ['ws-c'] }, 0],
    ['tokens at least', { totalUnitsMin: 111n }, 1],
    ['tokens at least, met exactly', { totalUnitsMin: 110n }, 2],
    ['tokens at most', { totalUnitsMax: 110n }, 1],
    ['input tokens at least', { promptTokenMin: 11n }, 1],
    ['input tokens at most', { promptTokenMax: 10n }, 1],
    ['input tokens at most, of the widest number', { promptTokenMax: 2n ** 64n - 1n }, 2],
    ['output tokens at least', { completionTokenMin: 100n }, 1],
    ['output tokens at most', { completionTokenMax: 19n }, 0],
    ['cents at least', { costMin: 2 }, 1],
    ['cents at least, just missed', { costMin: 2.000001 }, 0],
    ['cents at most, where unknown is nothing', { costMax: 0 }, 1],
    ['cents from nothing', { costMin: 0 }, 2],
    ['cents of the widest number', { costMin: -1.5, costMax: Number.MAX_VALUE }, 2],
    ['feedback from a whole number that is wide', { weightedFeedbackMin: -1e17 }, 0],
    ['status codes', { statusCodes: [500, 429] }, 1],
    ['provider slugs', { virtualKeys: ['main-openai'] }, 1],
    ['configs by slug', { configs: ['pc-a'] }, 1],
    ['configs by id', { configs: ['config-b', 'pc-a'] }, 2],
    ['API keys', { apiKeyIds: ['key-b'] }, 1],
    ['a user', { userId: 'user-a' }, 1],
    ['a user, and a key of somebody else', { userId: 'user-a', apiKeyIds: ['key-b'] }, 0],
    ['a user whose name is no SQL', { userId: "' OR 1=1 --" }, 0],
    ['nobody, which is not everybody', { userId: '' }, 0],
    ['traces', { traceIds: ['trace-a', 'trace-x'] }, 1],
    ['spans', { spanIds: ['span-b'] }, 1],
    ['prompts, of which there are none', { promptSlugs: ['p'] }, 0],
    ['modes', { endpoints: ['mcp:tool_call', 'mcp:resource_read'] }, 1],
    ['tools', { capabilityNames: ['forecast'] }, 1],
    ['tools, of which there are none', { capabilityNames: ['rain'] }, 0],
    ['provider and model', { aiOrgModels: ['anthropic__claude-sonnet-4-5'] }, 1],
    ['a metadata pair', { metadata: { _user: 'ann' } }, 2],
    ['several metadata pairs, all of them', { metadata: { _user: 'ann', team: 'red' } }, 1],
    ['metadata pairs of which one fails', { metadata: { _user: 'bob', team: 'red' } }, 0],
    ['an empty metadata value, which is not an absent one', { metadata: { empty: '' } }, 1],
    ['several parts, all of them', { workspaceIds: ['ws-a'], statusCodes: [500] }, 0],
  ];
  const counted = [
    countOf,
    async (filter: FilterInit) =>
      ((await models(filter)).rows ?? []).reduce((sum, row) => sum + Number(row.requests), 0),
  ];
  // In the suite by a graph or by groups, in turns; in `npm run test:long` by both.
  it.each(cases.map(([name, filter, expected], turn) => ({ name, filter, expected, turn })))(
    'admits by $name',
    async ({ filter, expected, turn }) => {
      for (const count of inTurns(counted, counted.length, turn))
        expect(await count({ organisationId, ...filter })).toBe(expected);
    },
  );

  const attacks = [
    "' OR 1=1 --",
    "x') OR ('1'='1",
    '{organisation_id:String}',
    "\\' OR 1=1 --",
    "a\tb\\N\n'",
    '\0',
    "']) OR has(['",
    '💥',
  ];
  it.each(attacks)('takes %j as text and nothing else', async (text) => {
    const filters: FilterInit[] = [
      { organisationId: text },
      { workspaceIds: [text] },
      { virtualKeys: [text, text] },
      { configs: [text] },
      { apiKeyIds: [text] },
      { traceIds: [text] },
      { spanIds: [text] },
      { aiOrgModels: [text] },
      { metadata: { [text]: 'ann' } },
      { metadata: { _user: text } },
    ];
    // In the suite each text in two places, and all of them between them (`npm run test:long`: each in all).
    for (const filter of inTurns(filters, 5, attacks.indexOf(text)))
      expect(await countOf({ organisationId, ...filter })).toBe(0);
  });

  it('takes the longest lists that callers may send', async () => {
    const longest = (text: string) =>
      Array.from({ length: 1000 }, (_, index) => `${text}${index}`.padEnd(512, "'\\\0"));
    expect(
      await countOf({
        organisationId,
        traceIds: ['trace-a', ...longest('t')],
        apiKeyIds: ['key-a', ...longest('k')],
        metadata: { team: 'red', [`${"'".repeat(4000)}`]: '\0'.repeat(4000) },
      }),
    ).toBe(0);
    expect(await countOf({ organisationId, traceIds: ['trace-a', ...longest('t')] })).toBe(1);
  });

  const stored = attacks.map((text) => {
    const record = encodedRecord({
      organisationId: text,
      workspaceId: text,
      providerSlug: text,
      apiKeyId: text,
      model: text,
      metadata: { [text]: text },
    });
    return [text, record] as const;
  });
  it.each(stored)('finds %j where it was stored', async (text, record) => {
    await writeTwice([record]);
    const filter: FilterInit = {
      organisationId: text,
      workspaceIds: [text],
      virtualKeys: [text],
      apiKeyIds: [text],
      aiOrgModels: [`openai__${text}`],
      metadata: { [text]: text },
    };
    const { rows } = await models(filter);
    expect(rows).toEqual([{ value: text, requests: 1n, cost: 0.00045, values: {} }]);
  });
});

describe('ListGroups', () => {
  const organisationId = 'groups';
  const many = (model: string, count: number) =>
    Array.from({ length: count }, () =>
      encodedRecord({ organisationId, model, costNanoUsd: 10_000_000n }),
    );

  beforeAll(() =>
    writeTwice([
      ...many('b', 2),
      ...many('a', 2),
      ...many('busy', 3),
      encodedRecord({ organisationId, model: 'unpriced', costKnown: false }),
      encodedRecord({ organisationId, model: '' }),
    ]),
  );

  it('lists models by requests, then by name, with their cost in cents', async () => {
    expect(await models({ organisationId })).toEqual({
      total: 4n,
      rows: [
        { value: 'busy', requests: 3n, cost: 3, values: {} },
        { value: 'a', requests: 2n, cost: 2, values: {} },
        { value: 'b', requests: 2n, cost: 2, values: {} },
        { value: 'unpriced', requests: 1n, cost: 0, values: {} },
      ],
    });
  });

  it('gives one page at a time, the total always, and nothing past the end', async () => {
    const page = async (currentPage: number) => {
      const { total, rows } = await models({ organisationId }, { pageSize: 3, currentPage });
      return [Number(total), (rows ?? []).map(({ value }) => value)];
    };
    expect(await page(0)).toEqual([4, ['busy', 'a', 'b']]);
    expect(await page(1)).toEqual([4, ['unpriced']]);
    expect(await page(2)).toEqual([4, []]);
    expect(await page(4_294_967_295)).toEqual([4, []]);
  });

  it('by tool are told where a release that knew no tools rolled up again, and by mode too', async () => {
    const organisationId = freshName('tools');
    // On a day of its own, so that nothing else is rolled up.
    const laterMs = dayMs + 7 * 24 * hour;
    const call = (capabilityName: string) =>
      encodedRecord({
        organisationId,
        capabilityName,
        endpoint: 'mcp:tool_call',
        provider: 'mcp',
        createdAtMs: BigInt(laterMs),
      });
    await ledger.sink.write([call('forecast'), call('forecast'), call('rain')]);
    const groups = async (group: analytics.Group) => {
      const request = create(analytics.ListGroupsRequestSchema, {
        group,
        filter: dayFilter({
          organisationId,
          fromMs: BigInt(laterMs),
          toMs: BigInt(laterMs + 24 * hour - 1),
        }),
      });
      const { rows = [] } = await handlers.listGroups(request, context);
      return rows.map(({ value, requests }) => [value, Number(requests)]);
    };
    const byTool = [
      ['forecast', 2],
      ['rain', 1],
    ];
    const { client } = ledger;
    const stopping = new AbortController().signal;
    while ((await rollUp({ client, slackMs: 0, givenUpMs: 0, sinceMs: laterMs, stopping })) > 0);
    expect(await groups(analytics.Group.TOOL)).toEqual(byTool);

    const of = `WHERE organisation_id = '${organisationId}'`;
    for (const query of [
      `INSERT INTO settled_entries SELECT * REPLACE (roll + 1 AS roll, '' AS capability_name) FROM settled_entries ${of}`,
      `INSERT INTO usage_rollups SELECT * REPLACE (roll + 1 AS roll) FROM usage_rollups ${of} AND slice != 'tool'`,
      `INSERT INTO usage_rolls (organisation_id, width, start, roll, is_whole)
        SELECT organisation_id, width, start, max(roll) + 1, 1 FROM usage_rolls ${of} GROUP BY organisation_id, width, start`,
    ])
      await client.command({ query });
    expect(await groups(analytics.Group.TOOL)).toEqual(byTool);
    expect(await groups(analytics.Group.MODE)).toEqual([['mcp:tool_call', 3]]);
  });

  it('refuses a group it does not have', async () => {
    const request = create(analytics.ListGroupsRequestSchema, { filter: dayFilter() });
    await expect(handlers.listGroups(request, context)).rejects.toMatchObject({
      code: 'admin.validation',
    });
  });
});

function nonZero(points: Awaited<ReturnType<typeof graph>>['points']) {
  return points.filter(({ values }) => Object.values(values ?? {}).some((value) => value !== 0));
}
