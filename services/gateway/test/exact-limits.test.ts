import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { eventually, json, type TestStackOptions } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Asked,
  type AskOptions,
  type Lab,
  type NamedUpstream,
  startLab,
  type Trial,
} from './lab.ts';
import { chatBody, chatReply, errorOf } from './scenario.ts';
import { openAiError, openAiReply } from './vendor-replies.ts';

/** Limits through running gateways: what binds, what is counted, and what is given back. */

async function inTrial<T>(lab: Lab, work: (trial: Trial) => Promise<T>): Promise<T> {
  const trial = lab.trial();
  try {
    return await work(trial);
  } finally {
    await trial.close();
  }
}

async function newKey(lab: Lab, body: object = {}): Promise<{ id: string; key: string }> {
  return lab.scenario.admin('POST', '/api-keys/workspace/service', {
    name: `key ${crypto.randomUUID().slice(0, 8)}`,
    scopes: ['completions.write'],
    workspace_id: lab.scenario.stack.credentials.workspace_id,
    ...body,
  });
}

async function newPolicy(lab: Lab, kind: 'rate' | 'usage', body: object): Promise<{ id: string }> {
  const policy = await lab.scenario.admin<{ id: string }>('POST', `/policies/${kind}-limits`, {
    name: 'a policy',
    workspace_id: lab.scenario.stack.credentials.workspace_id,
    ...body,
  });
  // An answer of a change waits for the gateways; a busy machine takes longer.
  await delay(300);
  return policy;
}

const statuses = (all: readonly Asked[]) => all.map(({ answer }) => answer.status);
const codeOf = ({ answer }: Asked) => (answer.json as { error?: { code?: string } })?.error?.code;

async function times(count: number, ask: () => Promise<Asked>): Promise<Asked[]> {
  const all: Asked[] = [];
  for (let index = 0; index < count; index++) all.push(await ask());
  return all;
}

const dailyRequests = (value: number) => [{ type: 'requests', unit: 'rpd', value }];
const perDollar = 1_000_000_000;

// Side by side: each has keys, policies and upstreams of its own.
describe.concurrent('one gateway', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab({ promptLedger: true });
  });
  afterAll(() => lab?.stop());

  /** At a host of an admin's choice, so that what it says of its usage counts. */
  async function savedAt(upstream: NamedUpstream, limits: object = {}): Promise<string> {
    return lab.saveProvider({
      aiProviderId: 'openai',
      key: 'sk-saved',
      customHost: `${upstream.url}/v1`,
      ...limits,
    });
  }

  it('a budget in dollars binds, and tells what is left of it', () =>
    inTrial(lab, async (trial) => {
      // Of gpt-4o a million cost 2.50 dollars to read: 0.20 for these, and a little for the answer.
      const expensive = { prompt_tokens: 80_000, completion_tokens: 5, total_tokens: 80_005 };
      const upstream = await trial.upstream(
        'gpt',
        json(200, { ...chatReply, model: 'gpt-4o', usage: expensive }),
      );
      const provider = await savedAt(upstream);
      const { key } = await newKey(lab, { usage_limits: { type: 'cost', credit_limit: 1 } });
      const ask = () =>
        trial.ask({
          key,
          headers: { 'x-service-provider': provider },
          body: { ...chatBody, model: 'gpt-4o', max_tokens: 10, messages: longPrompt },
        });
      const all = await times(7, ask);
      // Something is left before the fifth.
      expect(statuses(all)).toEqual([200, 200, 200, 200, 200, 412, 412]);
      const [first] = all;
      const refused = all[5];
      expect(first?.answer.own('budget-limit-cost')).toBe('1.00');
      expect(codeOf(refused!)).toBe('limit.budget_exhausted');
      expect(refused?.answer.text).toMatch(
        /Budget exhausted for API key \\"[^"]+\\": \$1\.00 allowed\./,
      );
      expect(refused?.answer.own('budget-remaining-cost')).toBe('0.00');
      expect(upstream.requests).toHaveLength(5);
    }));

  it('tokens are held: forty answers at once stay within one request of the limit', () =>
    inTrial(lab, async (trial) => {
      const answers = Promise.withResolvers<void>();
      const upstream = await trial.upstreamThat('slow', async () => {
        await answers.promise;
        return openAiReply;
      });
      const provider = await savedAt(upstream);
      const { key } = await newKey(lab, {
        rate_limits: [{ type: 'tokens', unit: 'rpd', value: 2000 }],
      });
      const ask = () =>
        trial.ask({
          key,
          headers: { 'x-service-provider': provider },
          body: { ...chatBody, max_tokens: 1500 },
        });
      let refused = 0;
      const asking = Array.from({ length: 40 }, async () => {
        const asked = await ask();
        if (asked.answer.status !== 200) refused += 1;
        return asked;
      });
      // Nobody is answered before the last has asked.
      await eventually(() => expect(refused + upstream.requests.length).toBe(40));
      answers.resolve();
      const all = await Promise.all(asking);
      const passed = all.filter(({ answer }) => answer.status === 200);
      expect(passed.length).toBeGreaterThan(0);
      expect(upstream.requests.length * 1500).toBeLessThanOrEqual(2000 + 1500);
      // Held is told from used up.
      const codes = new Set(all.filter(({ answer }) => answer.status !== 200).map(codeOf));
      expect([...codes]).toEqual(['limit.reserved']);
      const later = await times(3, ask);
      expect(codeOf(later.at(-1)!)).toBe('limit.rate_exceeded');
    }));

  it('a provider and its grant count apart, and the message names whose limit it is', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', openAiReply);
      const slug = `grant-${crypto.randomUUID().slice(0, 8)}`;
      await lab.scenario.admin('POST', '/integrations', {
        name: slug,
        slug,
        ai_provider_id: 'openai',
        key: 'sk-saved',
        configurations: { custom_host: `${upstream.url}/v1` },
      });
      await lab.scenario.admin('PUT', `/integrations/${slug}/workspaces`, {
        workspaces: [
          {
            id: lab.scenario.stack.credentials.workspace_id,
            enabled: true,
            rate_limits: dailyRequests(5),
          },
        ],
        create_default_provider: false,
      });
      await lab.manage('POST', '/providers', {
        name: slug,
        slug,
        integration_id: slug,
        rate_limits: dailyRequests(6),
      });
      await delay(500);
      const provider = `@${slug}`;
      const all = await times(7, () => trial.ask({ headers: { 'x-service-provider': provider } }));
      expect(statuses(all)).toEqual([200, 200, 200, 200, 200, 429, 429]);
      expect(all[5]?.answer.text).toContain(`integration \\"${slug}\\"`);
    }));

  it('refusals of a target use up nothing of the key', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', openAiReply);
      const narrow = await savedAt(upstream, { rateLimits: dailyRequests(3) });
      const { key } = await newKey(lab, { rate_limits: dailyRequests(10) });
      const ask = (provider: string) =>
        trial.ask({ key, headers: { 'x-service-provider': provider } });
      expect(statuses(await times(6, () => ask(narrow)))).toEqual([200, 200, 200, 429, 429, 429]);
      const wide = await savedAt(upstream);
      const rest = await times(8, () => ask(wide));
      expect(statuses(rest).filter((status) => status === 200)).toHaveLength(7);
    }));

  it('a provider made anew under its old slug begins anew', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', openAiReply);
      const provider = await savedAt(upstream, { rateLimits: dailyRequests(1) });
      const slug = provider.slice(1);
      const ask = () => trial.ask({ headers: { 'x-service-provider': provider } });
      expect(statuses(await times(2, ask))).toEqual([200, 429]);
      await lab.manage('DELETE', `/providers/${slug}`);
      await lab.manage('POST', '/providers', {
        name: slug,
        slug,
        integration_id: slug,
        rate_limits: dailyRequests(1),
      });
      await delay(500);
      expect(statuses(await times(2, ask))).toEqual([200, 429]);
    }));

  it('the end user of the body is the one of the limits', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', openAiReply);
      const { id, key } = await newKey(lab);
      await newPolicy(lab, 'rate', {
        type: 'requests',
        unit: 'rpd',
        value: 2,
        conditions: [{ key: 'api_key', value: id }],
        group_by: [{ key: 'metadata._user' }],
      });
      const ask = (user: string) =>
        trial.ask({ key, config: upstream.target(), body: { ...chatBody, user } });
      expect(statuses(await times(3, () => ask('alice')))).toEqual([200, 200, 429]);
      expect(statuses(await times(3, () => ask('bob')))).toEqual([200, 200, 429]);
    }));

  it('an endpoint is the same under another prefix, and a model too', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', openAiReply);
      const { id, key } = await newKey(lab);
      const mine = { key: 'api_key', value: id };
      await newPolicy(lab, 'rate', {
        type: 'requests',
        unit: 'rpd',
        value: 2,
        conditions: [mine, { key: 'endpoint_type', value: 'chatComplete' }],
        group_by: [{ key: 'api_key' }],
      });
      await newPolicy(lab, 'rate', {
        type: 'requests',
        unit: 'rpd',
        value: 1,
        conditions: [mine, { key: 'model', value: '@openai/gpt-4o' }],
        group_by: [{ key: 'api_key' }],
      });
      const ask = (path: string, model: string) =>
        trial.ask({ key, path, config: upstream.target(), body: { ...chatBody, model } });
      const native = '/v1/chat/completions';
      const proxied = '/v1/proxy/chat/completions';
      expect((await ask(proxied, 'gpt-4o')).answer.status).toBe(200);
      expect((await ask(native, 'gpt-4o')).answer.status).toBe(429);
      expect((await ask(native, 'gpt-4o-mini')).answer.status).toBe(200);
      for (const path of [
        proxied,
        '/v1/proxy/v1/chat/completions',
        '/v1/proxy//openai/v1/Chat/%63ompletions/',
        '/v1/proxy/openai/deployments/d/chat/completions',
        '/v1//chat/completions',
      ])
        expect([path, (await ask(path, 'gpt-4o-mini')).answer.status]).toEqual([path, 429]);
    }));

  it('a model is the same however its body is sent below /v1/proxy', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', openAiReply);
      const provider = await savedAt(upstream);
      const { id, key } = await newKey(lab);
      const conditions = [
        { key: 'api_key', value: id },
        { key: 'model', value: 'gpt-4.1' },
      ];
      const group_by = [{ key: 'api_key' }];
      await newPolicy(lab, 'rate', {
        conditions,
        group_by,
        type: 'requests',
        unit: 'rpd',
        value: 1,
      });
      const asked = JSON.stringify({ ...chatBody, model: 'gpt-4.1' });
      const typed = { 'content-type': 'application/json' };
      const send = async (headers: Record<string, string>, body: RequestInit['body']) => {
        const response = await fetch(
          `${lab.scenario.stack.gatewayUrls[0]}/v1/proxy/chat/completions`,
          {
            method: 'POST',
            headers: { 'x-service-api-key': key, 'x-service-provider': provider, ...headers },
            body,
            duplex: 'half',
          } as RequestInit,
        );
        return errorOf(response).then(({ status, code }) => [status, code]);
      };
      expect(await send(typed, asked)).toEqual([200, '']);
      const refused = [429, 'limit.rate_exceeded'];
      for (const [headers, body] of [
        [typed, asked],
        [typed, Readable.toWeb(Readable.from([Buffer.from(asked)])) as never],
        [{}, Buffer.from(asked)],
        [{ 'content-type': 'text/plain' }, asked],
        [{ ...typed, 'content-encoding': 'Identity' }, asked],
        [typed, asked.replace('{', `{"pad":"${'x'.repeat(5_000_000)}",`)],
      ] as const)
        expect(await send(headers, body)).toEqual(refused);
      const twice = asked.replace('{', '{"model":"gpt-4.1-mini",');
      expect(await send(typed, twice)).toEqual([400, 'request.ambiguous_member']);
      expect(await send({ ...typed, 'content-encoding': 'gzip' }, gzipSync(asked))).toEqual([
        400,
        'request.unsupported_content_type',
      ]);
      expect(upstream.requests).toHaveLength(1);
    }));

  it('a spent limit answers before a bad config and a bad body do', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', openAiReply);
      const { key } = await newKey(lab, { rate_limits: dailyRequests(1) });
      const bad: AskOptions[] = [
        { config: 'pc-none-such' },
        { config: upstream.target(), rawBody: '{' },
        { config: upstream.target(), body: { ...chatBody, model: 7 } },
      ];
      for (const each of bad) {
        const early = await trial.ask({ key, ...each });
        expect(early.answer.status).toBe(400);
      }
      expect((await trial.ask({ key, config: upstream.target() })).answer.status).toBe(200);
      // What is remembered of a refusal is good for a second: after it Redis, or the count, is asked.
      for (let round = 0; round < 2; round++) {
        for (const each of bad)
          expect(codeOf(await trial.ask({ key, ...each }))).toBe('limit.rate_exceeded');
        await delay(1100);
      }
    }));

  it('a kept answer is given when only the provider is spent, and counts for the key alone', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', openAiReply);
      const provider = await savedAt(upstream, { rateLimits: dailyRequests(1) });
      const { key } = await newKey(lab, { rate_limits: dailyRequests(3) });
      const ask = (content: string) =>
        trial.ask({
          key,
          config: { provider, cache: { mode: 'simple' } },
          body: { ...chatBody, messages: [{ role: 'user', content }] },
        });
      expect((await ask('kept')).answer.own('cache-status')).toBe('MISS');
      await delay(300);
      const hit = await ask('kept');
      expect([hit.answer.status, hit.answer.own('cache-status')]).toEqual([200, 'HIT']);
      expect((await ask('another')).answer.status).toBe(429);
      // Two of three: the refused one counts for nobody.
      expect((await ask('kept')).answer.own('cache-status')).toBe('HIT');
      expect((await ask('kept')).answer.status).toBe(429);
      expect(upstream.requests).toHaveLength(1);
    }));

  it('lists, counts of tokens and looks at files use nothing up', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', json(200, { object: 'list', data: [] }));
      const { key } = await newKey(lab, { rate_limits: dailyRequests(1) });
      const config = upstream.target();
      for (let round = 0; round < 2; round++) {
        for (const path of [
          '/v1/models',
          '/v1/proxy/files',
          '/v1/proxy/v1/files',
          '/v1/batches/batch_1',
        ])
          expect((await trial.ask({ key, config, path, method: 'GET' })).answer.status).toBe(200);
      }
      const anthropic = await trial.upstream('claude', json(200, { input_tokens: 3 }));
      for (const path of [
        '/v1/messages/count_tokens',
        '/v1/proxy/messages/count_tokens',
        '/v1/proxy/v1/messages/count_tokens',
      ])
        expect(
          (
            await trial.ask({
              key,
              config: { ...anthropic.target(), provider: 'anthropic' },
              path,
              body: { ...chatBody, model: 'claude-sonnet-4-5' },
            })
          ).answer.status,
        ).toBe(200);
    }));

  it('a policy in shadow mode refuses nothing, and says what it would have', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', openAiReply);
      const { id, key } = await newKey(lab);
      await newPolicy(lab, 'usage', {
        name: 'trial',
        type: 'requests',
        credit_limit: 2,
        shadow: true,
        conditions: [{ key: 'api_key', value: id }],
        group_by: [{ key: 'api_key' }],
      });
      const all = await times(3, () => trial.ask({ key, config: upstream.target(), records: 1 }));
      expect(statuses(all)).toEqual([200, 200, 200]);
      expect(all.map(({ answer }) => answer.own('limits-would-refuse'))).toEqual([
        null,
        null,
        'trial',
      ]);
    }));

  it('records tell what was held and counted, and the sums are the counts', () =>
    inTrial(lab, async (trial) => {
      const bad = await trial.upstream('bad', openAiError(503, 'busy'));
      const good = await trial.upstream('good', openAiReply);
      const { key } = await newKey(lab, {
        rate_limits: [...dailyRequests(100), { type: 'tokens', unit: 'rpd', value: 100_000 }],
      });
      const config = {
        strategy: { mode: 'fallback' },
        targets: [bad.target({ retry: { attempts: 1 } }), good.target()],
      };
      const asked = await trial.ask({ key, config, records: 3 });
      expect(asked.answer.status).toBe(200);
      const sums: Record<string, number> = {};
      for (const record of asked.rawRecords)
        for (const [name, count] of Object.entries(record.countersSettled))
          sums[name] = (sums[name] ?? 0) + Number(count);
      const left = [
        Number(asked.answer.own('ratelimit-limit-requests')) - 99,
        Object.values(sums).sort((a, b) => a - b),
      ];
      expect(left[1]).toHaveLength(2);
      expect((left[1] as number[])[0]).toBe(1);
    }));

  it('explain shows a budget by the code that refuses', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', openAiReply);
      const { key } = await newKey(lab, { usage_limits: { type: 'cost', credit_limit: 2 } });
      const { answer } = await trial.ask({
        key,
        path: '/v1/explain/chat/completions',
        config: upstream.target(),
      });
      const [budget] = (answer.json as { limits: object[] }).limits;
      const whole = { limit: 2 * perDollar, remaining: 2 * perDollar };
      expect(budget).toMatchObject({ type: 'cost', unit: null, reset_at_ms: null, ...whole });
    }));
});

/** So long that what is billed for it can be true. */
const longPrompt = [{ role: 'user', content: 'word '.repeat(100_000) }];

describe('two gateways without Redis', () => {
  let lab: Lab;
  beforeAll(async () => {
    lab = await startLab({ gateways: 2, promptLedger: true });
  });
  afterAll(() => lab?.stop());

  it('pass ten of ten a day together, and say that each counts its share', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', openAiReply);
      const config = upstream.target();
      const { key } = await newKey(lab, { rate_limits: dailyRequests(10) });
      await expect
        .poll(async () =>
          Promise.all(
            [0, 1].map(async (gateway) => (await trial.ask({ config, gateway })).answer.status),
          ),
        )
        .toEqual([200, 200]);
      await delay(6000);
      const all: Asked[] = [];
      for (let index = 0; index < 24; index++)
        all.push(await trial.ask({ key, config, gateway: index % 2 }));
      expect(statuses(all).filter((status) => status === 200)).toHaveLength(10);
      expect(all[0]?.answer.own('limits-degraded')).toBe('share');
    }));
});

describe('two gateways with one Redis', () => {
  let lab: Lab;
  /** Longer than anybody waits for a busy machine. */
  const storeTimeoutMs = 1500;
  const options: TestStackOptions = {
    gateways: 2,
    redis: true,
    environment: { gateway: { LIMIT_STORE_TIMEOUT: String(storeTimeoutMs) } },
  };
  beforeAll(async () => {
    lab = await startLab({ ...options, promptLedger: true });
  });
  afterAll(() => lab?.stop());

  it('pass no more than the limit when Redis dies in between, and say so', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', openAiReply);
      const config = upstream.target();
      const { key } = await newKey(lab, { rate_limits: dailyRequests(20) });
      const ask = (gateway: number) => trial.ask({ key, config, gateway });
      const before = [await ask(0), await ask(1), await ask(0), await ask(1)];
      await delay(6000);
      await lab.scenario.stack.redis?.kill();
      const during: Asked[] = [];
      for (let index = 0; index < 40; index++) during.push(await ask(index % 2));
      await lab.scenario.stack.redis?.restart();
      await delay(3000);
      const after: Asked[] = [];
      for (let index = 0; index < 40; index++) after.push(await ask(index % 2));
      const passed = statuses([...before, ...during, ...after]).filter((status) => status === 200);
      // What a gateway did not know that the other had passed is all there can be too much.
      expect(passed.length).toBeLessThanOrEqual(20 + 2);
      expect(passed.length).toBeGreaterThanOrEqual(18);
      expect(during.at(-1)?.answer.own('limits-degraded')).toBe('share');
    }));

  /** What header, record and metric say of one answer. */
  async function saidDegraded({ answer, rawRecords }: Asked) {
    const metrics = await (await fetch(lab.scenario.stack.gatewayMetricsUrl)).text();
    return {
      header: answer.own('limits-degraded') !== null,
      record: rawRecords.some(({ limitsDegraded }) => limitsDegraded),
      metric: /^sluice_limits_degraded(?:\{.*\})? 1$/m.test(metrics),
    };
  }
  const all = (isDegraded: boolean) => ({
    header: isDegraded,
    record: isDegraded,
    metric: isDegraded,
  });

  it('wait once for a Redis that hangs, those under way then and no others, and count on', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', openAiReply);
      const { key } = await newKey(lab, { rate_limits: dailyRequests(1000) });
      const small = await newKey(lab, { usage_limits: { type: 'cost', credit_limit: 1 } });
      const config = upstream.target();
      const ask = (records?: number) =>
        trial.ask({ key, config, ...(records !== undefined && { records }) });
      const slowOf = async (count: number) => {
        const waits: number[] = [];
        const worker = async () => {
          while (waits.length < count) waits.push((await ask()).answer.elapsedMs);
        };
        await Promise.all([worker(), worker(), worker(), worker()]);
        return waits.filter((ms) => ms > 0.9 * storeTimeoutMs).length;
      };
      await eventuallyShared(ask);
      const pid = lab.scenario.stack.redis?.pid ?? 0;
      process.kill(pid, 'SIGSTOP');
      try {
        // Four are under way at a time.
        const slow = await slowOf(150);
        expect(slow).toBeGreaterThan(0);
        expect(slow).toBeLessThanOrEqual(4);
        expect(await saidDegraded(await ask(1))).toEqual(all(true));
        const refused = await trial.ask({ key: small.key, config, records: 1 });
        expect(codeOf(refused)).toBe('limit.unavailable');
        expect(await saidDegraded(refused)).toEqual(all(true));
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await eventuallyShared(ask);
      const last = await ask(1);
      expect(await saidDegraded(last)).toEqual(all(false));
      // What was counted alone has arrived: each request counts once.
      await eventually(
        async () => {
          const { answer } = await ask();
          const counted = 1000 - Number(answer.own('ratelimit-remaining-requests'));
          expect(counted).toBe(upstream.requests.length);
        },
        { intervalMs: 200 },
      );
    }));

  async function eventuallyShared(ask: () => Promise<Asked>): Promise<void> {
    await expect.poll(async () => (await ask()).answer.own('limits-degraded')).toBeNull();
  }

  it('count on from what the ledger knows when Redis was emptied', () =>
    inTrial(lab, async (trial) => {
      const upstream = await trial.upstream('gpt', openAiReply);
      const config = upstream.target();
      const { key } = await newKey(lab, { rate_limits: dailyRequests(20) });
      const ask = (gateway: number) => trial.ask({ key, config, gateway });
      await eventuallyShared(() => trial.ask({ config }));
      const before: Asked[] = [];
      for (let index = 0; index < 10; index++) before.push(await ask(index % 2));
      // Into the ledger.
      await delay(3000);
      await lab.scenario.stack.redis?.restart();
      await delay(1500);
      const after: Asked[] = [];
      for (let index = 0; index < 40; index++) after.push(await ask(index % 2));
      const passed = statuses([...before, ...after]).filter((status) => status === 200);
      expect(passed).toHaveLength(20);
      expect(codeOf(after.at(-1)!)).toBe('limit.rate_exceeded');
    }));
});
