import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { config } from '@sluice/proto-stubs';
import { describe, expect, it } from 'vitest';
import { compilePrices } from './compile-prices.ts';

const model = (fields: MessageInitShape<typeof config.ModelSchema>) =>
  create(config.ModelSchema, { slug: 'm', enabled: true, ...fields });

describe('compilePrices', () => {
  it('reads every price of a document, and names its state', () => {
    const pricesJson = '{"pay_as_you_go":{"reasoning_token":{"price":0.002}}}';
    const prices = compilePrices([model({ pricesJson })]).get('m');
    expect(prices?.model.standard.tokens).toEqual({ reasoning: 20_000 });
    expect(prices?.version).toMatch(/^custom@[0-9a-f]{12}$/);
    const other = compilePrices([model({ pricesJson: pricesJson.replace('2', '3') })]).get('m');
    expect(other?.version).not.toBe(prices?.version);
  });

  it('reads the two prices of a control plane of the release before', () => {
    const prices = compilePrices([
      model({ requestTokenPrice: '0.00025', responseTokenPrice: '0' }),
    ]).get('m');
    expect(prices?.model.standard.tokens).toEqual({ input: 2500, output: 0 });
  });

  it.each(['{', '[]', '{"pay_as_you_go":{"request_token":{"price":-1}}}', '7'])(
    'sets nothing by %s',
    (pricesJson) => {
      expect(compilePrices([model({ pricesJson })]).size).toBe(0);
    },
  );

  it('sets nothing where nothing is set', () => {
    expect(compilePrices([model({})]).size).toBe(0);
  });
});
