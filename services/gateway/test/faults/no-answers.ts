import { eventually, hang, reset, sse } from '@sluice/testkit';
import { expect } from 'vitest';
import { chatBody } from '../scenario.ts';
import { openAiEvents, openAiReply } from '../vendor-replies.ts';
import { answered, type Fault, fallback, record } from './fault.ts';

/** Upstreams that give no answer, or none in time. */
export const noAnswers: readonly Fault[] = [
  {
    name: 'TCP reset',
    async run(trial) {
      const first = await trial.upstream('first', reset());
      const second = await trial.upstream('second', openAiReply);
      // A call without an answer is retried whatever the codes say.
      const retry = { attempts: 1, on_status_codes: [418] };
      const failed = (path: string, attempt: number, retries: number) =>
        record(path, 'UPSTREAM_FAILURE', 502, 'upstream.reset', {
          ...{ attempt, retries, costNanoUsd: 0 },
        });

      const alone = await trial.ask({ config: first.target({ retry }), records: 2 });
      expect(alone.answer.status).toBe(502);
      expect(alone.answer.json).toMatchObject({ error: { code: 'upstream.reset' } });
      expect(alone.answer.own('retry-attempt-count')).toBe('-1');
      expect(alone.calls).toEqual(['first', 'first']);
      expect(alone.records).toEqual([failed('config', 0, 0), failed('config', 1, 1)]);

      const helped = await trial.ask({
        label: 'with a second target',
        config: fallback([first.target(), second.target()]),
        records: 2,
      });
      expect(helped.answer.status).toBe(200);
      expect(helped.answer.own('last-used-option-index')).toBe('config.targets[1]');
      expect(helped.calls).toEqual(['first', 'second']);
      expect(helped.records).toEqual([
        failed('config.targets[0]', 0, 0),
        answered('config.targets[1]', { attempt: 1 }),
      ]);
    },
  },
  {
    name: 'no answer',
    async run(trial) {
      const first = await trial.upstream('first', hang());
      const second = await trial.upstream('second', openAiReply);
      const silent = { request_timeout: 300 };
      const failed = (path: string) => record(path, 'UPSTREAM_FAILURE', 408, 'upstream.timeout');

      // 408 is not among the codes that are retried by default.
      const alone = await trial.ask({
        config: first.target({ ...silent, retry: { attempts: 2 } }),
        records: 1,
      });
      expect(alone.answer.status).toBe(408);
      expect(alone.answer.json).toMatchObject({
        error: { type: 'timeout_error', message: expect.stringContaining('300 ms') },
      });
      expect(alone.answer.own('retry-attempt-count')).toBe('0');
      expect(alone.answer.elapsedMs).toBeLessThan(2500);
      expect(alone.calls).toEqual(['first']);
      expect(alone.records).toEqual([failed('config')]);
      await eventually(() => first.requests[0]?.aborted === true);

      const helped = await trial.ask({
        label: 'with a second target',
        config: fallback([first.target(silent), second.target()]),
        records: 2,
      });
      expect(helped.answer.status).toBe(200);
      expect(helped.answer.own('last-used-option-index')).toBe('config.targets[1]');
      expect(helped.calls).toEqual(['first', 'second']);
      expect(helped.records).toEqual([
        failed('config.targets[0]'),
        answered('config.targets[1]', { attempt: 1 }),
      ]);
    },
  },
  {
    name: 'slow first token',
    async run(trial) {
      // The head and the role come at once, the first word after 2.5 s.
      const [role, ...rest] = openAiEvents('late');
      const slow = sse([role, rest.join('')], { delayMs: 2500 });
      const first = await trial.upstream('first', slow);
      const second = await trial.upstream('second', sse(openAiEvents('prompt')));
      const body = { ...chatBody, stream: true, stream_options: { include_usage: true } };

      const helped = await trial.ask({
        label: 'first byte due in 400 ms',
        config: fallback([first.target({ first_byte_timeout: 400 }), second.target()]),
        body,
        records: 2,
      });
      expect(helped.answer.status).toBe(200);
      expect(helped.answer.text).toBe(openAiEvents('prompt').join(''));
      expect(helped.answer.own('last-used-option-index')).toBe('config.targets[1]');
      expect(helped.answer.elapsedMs).toBeLessThan(2500);
      expect(helped.calls).toEqual(['first', 'second']);
      expect(helped.records).toEqual([
        record('config.targets[0]', 'UPSTREAM_FAILURE', 408, 'upstream.timeout'),
        answered('config.targets[1]', { attempt: 1 }),
      ]);
      await eventually(() => first.requests[0]?.aborted === true);

      // The request timeout is about the head, which was in time.
      const waited = await trial.ask({
        label: 'only the head due in 400 ms',
        config: first.target({ request_timeout: 400 }),
        body,
        records: 1,
      });
      expect(waited.answer.status).toBe(200);
      expect(waited.answer.text).toBe(openAiEvents('late').join(''));
      expect(waited.calls).toEqual(['first']);
      expect(waited.records).toEqual([answered('config')]);
    },
  },
];
