import type { Dispatcher } from 'undici';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { AnsweredLines } from './answered-lines.ts';
import type { AnsweredLine } from './part-store.ts';
import { runLines } from './run-lines.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Gateways that say this of every call until so many were made; undefined = nobody answers. */
function gateways(until: number, says: object | undefined) {
  const seen = { calls: 0 };
  const dispatch = (_options: unknown, handler: Dispatcher.DispatchHandler) => {
    seen.calls += 1;
    const controller = { abort: () => {} } as never;
    handler.onRequestStart?.(controller, {});
    const isThere = seen.calls > until;
    if (!isThere && says === undefined) {
      handler.onResponseError?.(controller, new Error('refused'));
      return true;
    }
    handler.onResponseStart?.(controller, isThere ? 200 : 503, {}, '');
    handler.onResponseData?.(controller, Buffer.from(JSON.stringify(isThere ? {} : says)));
    handler.onResponseEnd?.(controller, {});
    return true;
  };
  return { seen, pool: { dispatch } as unknown as Dispatcher };
}

/** The one line of a batch; its answer. */
async function run(pool: Dispatcher): Promise<AnsweredLine | undefined> {
  const answers: AnsweredLine[] = [];
  const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body: {} };
  const never = new AbortController().signal;
  const running = runLines(
    (async function* () {
      yield Buffer.from(`${JSON.stringify(line)}\n`);
    })(),
    {
      batchId: '01890000-0000-7000-8000-000000000000',
      endpoint: '/v1/chat/completions',
      lineBytesMax: 1_000,
      atOnce: 8,
      retriesMax: 2,
      headers: {},
      endsAtMs: Date.now() + 24 * 3_600_000,
    },
    {
      caller: { pool, timeoutMs: 1_000, answerBytesMax: 1_000 },
      answers: {
        add: async (_line: number, answer: AnsweredLine) => void answers.push(answer),
        settled: async () => {},
      } as never,
      answered: new AnsweredLines(),
      total: 1,
      pace: undefined,
      token: () => 'token',
      mayBegin: () => true,
      signals: { cut: never, leave: never },
    },
  );
  await vi.advanceTimersByTimeAsync(12 * 3_600_000);
  expect(await running).toBe('done');
  return answers[0];
}

it('a line waits for a gateway that says that it cannot know, however often it does', async () => {
  const unknown = { error: { code: 'gateway.bundle_unavailable', message: 'Not known here.' } };
  const { seen, pool } = gateways(60, unknown);
  expect(await run(pool)).toMatchObject({ isError: false });
  expect(seen.calls).toBe(61);
});

it('a line that nobody answered twenty times is given up', async () => {
  const { seen, pool } = gateways(60, undefined);
  const answer = await run(pool);
  expect(answer).toMatchObject({ isError: true });
  expect(answer?.text).toContain('batch.unanswered');
  expect(seen.calls).toBe(21);
});
