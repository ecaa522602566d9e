import { setTimeout as delay } from 'node:timers/promises';
import { PriceBook } from '@sluice/pricing';
import { readModelOverrides } from '@sluice/providers';
import { describe, expect, it } from 'vitest';
import { exampleBundle, exampleExchange, refusal } from '../../test/exchange.ts';
import { PriceList } from '../money/price-list.ts';
import { listModels, tellModel } from './models.ts';
import type { ModelTellers } from './own-models.ts';
import { UpstreamModels } from './upstream-models.ts';

const models = [
  { slug: 'claude-opus-5-5', enabled: true },
  { slug: 'prod-writer', enabled: true },
  { slug: 'unheard-of', enabled: true },
];
const providers = [{ slug: 'vendor', providerId: 'anthropic', models }];

async function listed(
  overrides?: string,
  search = '',
  over: object = { providers },
  tellers: ModelTellers = {},
) {
  const bundle = exampleBundle(over as never);
  const exchange = exampleExchange({ endpoint: 'listModels', method: 'GET', bundle, search });
  const list = listModels({
    ...tellers,
    overrides: overrides === undefined ? undefined : readModelOverrides(overrides),
  });
  const reply = await list(exchange, () => {
    throw new Error('the list is our own');
  });
  if (reply.kind !== 'body') throw new Error('the list is a body');
  return JSON.parse(String(reply.body)).data as { id: string; facts?: object }[];
}

describe('GET /v1/models', () => {
  it('shows what is known of each model', async () => {
    const [opus, writer, unknown] = await listed();
    expect(opus).toMatchObject({
      id: '@vendor/claude-opus-5-5',
      facts: {
        model: 'claude-opus-5-5',
        sampling: 'default',
        effort_default: 'medium',
        thinking: { types: ['adaptive'], default: 'adaptive', display: 'omitted' },
        forced_tools: 'never',
        output_tokens_max: 128_000,
        source: expect.stringMatching(/^https:/),
      },
    });
    expect(writer).not.toHaveProperty('facts');
    expect(unknown).not.toHaveProperty('facts');
  });

  it('shows what the operator knows better', async () => {
    const file = {
      models: [{ match: 'prod-*', like: 'claude-opus-4-7', facts: { prefill: true } }],
    };
    const [, writer] = await listed(JSON.stringify(file));
    expect(writer?.facts).toMatchObject({ model: 'claude-opus-4-7', prefill: true });
  });
});

describe('what a model costs and how old it is', () => {
  it('is told where it is known', async () => {
    const named = ['gpt-4o-mini-2024-07-18', 'unheard-of-2024-02-31'];
    const rows = named.map((slug) => ({ slug, enabled: true }));
    const own = {
      providers: [{ slug: 'vendor', providerId: 'openai', provider: 'openai', models: rows }],
    };
    const prices = new PriceList(new PriceBook());
    const [mini, unknown] = await listed(undefined, '', own, { prices });
    expect(mini).toMatchObject({
      created: Date.UTC(2024, 6, 18) / 1000,
      prices: {
        currency: 'USD',
        input_per_million: 0.15,
        output_per_million: 0.6,
        layer: 'catalogue',
      },
    });
    expect(unknown).toMatchObject({ created: 0 });
    expect(unknown).not.toHaveProperty('prices');
  });
});

describe('the models of a provider of which no list of ours knows', () => {
  const over = () => ({
    bundle: exampleBundle({
      providers: [
        {
          slug: 'own',
          providerId: 'openai',
          provider: 'openai',
          customHost: 'https://models.example/v1',
          allowAllModels: true,
          models: [],
        },
      ],
    } as never),
  });
  const list = async (upstream: UpstreamModels, { bundle } = over()) => {
    const exchange = exampleExchange({ endpoint: 'listModels', method: 'GET', bundle });
    const reply = await listModels({ upstream })(exchange, () => Promise.reject(new Error('no')));
    const { data } = JSON.parse(String(reply.kind === 'body' && reply.body));
    return data.map(({ id, created }: { id: string; created: number }) => [id, created]);
  };
  const answerOf = (data: unknown) => ({
    kind: 'body' as const,
    status: 200,
    headers: {},
    body: Buffer.from(JSON.stringify({ object: 'list', data })),
  });

  it('are those that it lists, asked for once, and shown while they are asked for anew', async () => {
    const asked: string[] = [];
    let nowMs = 0;
    let data: unknown = [{ id: 'a', created: 7 }, { id: 'b', created: '7' }, { id: 8 }, null];
    const upstream = new UpstreamModels({
      async ask({ arrival }) {
        asked.push(`${arrival.method} ${arrival.caller.provider} ${Object.keys(arrival.headers)}`);
        // Later than whoever is shown what is old.
        const told = answerOf(data);
        await delay(5);
        return told;
      },
      logger: { warn() {} },
      now: () => nowMs,
    });
    const same = over();
    const both = await Promise.all([list(upstream, same), list(upstream, same)]);
    expect(both).toEqual([
      both[0],
      [
        ['@own/a', 7],
        ['@own/b', 0],
      ],
    ]);
    expect(asked).toEqual(['GET @own x-service-provider']);
    nowMs = 601_000;
    data = [{ id: 'c' }];
    expect(await list(upstream, same)).toEqual(both[0]);
    await delay(20);
    expect(await list(upstream, same)).toEqual([['@own/c', 0]]);
    nowMs = 1_300_000;
    data = 'none';
    for (let each = 0; each < 3; each += 1) {
      expect(await list(upstream, same)).toEqual([['@own/c', 0]]);
      await delay(20);
    }
    expect(asked).toHaveLength(3);
  });

  it('are those of the catalogue while it does not answer', async () => {
    const upstream = new UpstreamModels({
      ask: () => Promise.reject(new Error('away')),
      logger: { warn() {} },
    });
    expect((await list(upstream)).length).toBeGreaterThan(5);
  });
});

describe('a list of models', () => {
  const over = {
    providers: [
      { slug: 'b', provider: 'openai', models: [{ slug: 'y', enabled: true }] },
      {
        slug: 'a',
        provider: 'anthropic',
        models: [
          { slug: 'z', enabled: true },
          { slug: 'x/y', enabled: true },
          { slug: 'off', enabled: false },
        ],
      },
      { slug: 'all', provider: 'groq', allowAllModels: true, models: [] },
    ],
  };
  const ids = async (search: string) =>
    (await listed(undefined, search, over))
      .map(({ id }) => id)
      .filter((id) => !id.startsWith('@all/'));

  it.each([
    ['', ['@b/y', '@a/z', '@a/x/y']],
    ['?sort=name', ['@a/x/y', '@b/y', '@a/z']],
    ['?sort=name&order=desc', ['@a/z', '@b/y', '@a/x/y']],
    ['?sort=provider&order=asc', ['@a/x/y', '@a/z', '@b/y']],
    ['?provider=@a', ['@a/z', '@a/x/y']],
    ['?provider=a&limit=1&offset=1', ['@a/x/y']],
    ['?ai_service=openai', ['@b/y']],
    ['?provider=nobody', []],
    ['?provider=a&offset=5', []],
  ])('with "%s"', async (search, expected) => {
    expect(await ids(search)).toEqual(expected);
  });

  it.each(['limit=0', 'limit=-1', 'limit=x', 'offset=1.5', 'sort=price', 'order=up'])(
    'refuses %s',
    async (search) => {
      const field = `query.${search.split('=')[0]}`;
      expect(await refusal(() => listed(undefined, `?${search}`, over))).toEqual({
        code: 'request.invalid_field',
        field,
      });
    },
  );

  it('has the catalogue of a provider that allows all and names none', async () => {
    const all = await listed(undefined, '?provider=all', over);
    expect(all.length).toBeGreaterThan(5);
    expect(all.some((model) => 'context_tokens' in model)).toBe(true);
  });

  const told = (model: string) => {
    const exchange = exampleExchange({
      method: 'GET',
      pathname: `/v1/models/${model}`,
      bundle: exampleBundle(over as never),
    });
    return tellModel({})(exchange, () => {
      throw new Error('it is our own');
    });
  };

  it.each([
    ['@a/x/y', '@a/x/y'],
    ['@a%2Fx%2Fy', '@a/x/y'],
    ['x/y', '@a/x/y'],
    ['@all/any/thing', '@all/any/thing'],
  ])('tells %s', async (model, id) => {
    const reply = await told(model);
    expect(JSON.parse(String(reply.kind === 'body' && reply.body))).toMatchObject({ id });
  });

  it.each(['@a/off', 'off', '@a/y', '@nobody/y', 'any/thing', '@a'])('has no %s', async (model) => {
    expect(await refusal(() => told(model))).toMatchObject({ code: 'model.not_found' });
  });
});
