import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Asked, type Lab, startLab, type Trial } from '../lab.ts';
import { openAiError, openAiReply } from '../vendor-replies.ts';

/** One request makes a bounded number of calls, whatever its config says. */
const attemptsMax = 8;
const routingTimeoutMs = 1500;
let lab: Lab;
beforeAll(async () => {
  lab = await startLab({
    environment: {
      gateway: {
        ATTEMPTS_PER_REQUEST_MAX: String(attemptsMax),
        ROUTING_TIMEOUT: String(routingTimeoutMs),
      },
    },
  });
});
afterAll(() => lab?.stop());

async function inTrial<T>(work: (trial: Trial) => Promise<T>): Promise<T> {
  const trial = lab.trial();
  try {
    return await work(trial);
  } finally {
    await trial.close();
  }
}

const down = openAiError(503, 'overloaded');
const copies = (count: number, target: object) => Array.from({ length: count }, () => target);
const fallback = (targets: object[], over: object = {}) => ({
  strategy: { mode: 'fallback' },
  targets,
  ...over,
});
const stoppedIn = ({ rawRecords }: Asked) =>
  rawRecords.flatMap(({ decisionJson }) => JSON.parse(decisionJson).stopped ?? []);

describe('one request', () => {
  it('of a thousand targets is refused before any call', () =>
    inTrial(async (trial) => {
      const { port } = await trial.upstream('down', down);
      const short = { provider: 'ollama', custom_host: `http://127.0.0.1:${port}` };
      for (const mode of ['fallback', 'loadbalance']) {
        const { answer, calls } = await trial.ask({
          config: { strategy: { mode }, targets: copies(101, short) },
        });
        expect([answer.status, calls.length]).toEqual([400, 0]);
        expect(answer.text).toContain('more than 100 targets');
      }
    }));

  it.each([
    ['a hundred targets', (target: object) => fallback(copies(100, target))],
    ['nested targets', (target: object) => fallback(copies(20, fallback(copies(50, target))))],
  ])('of %s calls as often as the setting says, and tells why no more', (_, document) =>
    inTrial(async (trial) => {
      const { port } = await trial.upstream('down', down);
      const target = { provider: 'ollama', custom_host: `http://127.0.0.1:${port}` };
      const asked = await trial.ask({ config: document(target), records: attemptsMax + 1 });
      expect(asked.calls).toHaveLength(attemptsMax);
      expect([asked.answer.status, asked.answer.own('routing-stopped')]).toEqual([503, 'attempts']);
      expect(asked.records.at(-1)).toMatchObject({ code: 'gateway.attempts_spent' });
      expect(stoppedIn(asked)).toEqual([{ by: 'attempts', tries: attemptsMax }]);
    }),
  );

  it('counts refused targets, each of which leaves a record, and unanswered calls', () =>
    inTrial(async (trial) => {
      const refused = { provider: '@nobody' };
      const asked = await trial.ask({
        config: fallback(copies(100, refused)),
        records: attemptsMax + 1,
      });
      expect(asked.calls).toHaveLength(0);
      expect(asked.answer.own('routing-stopped')).toBe('attempts');
      const dead = { provider: 'ollama', custom_host: 'http://127.0.0.1:1' };
      const unanswered = await trial.ask({ config: fallback(copies(100, dead)) });
      expect(unanswered.answer.own('routing-stopped')).toBe('attempts');
    }));

  it('makes no second calls of hedging beyond its number', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream('down', down);
      const hedged = upstream.target({ hedge: { delay: 0, budget_percentage: 100 } });
      const { calls } = await trial.ask({ config: fallback(copies(50, hedged)) });
      expect(calls.length).toBeLessThanOrEqual(attemptsMax);
    }));

  it('does not wait for a retry that would come after its time', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream('down', down);
      const { answer, calls } = await trial.ask({
        config: fallback(copies(4, upstream.target({ retry: { attempts: 5 } }))),
      });
      expect([answer.status, answer.own('routing-stopped')]).toEqual([503, 'time']);
      expect(answer.elapsedMs).toBeLessThan(routingTimeoutMs + 1000);
      // One retry fits; for the other targets there is time to ask, and none to wait.
      expect(calls.length).toBeLessThanOrEqual(5);
    }));

  it('that ends before its bounds says nothing of them', () =>
    inTrial(async (trial) => {
      const first = await trial.upstream('first', down);
      const second = await trial.upstream('second', openAiReply);
      const { answer } = await trial.ask({
        config: fallback([...copies(attemptsMax - 1, first.target()), second.target()]),
      });
      expect([answer.status, answer.own('routing-stopped')]).toEqual([200, null]);
    }));

  it('is explained with its bounds, and with the calls that it could make', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream('down', down);
      const { answer } = await trial.ask({
        path: '/v1/explain',
        config: fallback(copies(10, upstream.target({ retry: { attempts: 2 } }))),
      });
      expect(answer.json).toMatchObject({
        attempts: { max: attemptsMax, planned: 30, routing_timeout_ms: routingTimeoutMs },
      });
    }));
});
