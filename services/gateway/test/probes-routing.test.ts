import { setTimeout as delay } from 'node:timers/promises';
import { isLongForm, slowHeaders } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { type Lab, startLab } from './lab.ts';
import { probesOf } from './probe.ts';
import { chatBody } from './scenario.ts';
import { googleBusyFor, openAiError, openAiReply } from './vendor-replies.ts';

/** Which target is asked, how often, and with which parameters. */
let lab: Lab;
beforeAll(async () => {
  lab = await startLab();
});
afterAll(() => lab.stop());
const probe = probesOf(() => lab);

const down = openAiError(503, 'overloaded');
const broken = openAiError(500, 'server_error');
const busyFor = (seconds: number) =>
  openAiError(429, 'rate_limit_exceeded', { 'retry-after': String(seconds) });
const metadata = (values: object) => ({ 'x-service-metadata': JSON.stringify(values) });

describe.concurrent('probes of routing', () => {
  probe(
    32,
    'an open target is skipped until its cooldown ends; when all are open, all are used',
    async (trial) => {
      let firstIsUp = false;
      let secondIsUp = true;
      const first = await trial.upstreamThat('first', () => (firstIsUp ? openAiReply : down));
      const second = await trial.upstreamThat('second', () => (secondIsUp ? openAiReply : down));
      const slug = await lab.saveConfig({
        strategy: {
          mode: 'fallback',
          cb_config: { failure_threshold: 1, cooldown_interval: 30_000 },
        },
        targets: [first.target(), second.target()],
      });
      const ask = () => trial.ask({ config: slug });
      expect((await ask()).calls).toEqual(['first', 'second']);
      expect((await ask()).calls).toEqual(['first', 'second']);
      const spared = await ask();
      expect(spared.calls).toEqual(['second']);
      // The index is the one in the config, though the first target was left out.
      expect(spared.answer.own('last-used-option-index')).toBe('config.targets[1]');

      secondIsUp = false;
      expect((await ask()).calls).toEqual(['second']);
      expect((await ask()).calls).toEqual(['second']);
      const desperate = await ask();
      expect(desperate.calls).toEqual(['first', 'second']);
      expect(desperate.answer.status).toBe(503);

      // No config may have a shorter cooldown; `npm run test:long` waits for its end.
      if (!isLongForm) return;
      firstIsUp = true;
      await delay(30_500);
      const healed = await ask();
      expect(healed.calls).toEqual(['first']);
      expect(healed.answer.status).toBe(200);
      expect((await ask()).calls).toEqual(['first']);
    },
    120_000,
  );

  // Of a minute in all; the suite waits for the smallest part of it.
  const [waitedS, moreS] = isLongForm ? [20, 50] : [2, 59];
  probe(
    8,
    `waits asked for by the provider add up: ${waitedS} s are waited, ${moreS} s more are not`,
    async (trial) => {
      const first = await trial.upstream('first', busyFor(waitedS), busyFor(moreS), openAiReply);
      const { answer, calls } = await trial.ask({
        config: first.target({ retry: { attempts: 5, use_retry_after_headers: true } }),
      });
      expect(answer.status).toBe(429);
      expect(answer.own('retry-attempt-count')).toBe('-1');
      expect(answer.headers.get('retry-after')).toBe(String(moreS));
      expect(calls).toEqual(['first', 'first']);
      expect(answer.elapsedMs).toBeGreaterThanOrEqual(waitedS * 1000 - 100);
      expect(answer.elapsedMs).toBeLessThan(60_000);
    },
    120_000,
  );

  probe(1, 'a status that is not in on_status_codes ends a fallback', async (trial) => {
    const first = await trial.upstream('first', broken);
    const second = await trial.upstream('second', openAiReply);
    const { answer, calls } = await trial.ask({
      config: {
        strategy: { mode: 'fallback', on_status_codes: [429] },
        targets: [first.target(), second.target()],
      },
    });
    expect(answer.status).toBe(500);
    expect(answer.own('last-used-option-index')).toBe('config.targets[0]');
    expect(calls).toEqual(['first']);
  });

  probe(4, 'the custom-host header wins over the hosts of all targets', async (trial) => {
    const own = await trial.upstream('own', openAiReply);
    const header = await trial.upstream('header', down, openAiReply);
    const { answer, calls } = await trial.ask({
      config: { strategy: { mode: 'fallback' }, targets: [own.target(), own.target()] },
      headers: { 'x-service-custom-host': `${header.url}/v1` },
    });
    expect(answer.status).toBe(200);
    expect(answer.own('last-used-option-index')).toBe('config.targets[1]');
    expect(calls).toEqual(['header', 'header']);
  });

  probe(5, 'the timeout header wins over the timeout of the target', async (trial) => {
    const slow = await trial.upstream('slow', slowHeaders(30_000, openAiReply));
    const { answer } = await trial.ask({
      config: slow.target({ request_timeout: 25_000 }),
      headers: { 'x-service-request-timeout': '50' },
    });
    expect(answer.status).toBe(408);
    expect(answer.json).toMatchObject({
      error: { type: 'timeout_error', message: expect.stringContaining('50 ms') },
    });
    expect(answer.elapsedMs).toBeLessThan(20_000);
  });

  probe(6, 'the retry count tells how many, in vain, or none', async (trial) => {
    const counts = [2, 1, 0].map(async (attempts) => {
      const upstream = await trial.upstream('first', broken, broken, openAiReply);
      const { answer } = await trial.ask({ config: upstream.target({ retry: { attempts } }) });
      return [attempts, answer.status, answer.own('retry-attempt-count'), upstream.requests.length];
    });
    expect(await Promise.all(counts)).toEqual([
      [2, 200, '2', 3],
      [1, 500, '-1', 2],
      [0, 500, '0', 1],
    ]);
  });

  probe(7, 'a wait of 61 s is not waited', async (trial) => {
    const first = await trial.upstream('first', busyFor(61), openAiReply);
    const { answer, calls } = await trial.ask({
      config: first.target({ retry: { attempts: 3, use_retry_after_headers: true } }),
    });
    expect(answer.status).toBe(429);
    expect(answer.own('retry-attempt-count')).toBe('-1');
    expect(calls).toEqual(['first']);
    expect(answer.elapsedMs).toBeLessThan(5000);
  });

  const google = { provider: 'google', override_params: { model: 'gemini-3-flash-preview' } };

  probe(7, 'a wait that Google asks for in the body is waited, and told', async (trial) => {
    const first = await trial.upstream('first', googleBusyFor('1.5s'), googleBusyFor('61.04s'));
    const { answer, calls } = await trial.ask({
      config: first.target({ ...google, retry: { attempts: 3, use_retry_after_headers: true } }),
    });
    expect(answer.status).toBe(429);
    expect(answer.own('retry-attempt-count')).toBe('-1');
    expect(answer.headers.get('retry-after')).toBe('62');
    expect(calls).toEqual(['first', 'first']);
    // Without it a first wait is a second.
    expect(answer.elapsedMs).toBeGreaterThanOrEqual(1500);
  });

  const conditional = (query: object, targets: Record<string, object>) => ({
    strategy: {
      mode: 'conditional',
      // biome-ignore lint/suspicious/noThenProperty: `then` is the published name of the field.
      conditions: [{ query, then: 'matched' }],
      default: 'default',
    },
    targets: Object.entries(targets).map(([name, target]) => ({ ...target, name })),
  });

  probe(15, '$ne on missing metadata is false: the default is taken', async (trial) => {
    const matched = await trial.upstream('matched', openAiReply);
    const byDefault = await trial.upstream('default', openAiReply);
    const config = conditional(
      { 'metadata.tier': { $ne: 'free' } },
      { matched: matched.target(), default: byDefault.target() },
    );
    expect((await trial.ask({ config })).calls).toEqual(['default']);
    const told = await trial.ask({ config, headers: metadata({ tier: 'paid' }) });
    expect(told.calls).toEqual(['matched']);
    const free = await trial.ask({ config, headers: metadata({ tier: 'free' }) });
    expect(free.calls).toEqual(['default']);
  });

  probe(16, '$eq:true does not match the text "true"', async (trial) => {
    const matched = await trial.upstream('matched', openAiReply);
    const byDefault = await trial.upstream('default', openAiReply);
    const config = conditional(
      { 'metadata.beta': { $eq: true } },
      { matched: matched.target(), default: byDefault.target() },
    );
    const text = await trial.ask({ config, headers: metadata({ beta: 'true' }) });
    expect(text.calls).toEqual(['default']);
    const boolean = await trial.ask({ config, headers: metadata({ beta: true }) });
    expect(boolean.calls).toEqual(['matched']);
  });

  probe(17, 'a target of weight 0 is never chosen', async (trial) => {
    const never = await trial.upstream('never', openAiReply);
    const one = await trial.upstream('one', openAiReply);
    const other = await trial.upstream('other', openAiReply);
    const config = {
      strategy: { mode: 'loadbalance' },
      targets: [never.target({ weight: 0 }), one.target(), other.target({ weight: 2 })],
    };
    const asked = await Promise.all(Array.from({ length: 60 }, () => trial.ask({ config })));
    for (const { answer } of asked) expect(answer.status).toBe(200);
    expect(never.requests).toHaveLength(0);
    // Either missing 60 times would happen once in 10 billion runs.
    expect(one.requests.length).toBeGreaterThan(0);
    expect(other.requests.length).toBeGreaterThan(0);
  });

  probe(29, 'drop_params removes a field from every entry of an array', async (trial) => {
    const upstream = await trial.upstream('first', openAiReply);
    const tool = (name: string, strict?: boolean) => ({
      type: 'function',
      function: {
        name,
        parameters: { type: 'object' },
        ...(strict === undefined ? {} : { strict }),
      },
    });
    await trial.ask({
      config: upstream.target({ drop_params: ['tools[*].function.strict', 'no.such[0].path'] }),
      body: { ...chatBody, tools: [tool('a', true), tool('b'), tool('c', false)] },
    });
    expect((await upstream.received(1)).json()).toEqual({
      ...chatBody,
      tools: [tool('a'), tool('b'), tool('c')],
    });
  });

  probe(30, 'default_params do not touch what the caller sent', async (trial) => {
    const upstream = await trial.upstream('first', openAiReply);
    const config = upstream.target({ default_params: { temperature: 0.2, top_p: 0.5 } });
    await trial.ask({ config, body: { ...chatBody, temperature: 0.9 } });
    expect((await upstream.received(1)).json()).toEqual({
      ...chatBody,
      temperature: 0.9,
      top_p: 0.5,
    });
  });

  probe(
    31,
    '`user` of the body is `_user` in the record, unless metadata has one',
    async (trial) => {
      const upstream = await trial.upstream('first', openAiReply);
      const userOf = async (headers: Record<string, string>) => {
        const { rawRecords } = await trial.ask({
          config: upstream.target(),
          body: { ...chatBody, user: 'u' },
          headers,
          records: 1,
        });
        return rawRecords[0]?.metadata._user;
      };
      expect(await userOf({})).toBe('u');
      expect(await userOf(metadata({ _user: 'named' }))).toBe('named');
    },
  );
});
