import { slowHeaders } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab, type Trial } from './lab.ts';
import { openAiError, openAiReply } from './vendor-replies.ts';

let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab?.stop());

async function inTrial(work: (trial: Trial) => Promise<void>): Promise<void> {
  const trial = lab.trial();
  try {
    await work(trial);
  } finally {
    await trial.close();
  }
}

const hedge = (budget: number, delay = 100) => ({ hedge: { delay, budget_percentage: budget } });

describe('hedging', () => {
  it('takes the answer of a second call when the first is slow, and records both', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream(
        'slow once',
        slowHeaders(20_000, openAiReply),
        openAiReply,
      );
      const { answer, calls, records } = await trial.ask({
        config: upstream.target(hedge(100)),
        records: 2,
      });
      expect(answer.status).toBe(200);
      expect(answer.own('retry-attempt-count')).toBe('0');
      expect(answer.elapsedMs).toBeLessThan(15_000);
      expect(calls).toHaveLength(2);
      expect(records.map(({ outcome, code, costNanoUsd }) => [outcome, code, costNanoUsd])).toEqual(
        expect.arrayContaining([
          ['CALLER_GONE', 'request.superseded', null],
          ['SUCCESS', '', 450_000],
        ]),
      );
      expect(upstream.requests[0]?.aborted).toBe(true);
    }));

  it('makes no second call when the first answers in time', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream('quick', openAiReply);
      // A machine that is busy with others takes its time for a quick answer too.
      const { calls } = await trial.ask({ config: upstream.target(hedge(100, 2000)), records: 1 });
      expect(calls).toHaveLength(1);
    }));

  it('waits for the first call when the second fails', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream(
        'slow, then failing',
        slowHeaders(600, openAiReply),
        openAiError(503, 'overloaded'),
      );
      const { answer, calls } = await trial.ask({
        config: upstream.target(hedge(100)),
        records: 2,
      });
      expect(answer.status).toBe(200);
      expect(calls).toHaveLength(2);
    }));

  it('spends no more than its share of the requests and a burst of three', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstreamThat('slow', () => slowHeaders(400, openAiReply));
      const config = upstream.target(hedge(10));
      await Promise.all(Array.from({ length: 30 }, () => trial.ask({ config })));
      expect(upstream.requests.length).toBeGreaterThan(30);
      expect(upstream.requests.length).toBeLessThanOrEqual(30 + 3 + 3);
    }));
});
