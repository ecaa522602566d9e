import { setTimeout as delay } from 'node:timers/promises';
import { create, fromBinary } from '@bufbuild/protobuf';
import { analytics, usage } from '@sluice/proto-stubs';
import { uuidText } from '@sluice/usage';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createQuestions,
  type Questions,
  questionLimits,
  type Reader,
} from '../src/queries/questions.ts';
import { analyticsHandlers } from '../src/rpc/analytics.ts';
import { ledgerHandlers } from '../src/rpc/ledger.ts';
import { logHandlers } from '../src/rpc/logs.ts';
import { ownerHandlers, usageHandlers } from '../src/rpc/usage.ts';
import { type Ledger, openLedger } from './embedded-ledger.ts';
import { dayFilter, encodedRecord } from './usage-records.ts';

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedger();
});
afterAll(() => ledger.close());

/** As long as the busy ones of a dashboard. */
const slow = { query: 'SELECT sleep(0.5) AS slept', format: 'JSONEachRow' } as const;
/** More than may wait. One that waits behind all of them does so for a minute. */
const many = 240;

const anyone = (waitsMs?: number) => ({
  signal: new AbortController().signal,
  deadlineMs: waitsMs && Date.now() + waitsMs,
});

async function secondsOf(work: Promise<unknown>): Promise<number> {
  const fromMs = performance.now();
  await work;
  return (performance.now() - fromMs) / 1000;
}

/** Asks so many, of which nobody waits for any when the work is done. */
async function whileAsked(questions: Questions, work: () => Promise<void>): Promise<unknown[]> {
  const caller = new AbortController();
  const asked = Array.from({ length: many }, () =>
    questions
      .one({ signal: caller.signal, deadlineMs: Date.now() + 10_000 })
      .query(slow)
      .catch((error: unknown) => error),
  );
  try {
    await work();
  } finally {
    caller.abort();
  }
  return Promise.all(asked);
}

it('lets nothing that is stored, no job and no ping wait behind questions', async () => {
  await whileAsked(ledger.questions, async () => {
    const took = await Promise.all([
      secondsOf(ledger.sink.write([encodedRecord()])),
      secondsOf(ledger.intake.ping()),
      secondsOf(ledger.client.query({ query: 'SELECT 1' })),
    ]);
    for (const seconds of took) expect(seconds).toBeLessThan(3);
  });
});

it('asks nothing that nobody waits for any more', async () => {
  const answers = await whileAsked(ledger.questions, () => delay(200));
  const gone = answers.filter((each) => each instanceof Error && each.name === 'AbortError');
  expect(gone.length).toBeGreaterThan(questionLimits.waitingMax / 2);
  expect(await secondsOf(ledger.questions.one(anyone()).query(slow))).toBeLessThan(3);
});

it('refuses what too many wait before, and what does not come to its turn in time', async () => {
  const questions = createQuestions(ledger.client, { atOnce: 2, waitingMax: 20 });
  const codes = await Promise.all(
    Array.from({ length: 30 }, async () => {
      const fromMs = performance.now();
      const code = await questions
        .one(anyone(3000))
        .query(slow)
        .then(() => 'answered')
        .catch((error: { code: string }) => error.code);
      return { code, isAtOnce: performance.now() - fromMs < 400 };
    }),
  );
  const refused = codes.filter(({ code }) => code === 'admin.analytics_busy');
  expect(refused.filter(({ isAtOnce }) => isAtOnce)).toHaveLength(8);
  expect(refused.length).toBeGreaterThan(12);
  expect(codes.filter(({ code }) => code === 'answered').length).toBe(30 - refused.length);
  expect(refused.length).toBeLessThan(30);
});

it('ends a question that has begun before it begins another', async () => {
  const questions = createQuestions(ledger.client, { atOnce: 1, waitingMax: 20 });
  const order: string[] = [];
  const ask = async (name: string) => {
    const reader = questions.one(anyone());
    for (const part of [1, 2]) {
      await reader.query({ query: 'SELECT sleep(0.1)' });
      order.push(`${name}${part}`);
    }
  };
  await Promise.all(['a', 'b', 'c'].map(ask));
  expect(order.filter((each) => each.endsWith('2'))).toEqual(['a2', 'b2', 'c2']);
  expect(order.indexOf('a2')).toBeLessThan(order.indexOf('c1'));
});

describe('a question whose caller waits for so long', () => {
  const long = 'SELECT 1 FROM numbers(2000000) WHERE sleep(0.3) = 1';

  it.each([
    ['a statement without settings', long],
    ['one that would take longer', `${long} SETTINGS join_use_nulls = 0, max_execution_time = 20`],
    ['one with a text like settings', `${long} AND 'SETTINGS a = 1' != ''`],
  ])('ends before that, and says that it is too large: %s', async (_, query) => {
    const asked = () => ledger.questions.one(anyone(1500)).query({ query });
    const seconds = await secondsOf(
      expect(asked()).rejects.toMatchObject({ code: 'admin.analytics_too_large', status: 400 }),
    );
    expect(seconds).toBeLessThan(4);
  });

  it('has for all its statements what it has for one', async () => {
    const reader = ledger.questions.one(anyone(2500));
    const part = { query: 'SELECT sleepEachRow(0.1) FROM numbers(15) SETTINGS max_block_size = 1' };
    await reader.query(part);
    await expect(reader.query(part)).rejects.toMatchObject({ code: 'admin.analytics_too_large' });
  });

  it('is told to come again where it could not begin at once', async () => {
    const questions = createQuestions(ledger.client, { atOnce: 1, waitingMax: 20 });
    const first = questions.one(anyone()).query({
      query: 'SELECT sleepEachRow(0.1) FROM numbers(15) SETTINGS max_block_size = 1',
    });
    const asked = questions.one(anyone(4000)).query({ query: long });
    await expect(asked).rejects.toMatchObject({ code: 'admin.analytics_busy' });
    await first;
  });
});

it('has nothing in an answer of what failed after it had rows', async () => {
  const [told, failing] = [1, 2].map((number) => ({
    query: `SELECT number, throwIf(number = 5 AND ${number} = 2) FROM numbers(7) SETTINGS max_block_size = 1, max_threads = 1`,
    format: 'JSONEachRow' as const,
  }));
  // On every connection that there is.
  const all = Array.from({ length: 8 }, () => [failing, told]).flat() as [typeof slow];
  const answers = await Promise.all(
    all.map(async (params) => {
      const result = await ledger.questions
        .one(anyone())
        .query(params)
        .catch(() => undefined);
      return result?.text();
    }),
  );
  const rows = answers.flatMap((answer) => answer?.trim().split('\n').length ?? []);
  expect(rows).toEqual(Array(8).fill(7));
});

it('asks nothing for longer than its caller waits, whatever is asked', async () => {
  const statements: string[] = [];
  const client = {
    query(params: Parameters<Reader['query']>[0]) {
      statements.push(params.query);
      return ledger.client.query(params);
    },
  } as Reader;
  const questions = createQuestions(client, { ...questionLimits, atOnce: 2 });
  const { sink } = ledger;
  const keeper = { keep() {}, idle: async () => {} };
  const parts = { questions, sink, keeper, nowMs: Date.now, gapGraceMs: 0 };
  const services = [
    [analytics.AnalyticsService, analyticsHandlers({ questions, client })],
    [analytics.LedgerService, ledgerHandlers(parts)],
    [analytics.LogService, logHandlers(questions)],
    [usage.OwnerService, ownerHandlers(client)],
    [usage.UsageService, usageHandlers(sink, client)],
  ] as const;
  const record = encodedRecord();
  await sink.write([record]);
  const { id, requestId } = fromBinary(usage.UsageRecordSchema, record);
  const filter = dayFilter();
  const { organisationId, fromMs, toMs } = filter;
  const period = { organisationId, fromMs, toMs };
  /** What makes a question of a method; those that are not here take none, or ask nothing. */
  const asked: Record<string, object> = {
    getGraph: { graph: analytics.Graph.USERS, filter },
    getSummary: { summary: analytics.Summary.CACHE, filter },
    listGroups: { group: analytics.Group.MODEL, columns: [], filter, pageSize: 10 },
    sumCounters: { organisationId, counters: ['any'], fromMs },
    listLogs: { filter },
    getLog: { organisationId, id: uuidText(id) },
    listAttempts: { organisationId, requestId: uuidText(requestId) },
    listPastRequests: { ...period, requestsMax: 10 },
    listGaps: { pageSize: 10 },
    listAdjustments: { organisationId, pageSize: 10 },
    listRejects: { pageSize: 10 },
    listSeals: { organisationId, pageSize: 10 },
    listModelDays: { organisationId, provider: 'openai', from: '2026-03-10', to: '2026-03-11' },
    listCharges: period,
    verifySeals: { organisationId },
    replayRejects: { all: true },
    findOwners: { objects: [{ organisationId, objectKey: 'any' }] },
  };
  const silent = new Set(['keep', 'writeUsage']);
  for (const [service, handlers] of services)
    for (const method of service.methods) {
      statements.length = 0;
      const request = create(method.input, asked[method.localName] as never);
      const handler = (handlers as unknown as Record<string, Handler>)[method.localName];
      const answer = silent.has(method.localName) ? undefined : handler?.(request, anyone(7000));
      if (method.methodKind === 'unary') await answer;
      else for await (const _ of answer as AsyncIterable<unknown>);
      const limits = statements.map((each) => /max_execution_time = ([\d.]+)$/.exec(each)?.[1]);
      const why = `${method.localName}: ${statements.join('\n')}`;
      expect(statements.length > 0, why).toBe(answer !== undefined);
      for (const limit of limits) expect(Number(limit), why).toBeLessThan(7);
    }
});

type Handler = (
  request: object,
  caller: ReturnType<typeof anyone>,
) => Promise<object> | AsyncIterable<object>;
