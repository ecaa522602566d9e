import { readModelOverrides } from '@sluice/providers';
import { describe, expect, it } from 'vitest';
import { exampleBundle, exampleExchange } from '../../test/exchange.ts';
import { listModels } from './models.ts';

const models = [
  { slug: 'claude-opus-5-5', enabled: true },
  { slug: 'prod-writer', enabled: true },
  { slug: 'unheard-of', enabled: true },
];
const providers = [{ slug: 'vendor', providerId: 'anthropic', models }];

async function listed(overrides?: string) {
  const bundle = exampleBundle({ providers } as never);
  const exchange = exampleExchange({ endpoint: 'listModels', method: 'GET', bundle });
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
