import { json } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab, type Trial } from '../lab.ts';
import { chatBody } from '../scenario.ts';
import { openAiEvents, openAiReply, stream } from '../vendor-replies.ts';

/** What one config lets through and keeps must not pass the checks of another. */
let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
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

const cache = { mode: 'simple' };
/** The answer of the upstream says "Hi there". */
const denying = [{ 'default.contains': { words: ['Hi there'], operator: 'none' }, deny: true }];
const checked = { cache, output_guardrails: denying };
const bodySaying = (content: string, over: object = {}) => ({
  ...chatBody,
  messages: [{ role: 'user', content }],
  ...over,
});

describe('a kept answer', () => {
  it('of a config without output checks is not served by one with them', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream('first', openAiReply);
      const body = bodySaying('unchecked');
      const unchecked = await lab.saveConfig(upstream.target({ cache }));
      const guarded = await lab.saveConfig(upstream.target(checked));
      expect((await trial.ask({ config: unchecked, body })).answer.status).toBe(200);
      const { answer } = await trial.ask({ config: guarded, body });
      expect([answer.status, answer.own('cache-status')]).toEqual([446, 'MISS']);
    }));

  it('that passed other checks is not served, and one that passed the same is', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream('first', openAiReply);
      const body = bodySaying('otherwise checked');
      const lenient = [{ 'default.contains': { words: ['Bye'], operator: 'none' }, deny: true }];
      const asked = (output_guardrails: object[]) =>
        trial.ask({ config: upstream.target({ cache, output_guardrails }), body });
      expect((await asked(lenient)).answer.own('cache-status')).toBe('MISS');
      expect((await asked(denying)).answer.status).toBe(446);
      expect((await asked(lenient)).answer.own('cache-status')).toBe('HIT');
      expect(upstream.requests).toHaveLength(2);
    }));

  it('does not come from a stream, whose checks can refuse nothing', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream(
        'first',
        stream(openAiEvents('Hi ', 'there')),
        openAiReply,
      );
      const config = await lab.saveConfig(upstream.target(checked));
      const streamed = await trial.ask({
        config,
        body: bodySaying('streamed', { stream: true }),
      });
      expect(streamed.answer.status).toBe(200);
      const { answer } = await trial.ask({ config, body: bodySaying('streamed') });
      expect([answer.status, answer.own('cache-status')]).toEqual([446, 'MISS']);
    }));

  it('of a caller’s own host is not served to those who ask the admin’s', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream('first', openAiReply);
      const hostile = await trial.upstream('of the caller', json(200, { choices: [] }));
      const body = bodySaying('poisoned host');
      const config = await lab.saveConfig(upstream.target({ cache }));
      const headers = { 'x-service-cache-namespace': 'shared' };
      await trial.ask({
        config,
        body,
        headers: { ...headers, 'x-service-custom-host': `${hostile.url}/v1` },
      });
      const { answer } = await trial.ask({ config, body, headers });
      expect(answer.own('cache-status')).toBe('MISS');
      expect(upstream.requests).toHaveLength(1);
    }));

  it('that a caller’s own headers made is not served to a namespace without them', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream('first', openAiReply);
      const body = bodySaying('poisoned headers');
      const config = await lab.saveConfig(upstream.target({ cache }));
      const headers = { 'x-service-cache-namespace': 'shared' };
      await trial.ask({
        config,
        body,
        headers: {
          ...headers,
          'x-service-forward-headers': 'x-persona',
          'x-persona': 'pirate',
        },
      });
      const { answer } = await trial.ask({ config, body, headers });
      expect(answer.own('cache-status')).toBe('MISS');
      expect((await trial.ask({ config, body, headers })).answer.own('cache-status')).toBe('HIT');
    }));

  it('is neither made nor served where the provider may have read another question', () =>
    inTrial(async (trial) => {
      const upstream = await trial.upstream('first', openAiReply);
      const config = await lab.saveConfig(upstream.target({ cache }));
      const asked = async (rawBody: string) =>
        (await trial.ask({ config, rawBody })).answer.own('cache-status');
      const plain = JSON.stringify(bodySaying('read in one way', { seed: 7 }));
      const twice = plain.replace('"messages"', '"messages":[],"messages"');
      const [one, other] = ['9007199254740992', '9007199254740993'].map((seed) =>
        plain.replace('"seed":7', `"seed":${seed}`),
      ) as [string, string];
      expect([await asked(twice), await asked(plain), await asked(twice)]).toEqual([
        'DISABLED',
        'MISS',
        'DISABLED',
      ]);
      expect([await asked(one), await asked(other)]).toEqual(['DISABLED', 'DISABLED']);
      expect(await asked(plain)).toBe('HIT');
    }));
});
