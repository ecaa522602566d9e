import { readModelOverrides } from '@sluice/providers';
import { describe, expect, it } from 'vitest';
import { exampleBundle, exampleExchange, refusal } from '../../test/exchange.ts';
import { listModels, tellModel } from './models.ts';

const models = [
  { slug: 'claude-opus-5-5', enabled: true },
  { slug: 'prod-writer', enabled: true },
  { slug: 'unheard-of', enabled: true },
];
const providers = [{ slug: 'vendor', providerId: 'anthropic', models }];

async function listed(overrides?: string, search = '', over: object = { providers }) {
  const bundle = exampleBundle(over as never);
  const exchange = exampleExchange({ endpoint: 'listModels', method: 'GET', bundle, search });
  const list = listModels(overrides === undefined ? undefined : readModelOverrides(overrides));
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
    return tellModel(undefined)(exchange, () => {
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
