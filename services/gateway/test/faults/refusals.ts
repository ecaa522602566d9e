import { expect } from 'vitest';
import type { Trial } from '../lab.ts';
import { chatBody, chatReply } from '../scenario.ts';
import { anthropicError, openAiError, openAiErrorBody, openAiReply } from '../vendor-replies.ts';
import { answered, type Fault, fallback, refused } from './fault.ts';

/** Requests that an upstream will never answer: asking the same model again cannot help. */
export const refusals: readonly Fault[] = [
  {
    name: 'context too long',
    async run(trial) {
      await isFinal(trial, 'context_length_exceeded');

      // Anthropic has no code for it: only its words tell.
      const tooLong = 'prompt is too long: 200001 tokens > 200000 maximum';
      const first = await trial.upstream(
        'first',
        anthropicError(400, 'invalid_request_error', tooLong),
      );
      const { answer, calls, records } = await trial.ask({
        label: 'anthropic',
        config: first.target({
          provider: 'anthropic',
          retry: { attempts: 2, on_status_codes: [400] },
        }),
        path: '/v1/messages',
        body: { ...chatBody, model: 'claude-sonnet-4-5', max_tokens: 10 },
        records: 1,
      });
      expect(answer.status).toBe(400);
      expect(answer.json).toMatchObject({ error: { message: tooLong } });
      expect(calls).toEqual(['first']);
      expect(records).toEqual([refused('config', 400)]);
    },
  },
  {
    name: 'content filter',
    async run(trial) {
      await isFinal(trial, 'content_filter');

      const first = await trial.upstream('first', openAiError(400, 'content_filter'));
      const second = await trial.upstream('second', openAiReply);
      const alone = await trial.ask({
        label: 'that no other target is to be asked for',
        config: {
          ...fallback([first.target(), second.target()]),
          fallback_on_content_filter: false,
        },
        records: 1,
      });
      expect(alone.answer.status).toBe(400);
      expect(alone.answer.json).toEqual(openAiErrorBody('content_filter'));
      expect(alone.calls).toEqual(['first']);
      expect(alone.records).toEqual([refused('config.targets[0]', 400)]);
    },
  },
  {
    name: 'a fallback that rejects the request’s shape',
    async run(trial) {
      for (const status of [400, 422]) {
        const first = await trial.upstream('first', openAiError(503, 'overloaded'));
        const second = await trial.upstream('second', openAiError(status, 'unknown_parameter'));
        const { answer, calls, records } = await trial.ask({
          label: `with ${status}`,
          config: fallback([first.target(), second.target()]),
          records: 2,
        });
        expect(answer.status).toBe(status);
        expect(answer.json).toEqual(openAiErrorBody('unknown_parameter'));
        expect(answer.own('last-used-option-index')).toBe('config.targets[1]');
        expect(answer.own('retry-attempt-count')).toBe('0');
        expect(calls).toEqual(['first', 'second']);
        expect(records).toEqual([
          refused('config.targets[0]', 503),
          refused('config.targets[1]', status, { attempt: 1 }),
        ]);
      }
    },
  },
];

async function isFinal(trial: Trial, code: string): Promise<void> {
  const first = await trial.upstream('first', openAiError(400, code));
  const second = await trial.upstream('second', openAiReply);
  // Even a config that lists the status does not make the same model try again.
  const retry = { attempts: 2, on_status_codes: [400, 500] };

  const alone = await trial.ask({ config: first.target({ retry }), records: 1 });
  expect(alone.answer.status).toBe(400);
  expect(alone.answer.json).toEqual(openAiErrorBody(code));
  expect(alone.answer.own('retry-attempt-count')).toBe('0');
  expect(alone.calls).toEqual(['first']);
  expect(alone.records).toEqual([refused('config', 400)]);

  const helped = await trial.ask({
    label: 'with a second target',
    config: fallback([first.target({ retry }), second.target()]),
    records: 2,
  });
  expect(helped.answer.status).toBe(200);
  expect(helped.answer.json).toEqual(chatReply);
  expect(helped.answer.own('last-used-option-index')).toBe('config.targets[1]');
  expect(helped.calls).toEqual(['first', 'second']);
  expect(helped.records).toEqual([
    refused('config.targets[0]', 400),
    answered('config.targets[1]', { attempt: 1 }),
  ]);
}
