import { json, slowHeaders } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab, type Trial } from './lab.ts';
import { chatReply } from './scenario.ts';

let lab: Lab;
let trial: Trial;
beforeAll(async () => {
  lab = await startLab();
  trial = lab.trial();
});
afterAll(async () => {
  await trial?.close();
  await lab?.stop();
});

const body = {
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'What are the main differences? '.repeat(20) }],
  max_tokens: 100,
};

const named = { type: 'function', name: 'web_search', parameters: { type: 'object' } };

type Costs = Record<'low' | 'expected' | 'high', number>;

interface Estimated {
  targets: {
    model: string;
    input_tokens: Record<'low' | 'expected' | 'high', number>;
    output_tokens: Record<'low' | 'expected' | 'high', number>;
    cost_usd: Record<'low' | 'expected' | 'high', number | null>;
    price: { layer: string } | null;
    unpriced_units?: string[];
  }[];
  limits: { type: string; remaining: number; would_refuse: boolean }[];
  would_fail?: { code: string };
}

async function estimate(config: object, over: object = {}): Promise<Estimated> {
  const { answer } = await trial.ask({
    path: '/v1/estimate/chat/completions',
    config,
    body,
    ...over,
  });
  expect(answer.status).toBe(200);
  return answer.json as Estimated;
}

describe('POST /v1/estimate', () => {
  it('tells tokens and cost of each target within bounds, and asks nobody', async () => {
    const upstream = await trial.upstream('vendor', json(200, chatReply));
    const dear = upstream.target({ override_params: { model: 'gpt-4o', max_tokens: 1000 } });
    const config = { strategy: { mode: 'fallback' }, targets: [upstream.target(), dear] };
    const { targets } = await estimate(config);
    expect(upstream.requests).toHaveLength(0);
    expect(targets.map(({ output_tokens }) => output_tokens)).toEqual([
      { low: 0, expected: 100, high: 100 },
      { low: 0, expected: 1000, high: 1000 },
    ]);
    const [first, second] = targets;
    expect(first?.input_tokens.high).toBeGreaterThan(first?.input_tokens.expected ?? 0);
    expect(first?.price?.layer).toBe('catalogue');
    const cost = first?.cost_usd;
    // 0.15 and 0.60 dollars a million.
    const input = first?.input_tokens.high ?? 0;
    expect(cost?.high).toBeCloseTo((input * 0.15 + 100 * 0.6) / 1e6, 9);
    expect(second?.cost_usd.high).toBeGreaterThan(cost?.high ?? 0);
  });

  it('tells the price of the tier that is asked for, and holds the dearer of it and the standard', async () => {
    const upstream = await trial.upstream('vendor', json(200, chatReply));
    const costs = async (provider: string, asked: object) => {
      const { targets } = await estimate(upstream.target({ provider }), {
        body: { ...body, ...asked },
      });
      const { expected, high } = targets[0]?.cost_usd ?? {};
      if (expected == null || high == null) throw new Error('a price is known');
      return { expected, high };
    };
    const openai = { model: 'gpt-5.1' };
    const standard = await costs('openai', openai);
    expect(await costs('openai', { ...openai, service_tier: 'auto' })).toEqual(standard);
    const flex = await costs('openai', { ...openai, service_tier: 'flex' });
    expect(flex.expected).toBeCloseTo(standard.expected / 2, 8);
    expect(flex.high).toBe(standard.high);
    const priority = await costs('openai', { ...openai, service_tier: 'priority' });
    expect(priority.expected).toBeCloseTo(standard.expected * 2, 8);
    expect(priority.high).toBeCloseTo(standard.high * 2, 8);
    const claude = { model: 'claude-opus-4-6' };
    const slow = await costs('anthropic', claude);
    const fast = await costs('anthropic', { ...claude, speed: 'fast' });
    expect(fast.high).toBeCloseTo(slow.high * 6, 8);
  });

  it.each<[what: string, path: string, target: object, asked: object, dollars: number]>([
    // 30 answers of 10 tokens, at 2 dollars a million.
    [
      'answers of every prompt',
      '/completions',
      {},
      { model: 'gpt-3.5-turbo-instruct', prompt: Array(10).fill('a'), n: 3, max_tokens: 10 },
      0.0006,
    ],
    // 4160 tokens a picture, at 40 dollars a million.
    [
      'pictures in tokens',
      '/images/generations',
      {},
      { model: 'gpt-image-1', prompt: 'a', n: 2, size: '1024x1024', quality: 'high' },
      0.3328,
    ],
    [
      'pictures of any size and quality',
      '/images/generations',
      {},
      { model: 'gpt-image-1', prompt: 'a', size: 'auto' },
      0.2496,
    ],
    [
      'pictures by the piece',
      '/images/generations',
      {},
      { model: 'dall-e-3', prompt: 'a', size: '1024x1792', quality: 'hd' },
      0.12,
    ],
  ])('holds %s', async (_what, endpoint, target, asked, dollars) => {
    const upstream = await trial.upstream('vendor', json(200, chatReply));
    const path = `/v1/estimate${endpoint}`;
    const { targets } = await estimate(upstream.target(target), { path, body: asked });
    expect(targets[0]?.cost_usd.high).toBeCloseTo(dollars, 3);
    expect(targets[0]?.cost_usd.high).toBeGreaterThanOrEqual(dollars);
  });

  it.each<[what: string, path: string, provider: string, asked: object, dollars: [number, number]]>(
    [
      ['a search', '/responses', 'openai', { tools: [{ type: 'web_search' }] }, [0.01, 0.01]],
      [
        'each tool, as often as the request allows all of them',
        '/responses',
        'openai',
        {
          tools: [{ type: 'web_search_preview_2025_03_11' }, { type: 'file_search' }],
          max_tool_calls: 3,
        },
        [0.0125, 0.0375],
      ],
      ['no function of the caller’s', '/responses', 'openai', { tools: [named] }, [0, 0]],
      [
        'searches up to their limit',
        '/messages',
        'anthropic',
        { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 5 }] },
        [0.01, 0.05],
      ],
      [
        'no search that is not allowed',
        '/messages',
        'anthropic',
        { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 0 }] },
        [0, 0],
      ],
      [
        'a search of another provider',
        '/chat/completions',
        'anthropic',
        { tools: [{ type: 'web_search' }] },
        [0.01, 0.01],
      ],
      [
        'what Gemini looks up',
        '/chat/completions',
        'google',
        { tools: [{ google_search: {} }, { googleMaps: {} }, { functionDeclarations: [] }] },
        [0.035 + 0.025, 0.035 + 0.025],
      ],
    ],
  )('holds the fees of tools: %s', async (_what, endpoint, provider, asked, dollars) => {
    const upstream = await trial.upstream('vendor', json(200, chatReply));
    const model = { openai: 'gpt-5.1', anthropic: 'claude-opus-4-6', google: 'gemini-2.5-flash' }[
      provider
    ];
    const costs = async (over: object) => {
      const text = { messages: body.messages, input: 'Hi', max_tokens: 1, max_output_tokens: 16 };
      const { targets } = await estimate(upstream.target({ provider }), {
        path: `/v1/estimate${endpoint}`,
        body: { ...text, model, ...over },
      });
      return targets[0]?.cost_usd ?? {};
    };
    // The words of the tools themselves count, a little.
    const plain = (await costs({ tools: [{ type: 'web_fetch_20250910' }] })) as Costs;
    const charged = (await costs(asked)) as Costs;
    expect(charged.low - plain.low).toBeCloseTo(0, 3);
    expect(charged.expected - plain.expected).toBeCloseTo(dollars[0], 3);
    expect(charged.high - plain.high).toBeCloseTo(dollars[1], 3);
  });

  it('tells what Claude costs where the request asks to be served', async () => {
    const upstream = await trial.upstream('vendor', json(200, chatReply));
    const high = async (asked: object) => {
      const { targets } = await estimate(upstream.target({ provider: 'anthropic' }), {
        path: '/v1/estimate/messages',
        body: { ...body, model: 'claude-opus-4-6', max_tokens: 1000, ...asked },
      });
      return targets[0]?.cost_usd.high ?? 0;
    };
    const anywhere = await high({});
    expect(await high({ inference_geo: 'global' })).toBeCloseTo(anywhere, 9);
    expect((await high({ inference_geo: 'us' })) / anywhere).toBeCloseTo(1.1, 4);
  });

  it('holds what writing to the provider’s cache costs, where that is asked for', async () => {
    const upstream = await trial.upstream('vendor', json(200, chatReply));
    const text = { type: 'text', text: 'What are the main differences? '.repeat(300) };
    const high = async (mark: object, target: object = {}) => {
      const content = [{ ...text, ...mark }];
      const { targets } = await estimate(upstream.target({ provider: 'anthropic', ...target }), {
        path: '/v1/estimate/messages',
        body: { model: 'claude-sonnet-4-5', max_tokens: 1, messages: [{ role: 'user', content }] },
      });
      return targets[0]?.cost_usd.high ?? 0;
    };
    const plain = await high({});
    const isNear = (cost: number, times: number) => expect(cost / plain).toBeCloseTo(times, 1);
    isNear(await high({ cache_control: { type: 'ephemeral' } }), 1.25);
    isNear(await high({ cache_control: { type: 'ephemeral', ttl: '1h' } }), 2);
    isNear(await high({}, { prompt_cache: { breakpoints: 'auto', ttl: '1h' } }), 2);
    // OpenAI's newest write without being asked.
    const { targets } = await estimate(upstream.target(), {
      body: { ...body, model: 'gpt-5.6', max_tokens: 1 },
    });
    const { input_tokens, cost_usd } = targets[0] ?? {};
    expect(cost_usd?.high).toBeCloseTo(((input_tokens?.high ?? 0) * 5 + 20) / 1e6, 9);
  });

  it('names what is asked for and has no price', async () => {
    const upstream = await trial.upstream('vendor', json(200, chatReply));
    const named = async (tools: object[]) => {
      const { targets } = await estimate(upstream.target(), {
        path: '/v1/estimate/responses',
        body: { model: 'gpt-5.1', input: 'Hi', tools },
      });
      expect(targets[0]?.cost_usd.high).toBeGreaterThan(0);
      return targets[0]?.unpriced_units;
    };
    expect(await named([{ type: 'web_search' }])).toBeUndefined();
    expect(await named([{ type: 'image_generation' }, { type: 'web_search' }])).toEqual([
      'image_generation',
    ]);
  });

  it('knows no price of an unknown model', async () => {
    const upstream = await trial.upstream('vendor', json(200, chatReply));
    const { targets } = await estimate(upstream.target(), { body: { ...body, model: 'house-7b' } });
    expect(targets[0]).toMatchObject({ price: null, cost_usd: { low: null, high: null } });
  });

  it('tells what is then held of a limit', async () => {
    const { workspace_id } = lab.scenario.stack.credentials;
    await lab.scenario.admin('POST', '/policies/rate-limits', {
      name: 'tokens',
      workspace_id,
      type: 'tokens',
      unit: 'rph',
      value: 1_000_000,
      conditions: [{ key: 'metadata.team', value: 'held' }],
      group_by: [{ key: 'metadata.team' }],
    });
    const headers = { 'x-service-metadata': '{"team":"held"}' };
    const upstream = await trial.upstream('slow', slowHeaders(1500, json(200, chatReply)));
    const before = await estimate(upstream.target(), { headers });
    expect(before.limits).toMatchObject([{ type: 'tokens', remaining: 1_000_000 }]);
    const asking = trial.ask({ config: upstream.target(), body, headers });
    await expect.poll(() => upstream.requests.length).toBe(1);
    const { targets, limits } = await estimate(upstream.target(), { headers });
    const held = (targets[0]?.input_tokens.high ?? 0) + (targets[0]?.output_tokens.high ?? 0);
    expect(limits[0]?.remaining).toBe(1_000_000 - held);
    await asking;
  });

  it('tells what is held of the request’s limits while a dearer target is asked', async () => {
    const headers = { 'x-service-metadata': '{"team":"dearer"}' };
    await lab.scenario.admin('POST', '/policies/rate-limits', {
      name: 'tokens',
      workspace_id: lab.scenario.stack.credentials.workspace_id,
      type: 'tokens',
      unit: 'rph',
      value: 1_000_000,
      conditions: [{ key: 'metadata.team', value: 'dearer' }],
      group_by: [{ key: 'metadata.team' }],
    });
    const broken = await trial.upstream('broken', json(500, { error: { message: 'no' } }));
    const slow = await trial.upstream('slow', slowHeaders(1500, json(200, chatReply)));
    const dear = slow.target({ override_params: { max_tokens: 5000 } });
    const config = { strategy: { mode: 'fallback' }, targets: [broken.target(), dear] };
    const asking = trial.ask({ config, body, headers });
    await expect.poll(() => slow.requests.length).toBe(1);
    const { targets, limits } = await estimate(dear, { headers });
    const held = (targets[0]?.input_tokens.high ?? 0) + 5000;
    expect(limits[0]?.remaining).toBe(1_000_000 - held);
    await asking;
    const after = await estimate(dear, { headers });
    // What was not used came back.
    expect(after.limits[0]?.remaining).toBeGreaterThan(1_000_000 - held);
  });
});

describe('x-service-max-cost', () => {
  const asked = async (maxCost: string, target: object = {}, over: object = {}) => {
    const upstream = await trial.upstream('vendor', json(200, chatReply));
    const headers = { 'x-service-max-cost': maxCost };
    const config = upstream.target(target);
    const { answer } = await trial.ask({ config, body, headers, ...over });
    const code = (answer.json as { error?: { code?: string } }).error?.code;
    return { status: answer.status, code, calls: upstream.requests.length };
  };

  it('lets pass what costs less by its estimate', async () => {
    expect(await asked('0.0002')).toMatchObject({ status: 200, calls: 1 });
  });

  it('refuses what may cost more, and calls nobody', async () => {
    const refused = { status: 412, code: 'limit.max_cost', calls: 0 };
    expect(await asked('0.00005')).toEqual(refused);
    expect(await asked('0.0002', { override_params: { max_tokens: 1000 } })).toEqual(refused);
    // Nobody knows what it costs.
    expect(await asked('100', { override_params: { model: 'house-7b' } })).toEqual(refused);
  });

  it('refuses what uses tools of the provider that have no price', async () => {
    const over = (tools: object[]) => ({
      path: '/v1/responses',
      body: { model: 'gpt-5.1', input: 'Hi', max_output_tokens: 16, tools },
    });
    const refused = { status: 412, code: 'limit.max_cost', calls: 0 };
    const interpreter = { type: 'code_interpreter', container: { type: 'auto' } };
    const shell = (type: string) => ({ type: 'shell', environment: { type } });
    expect(await asked('100', {}, over([interpreter]))).toEqual(refused);
    expect(await asked('100', {}, over([shell('container_auto')]))).toEqual(refused);
    // Run by the caller, or priced.
    for (const tool of [shell('local'), { type: 'web_search' }])
      expect(await asked('100', {}, over([tool]))).toMatchObject({ status: 200, calls: 1 });
  });

  it('refuses what may cost more in the tier that is asked for', async () => {
    const target = { override_params: { model: 'gpt-5.1' } };
    const most = (await estimate({ provider: 'openai', ...target })).targets[0]?.cost_usd.high ?? 0;
    const maxCost = (most * 1.5).toFixed(9);
    expect(await asked(maxCost, target)).toMatchObject({ status: 200 });
    const priority = { body: { ...body, service_tier: 'priority' } };
    expect(await asked(maxCost, target, priority)).toMatchObject({
      status: 412,
      code: 'limit.max_cost',
      calls: 0,
    });
  });

  it('lets another target have it', async () => {
    const upstream = await trial.upstream('vendor', json(200, chatReply));
    const dear = upstream.target({ override_params: { model: 'gpt-4o' } });
    const { answer } = await trial.ask({
      config: { strategy: { mode: 'fallback' }, targets: [dear, upstream.target()] },
      body,
      headers: { 'x-service-max-cost': '0.0002' },
    });
    expect(answer.status).toBe(200);
    expect(answer.own('last-used-option-index')).toBe('config.targets[1]');
  });

  it('holds for all calls of a request together', async () => {
    const makeSlow = () => trial.upstream('slow', slowHeaders(3_000, json(200, chatReply)));
    const last = await trial.upstream('last', json(200, chatReply));
    const retry = { attempts: 2, on_status_codes: [408] };
    // A call that takes too long is charged its prompt.
    const { targets } = await estimate((await makeSlow()).target());
    const { low, high } = targets[0]?.cost_usd ?? {};
    if (low == null || high == null) throw new Error('a price is known');
    const ask = async (maxCost: number) => {
      const slow = await makeSlow();
      const config = {
        strategy: { mode: 'fallback' },
        targets: [slow.target({ request_timeout: 700, retry }), last.target()],
      };
      const headers = { 'x-service-max-cost': maxCost.toFixed(9) };
      const { answer } = await trial.ask({ config, body, headers });
      return [answer.status, slow.requests.length];
    };
    // Side by side: a try is a second or two after the one before.
    const asked = [3.5, 2.5, 1.5, 0.5].map((calls) => ask(high + calls * low));
    expect(await Promise.all(asked)).toEqual([
      [200, 3],
      [412, 3],
      [412, 2],
      [412, 1],
    ]);
  });

  it.each(['0', '-1', 'free', '1e3', '0.0000000001'])('takes no %s', async (value) => {
    expect(await asked(value)).toEqual({ status: 400, code: 'request.invalid_header', calls: 0 });
  });
});
