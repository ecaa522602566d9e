import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createQuestions, type Questions, questionLimits } from '../src/queries/questions.ts';
import { type Ledger, openLedger } from './embedded-ledger.ts';
import { encodedRecord } from './usage-records.ts';

let ledger: Ledger;
beforeAll(async () => {
  ledger = await openLedger();
}, 60_000);
afterAll(() => ledger.close());

/** As long as the busy ones of a dashboard. */
const slow = { query: 'SELECT sleep(0.5) AS slept', format: 'JSONEachRow' } as const;
/** More than may wait. One that waits behind all of them does so for a minute. */
const many = 240;

const anyone = () => new AbortController().signal;

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
      .one(caller.signal)
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
}, 30_000);

it('asks nothing that nobody waits for any more', async () => {
  const answers = await whileAsked(ledger.questions, () => delay(200));
  const gone = answers.filter((each) => each instanceof Error && each.name === 'AbortError');
  expect(gone.length).toBeGreaterThan(questionLimits.waitingMax / 2);
  expect(await secondsOf(ledger.questions.one(anyone()).query(slow))).toBeLessThan(3);
}, 30_000);

it('refuses what too many wait before, and what does not come to its turn in time', async () => {
  const questions = createQuestions(ledger.client, { atOnce: 2, waitingMax: 20, waitMs: 1500 });
  const codes = await Promise.all(
    Array.from({ length: 30 }, async () => {
      const fromMs = performance.now();
      const code = await questions
        .one(anyone())
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
}, 30_000);

it('ends a question that has begun before it begins another', async () => {
  const questions = createQuestions(ledger.client, { atOnce: 1, waitingMax: 20, waitMs: 10_000 });
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
}, 30_000);

it('takes no longer than one question may, and says so, whatever it is asked', async () => {
  const reader = ledger.questions.one(anyone());
  const asked = reader.query({ query: 'SELECT sleep(2) SETTINGS max_execution_time = 1' });
  await expect(asked).rejects.toMatchObject({ code: 'admin.analytics_too_large', status: 400 });
});
