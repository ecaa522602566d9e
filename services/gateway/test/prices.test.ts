import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { usage } from '@sluice/proto-stubs';
import { eventually, json, temporaryFolder } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Lab, startLab, type Trial } from './lab.ts';
import { chatBody, chatReply } from './scenario.ts';

let lab: Lab;
let trial: Trial;
/** In cents a token: the operator's price of a model that no catalogue knows. */
const writePrice = (price: number) =>
  writeFileSync(
    join(priceFiles, 'openai.json'),
    JSON.stringify({
      'our-own': { pricing_config: { pay_as_you_go: { request_token: { price } } } },
    }),
  );
let priceFiles: string;
beforeAll(async () => {
  priceFiles = await temporaryFolder('prices');
  writePrice(0.0001);
  const environment = { PRICE_FILES_DIR: priceFiles };
  lab = await startLab({ environment: { gateway: environment, 'control-plane': environment } });
});
afterAll(() => lab.stop());
afterEach(() => trial.close());

const counted = { prompt_tokens: 1000, completion_tokens: 500, total_tokens: 1500 };

/** Asks once at an upstream that gives this reply, and returns the record of it. */
async function recordOf(
  reply: object,
  { path = '/v1/chat/completions', body = chatBody as object, over = {} as object } = {},
): Promise<usage.UsageRecord> {
  trial = lab.trial();
  const upstream = await trial.upstream('a', json(200, reply));
  const asked = await trial.ask({ path, body, config: upstream.target(over), records: 1 });
  expect(asked.answer.status).toBe(200);
  return asked.rawRecords[0]!;
}

const askOwn = () =>
  recordOf(
    { ...chatReply, model: 'our-own', usage: counted },
    { body: { ...chatBody, model: 'our-own' } },
  );

describe('the operator’s price files', () => {
  it('are charged by, and shown', async () => {
    expect(await askOwn()).toMatchObject({ priceLayer: 'file', costNanoUsd: 1_000_000n });
    const { gatewayUrls } = lab.scenario.stack;
    const shown = await fetch(`${gatewayUrls[0]}/model-configs/pricing/openai/our-own`);
    expect(await shown.json()).toMatchObject({
      pay_as_you_go: { request_token: { price: 0.0001 } },
      price_layer: 'file',
      price_book_version: expect.stringMatching(/^files@[0-9a-f]{12}$/),
    });
    // Looked for from time to time: the last test of the file sees it.
    writePrice(0.0002);
  });
});

describe('the price of an attempt', () => {
  it('is that of the tier that served it, not of the one that was asked for', async () => {
    const body = { ...chatBody, model: 'gpt-5.1', service_tier: 'priority' };
    const reply = { ...chatReply, model: 'gpt-5.1-2025-11-13', usage: counted };
    expect(await recordOf({ ...reply, service_tier: 'flex' }, { body })).toMatchObject({
      serviceTier: 'flex',
      costKnown: true,
      costNanoUsd: BigInt((1000 * 1250 + 500 * 10_000) / 2),
      priceLayer: 'catalogue',
      priceBookVersion: expect.stringMatching(/^genai-prices@.*\+/),
    });
    expect(await recordOf({ ...reply, service_tier: 'default' }, { body })).toMatchObject({
      serviceTier: 'standard',
      costNanoUsd: BigInt(1000 * 1250 + 500 * 10_000),
    });
  });

  it('is known to be none of an answer of the cache, and of what only looks', async () => {
    trial = lab.trial();
    const upstream = await trial.upstream('a', json(200, { ...chatReply, usage: counted }));
    const config = { ...upstream.target(), cache: { mode: 'simple' } };
    const body = { ...chatBody, messages: [{ role: 'user', content: 'Twice' }] };
    const [first] = (await trial.ask({ body, config, records: 1 })).rawRecords;
    expect(first).toMatchObject({ costKnown: true, cacheStatus: 'MISS' });
    const [hit] = (await trial.ask({ body, config, records: 1 })).rawRecords;
    expect(hit).toMatchObject({ costKnown: true, costNanoUsd: 0n, cacheStatus: 'HIT' });
    const look = { method: 'GET', path: '/v1/files/file-1', config: upstream.target(), records: 1 };
    const [looked] = (await trial.ask(look)).rawRecords;
    expect(looked).toMatchObject({ statusCode: 200, costKnown: true, costNanoUsd: 0n });
  });

  it('is known to be none of moderation, whatever a request may cost, and of what is deleted', async () => {
    trial = lab.trial();
    const upstream = await trial.upstream('a', json(200, { id: 'modr-1', results: [] }));
    const config = upstream.target();
    const headers = { 'x-service-max-cost': '0.0001' };
    const body = { model: 'omni-moderation-latest', input: 'Hello' };
    for (const asked of [
      { path: '/v1/moderations', body, config, headers },
      { path: '/v1/proxy/v1/moderations', body, config, headers },
      { method: 'DELETE', path: '/v1/files/file-1', config },
    ]) {
      const { answer, rawRecords } = await trial.ask({ ...asked, records: 1 });
      expect([asked.path, answer.status]).toEqual([asked.path, 200]);
      expect(rawRecords[0]).toMatchObject({ costKnown: true, costNanoUsd: 0n });
    }
  });

  it('is known to be none of what was refused, failed before it was sent, or met an error', async () => {
    trial = lab.trial();
    const of = async (asked: Parameters<Trial['ask']>[0]) => {
      const [record] = (await trial.ask({ body: chatBody, ...asked, records: 1 })).rawRecords;
      const { statusCode, costKnown, costNanoUsd } = record as NonNullable<typeof record>;
      return [statusCode, costKnown, costNanoUsd];
    };
    const refusing = await trial.upstream('refuses', json(429, { error: { message: 'slowly' } }));
    expect(await of({ config: refusing.target() })).toEqual([429, true, 0n]);
    // Nobody is called.
    const headers = { 'x-service-max-cost': '0.000000001' };
    expect(await of({ config: refusing.target(), headers })).toEqual([412, true, 0n]);
    await refusing.close();
    expect(await of({ config: refusing.target() })).toEqual([503, true, 0n]);
  });

  it('takes in searches, and keeps what the provider says it cost beside ours', async () => {
    const reply = {
      ...chatReply,
      model: 'grok-4',
      usage: {
        ...counted,
        server_side_tool_usage_details: { web_search_calls: 2, x_search_calls: 1 },
        cost_in_usd_ticks: 12_345_678_900,
      },
    };
    const record = await recordOf(reply, {
      over: { provider: 'x-ai' },
      body: { ...chatBody, model: 'grok-4' },
    });
    expect(record).toMatchObject({
      units: { web_search: 2n, x_search: 1n },
      costNanoUsd: BigInt(1000 * 3000 + 500 * 15_000 + 3 * 5_000_000),
      providerCostKnown: true,
      providerCostNanoUsd: 1_234_567_890n,
    });
  });

  it('counts images by quality and size', async () => {
    const record = await recordOf(
      { created: 1, data: [{ url: 'https://x/1' }, { url: 'https://x/2' }] },
      {
        path: '/v1/images/generations',
        body: { model: 'dall-e-3', prompt: 'x', n: 2, quality: 'hd', size: '1024x1024' },
      },
    );
    expect(record).toMatchObject({
      images: 2n,
      imagesByKind: { 'hd.1024x1024': 2n },
      costNanoUsd: 160_000_000n,
    });
  });

  it('is unknown where nobody has one, and not zero', async () => {
    const reply = { ...chatReply, model: 'nobody-knows', usage: counted };
    const record = await recordOf(reply, { body: { ...chatBody, model: 'nobody-knows' } });
    expect(record).toMatchObject({ costKnown: false, costNanoUsd: 0n, priceLayer: '' });
  });
});

describe('what administrators say of prices', () => {
  it('is charged at once: their prices of a model, and their multipliers', async () => {
    trial = lab.trial();
    const reply = {
      ...chatReply,
      model: 'gpt-5.1',
      usage: { ...counted, completion_tokens_details: { reasoning_tokens: 200 } },
    };
    const upstream = await trial.upstream('a', json(200, reply));
    const provider = await lab.saveProvider({
      aiProviderId: 'openai',
      key: 'sk',
      customHost: `${upstream.url}/v1`,
    });
    const integration = `/integrations/${provider.slice(1)}`;
    const ask = async () => {
      const asked = await trial.ask({
        headers: { 'x-service-provider': provider },
        body: { ...chatBody, model: 'gpt-5.1' },
        records: 1,
      });
      return asked.rawRecords[0];
    };
    expect(await ask()).toMatchObject({ costNanoUsd: 6_250_000n, priceMultiplier: 0 });

    await lab.manage('PUT', integration, {
      pricing_adjustments: { multiplier: { default: 2, response_token: 1 } },
    });
    expect(await ask()).toMatchObject({
      // Reasoning has no price of its own here: it is charged as output, by output's factor.
      costNanoUsd: 2n * 1_250_000n + 3_000_000n + 2_000_000n,
      priceMultiplier: 7.5 / 6.25,
    });

    await lab.manage('PUT', `${integration}/models`, {
      models: [
        {
          slug: 'gpt-5.1',
          enabled: true,
          pricing_config: {
            pay_as_you_go: {
              request_token: { price: 0.0001 },
              response_token: { price: 0.0002 },
              reasoning_token: { price: 0.0004 },
            },
          },
        },
      ],
    });
    expect(await ask()).toMatchObject({
      priceLayer: 'custom',
      priceBookVersion: expect.stringMatching(/^custom@/),
      costNanoUsd: 2n * 1000n * 1000n + 300n * 2000n + 2n * 200n * 4000n,
    });
  });

  it('is checked when it is said', async () => {
    trial = lab.trial();
    const provider = await lab.saveProvider({
      aiProviderId: 'openai',
      key: 'sk',
      customHost: 'https://api.openai.com/v1',
    });
    const change = lab.manage('PUT', `/integrations/${provider.slice(1)}/models`, {
      models: [
        {
          slug: 'm',
          enabled: true,
          pricing_config: { pay_as_you_go: { request_token: { price: 1e6 } } },
        },
      ],
    });
    await expect(change).rejects.toThrow(
      'body.models[0].pricing_config.pay_as_you_go.request_token.price',
    );
  });
});

describe('the operator’s price files that have changed', () => {
  it('are charged by anew', async () => {
    await eventually(
      async () => expect(await askOwn()).toMatchObject({ costNanoUsd: 2_000_000n }),
      { intervalMs: 2000 },
    );
  });
});
