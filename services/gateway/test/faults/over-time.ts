import { json } from '@sluice/testkit';
import { expect } from 'vitest';
import { chatReply } from '../scenario.ts';
import { openAiError, openAiErrorBody, openAiReply } from '../vendor-replies.ts';
import { answered, type Fault, fallback, refused } from './fault.ts';

/** Faults that show over several calls. */
export const overTime: readonly Fault[] = [
  {
    name: 'a flapping upstream',
    async run(trial, lab) {
      let calls = 0;
      const flapping = await trial.upstreamThat('flapping', () => {
        calls += 1;
        return calls % 2 === 1 ? openAiError(503, 'overloaded') : openAiReply;
      });
      const steady = await trial.upstream('steady', openAiReply);
      const slug = await lab.saveConfig(
        fallback([flapping.target({ retry: { attempts: 1 } }), steady.target()], {
          cb_config: { failure_threshold: 2, cooldown_interval: 60_000 },
        }),
      );
      for (const label of ['first', 'second', 'third']) {
        const { answer, calls, records } = await trial.ask({ label, config: slug, records: 2 });
        expect(answer.status).toBe(200);
        expect(answer.own('retry-attempt-count')).toBe('1');
        expect(answer.own('last-used-option-index')).toBe('config.targets[0]');
        expect(calls).toEqual(['flapping', 'flapping']);
        expect(records).toEqual([
          refused('config.targets[0]', 503),
          answered('config.targets[0]', { attempt: 1, retries: 1 }),
        ]);
      }
      // Three failures are more than two: the circuit is open, and the retries that succeeded do not close it.
      const spared = await trial.ask({ label: 'fourth, circuit open', config: slug, records: 1 });
      expect(spared.answer.status).toBe(200);
      expect(spared.answer.own('retry-attempt-count')).toBe('0');
      expect(spared.answer.own('last-used-option-index')).toBe('config.targets[1]');
      expect(spared.calls).toEqual(['steady']);
      expect(spared.records).toEqual([answered('config.targets[1]')]);
    },
  },
  {
    name: 'accounting after failover',
    async run(trial) {
      // An error that reports tokens, as some vendors’ do: it is not what was delivered.
      const first = await trial.upstream(
        'first',
        json(503, { ...openAiErrorBody('overloaded'), usage: chatReply.usage }),
      );
      const second = await trial.upstream('second', openAiError(429, 'rate_limit_exceeded'));
      const third = await trial.upstream('third', openAiReply);
      const { answer, calls, records, rawRecords } = await trial.ask({
        config: fallback([
          first.target({ retry: { attempts: 1 } }),
          second.target({ override_params: { model: 'gpt-4o' } }),
          third.target(),
        ]),
        records: 4,
      });
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual(chatReply);
      expect(answer.own('last-used-option-index')).toBe('config.targets[2]');
      expect(calls).toEqual(['first', 'first', 'second', 'third']);
      expect(records).toEqual([
        refused('config.targets[0]', 503),
        refused('config.targets[0]', 503, { attempt: 1, retries: 1 }),
        refused('config.targets[1]', 429, { attempt: 2 }),
        answered('config.targets[2]', { attempt: 3 }),
      ]);
      expect(rawRecords.map(({ model }) => model)).toEqual([
        'gpt-4o-mini',
        'gpt-4o-mini',
        'gpt-4o',
        'gpt-4o-mini',
      ]);
      // One request, one id for all of its records, and a number of its own for each.
      const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
      expect(new Set(rawRecords.map(({ requestId }) => hex(requestId))).size).toBe(1);
      expect(new Set(rawRecords.map(({ id }) => hex(id))).size).toBe(4);
      expect(new Set(rawRecords.map(({ sequence }) => sequence)).size).toBe(4);
      expect(new Set(rawRecords.map(({ strategyMode }) => strategyMode))).toEqual(
        new Set(['fallback']),
      );
    },
  },
];
