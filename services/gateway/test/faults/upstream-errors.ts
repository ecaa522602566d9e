import { expect } from 'vitest';
import { chatReply } from '../scenario.ts';
import { openAiError, openAiErrorBody, openAiReply } from '../vendor-replies.ts';
import { answered, type Fault, fallback, refused } from './fault.ts';

/** Upstreams that answer, with an error status. */
export const upstreamErrors: readonly Fault[] = [
  {
    name: '429 with Retry-After',
    async run(trial) {
      const first = await trial.upstream(
        'first',
        openAiError(429, 'rate_limit_exceeded', { 'retry-after': '2' }),
        openAiReply,
      );
      const { answer, calls, records } = await trial.ask({
        config: first.target({ retry: { attempts: 2, use_retry_after_headers: true } }),
        records: 2,
      });
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual(chatReply);
      expect(answer.own('retry-attempt-count')).toBe('1');
      expect(answer.own('last-used-option-index')).toBe('config');
      // Without the hint the first retry would come after 1 s.
      expect(answer.elapsedMs).toBeGreaterThanOrEqual(1990);
      expect(calls).toEqual(['first', 'first']);
      expect(records).toEqual([
        refused('config', 429),
        answered('config', { attempt: 1, retries: 1 }),
      ]);
    },
  },
  {
    name: 'lasting 429',
    async run(trial) {
      const busy = openAiError(429, 'rate_limit_exceeded', { 'retry-after': '61' });
      const first = await trial.upstream('first', busy);
      const second = await trial.upstream('second', openAiReply);
      const retry = { attempts: 1 };

      const alone = await trial.ask({ config: first.target({ retry }), records: 2 });
      expect(alone.answer.status).toBe(429);
      expect(alone.answer.json).toEqual(openAiErrorBody('rate_limit_exceeded'));
      expect(alone.answer.headers.get('retry-after')).toBe('61');
      expect(alone.answer.own('retry-attempt-count')).toBe('-1');
      expect(alone.answer.own('provider')).toBe('openai');
      expect(alone.calls).toEqual(['first', 'first']);
      expect(alone.records).toEqual([
        refused('config', 429),
        refused('config', 429, { attempt: 1, retries: 1 }),
      ]);

      const helped = await trial.ask({
        label: 'with a second target',
        config: fallback([first.target({ retry }), second.target()], { on_status_codes: [429] }),
        records: 3,
      });
      expect(helped.answer.status).toBe(200);
      expect(helped.answer.own('retry-attempt-count')).toBe('0');
      expect(helped.answer.own('last-used-option-index')).toBe('config.targets[1]');
      expect(helped.calls).toEqual(['first', 'first', 'second']);
      expect(helped.records).toEqual([
        refused('config.targets[0]', 429),
        refused('config.targets[0]', 429, { attempt: 1, retries: 1 }),
        answered('config.targets[1]', { attempt: 2 }),
      ]);
    },
  },
  {
    name: 'one 500',
    async run(trial) {
      const first = await trial.upstream('first', openAiError(500, 'server_error'), openAiReply);
      const { answer, calls, records } = await trial.ask({
        config: first.target({ retry: { attempts: 3 } }),
        records: 2,
      });
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual(chatReply);
      expect(answer.own('retry-attempt-count')).toBe('1');
      expect(answer.elapsedMs).toBeGreaterThanOrEqual(990);
      expect(calls).toEqual(['first', 'first']);
      expect(records).toEqual([
        refused('config', 500),
        answered('config', { attempt: 1, retries: 1 }),
      ]);
    },
  },
  {
    name: 'lasting 503',
    async run(trial) {
      const down = openAiError(503, 'overloaded');
      const first = await trial.upstream('first', down);
      const second = await trial.upstream('second', openAiReply);
      const third = await trial.upstream('third', down);

      const helped = await trial.ask({
        label: 'second target up',
        config: fallback([first.target({ retry: { attempts: 1 } }), second.target()]),
        records: 3,
      });
      expect(helped.answer.status).toBe(200);
      expect(helped.answer.json).toEqual(chatReply);
      expect(helped.answer.own('last-used-option-index')).toBe('config.targets[1]');
      expect(helped.answer.own('retry-attempt-count')).toBe('0');
      expect(helped.calls).toEqual(['first', 'first', 'second']);
      expect(helped.records).toEqual([
        refused('config.targets[0]', 503),
        refused('config.targets[0]', 503, { attempt: 1, retries: 1 }),
        answered('config.targets[1]', { attempt: 2 }),
      ]);

      const lost = await trial.ask({
        label: 'all down',
        config: fallback([first.target(), third.target()]),
        records: 2,
      });
      expect(lost.answer.status).toBe(503);
      expect(lost.answer.json).toEqual(openAiErrorBody('overloaded'));
      expect(lost.answer.own('last-used-option-index')).toBe('config.targets[1]');
      expect(lost.answer.own('retry-attempt-count')).toBe('0');
      expect(lost.calls).toEqual(['first', 'third']);
      expect(lost.records).toEqual([
        refused('config.targets[0]', 503),
        refused('config.targets[1]', 503, { attempt: 1 }),
      ]);
    },
  },
];
