import { noUsage } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { costOfReply } from './cost.ts';
import { noPrices } from './listed-model.ts';
import { PriceFault, readPriceFile } from './open-format.ts';
import { ratesOf } from './rates.ts';

const ofFile = { layer: 'file', version: '1', isClaude: false, multipliers: undefined } as const;

const entry = (payAsYouGo: unknown, more: object = {}) => ({
  m: { pricing_config: { pay_as_you_go: payAsYouGo }, ...more },
});

describe('readPriceFile', () => {
  it.each([
    ['$', []],
    ['$.m', { m: 7 }],
    ['$.m.pricing_config', { m: { pricing_config: 'free' } }],
    ['$.m.pricing_config.pay_as_you_go.request_token', entry({ request_token: 0.1 })],
    [
      '$.m.pricing_config.pay_as_you_go.request_token.price',
      entry({ request_token: { price: '1' } }),
    ],
    [
      '$.m.pricing_config.pay_as_you_go.response_token.price',
      entry({ response_token: { price: -1 } }),
    ],
    [
      '$.m.pricing_config.pay_as_you_go.request_token.price',
      entry({ request_token: { price: 1e9 } }),
    ],
    [
      '$.m.pricing_config.pay_as_you_go.additional_units.odd',
      entry({ additional_units: { odd: 1 } }),
    ],
    [
      '$.m.pricing_config.pay_as_you_go.image.hd.1x1.price',
      entry({ image: { hd: { '1x1': { price: 'x' } } } }),
    ],
    ['$.m.pricing_config.currency', { m: { pricing_config: { currency: 'EUR' } } }],
    [
      '$.m.custom_pricing.context_tier_map.long',
      entry({}, { custom_pricing: { context_tier_map: { long: 'x' } } }),
    ],
    [
      '$.m.custom_pricing.regions.default.execution_modes.standard.context_tiers.odd',
      entry(
        {},
        {
          custom_pricing: {
            regions: { default: { execution_modes: { standard: { context_tiers: { odd: {} } } } } },
          },
        },
      ),
    ],
    ...[
      { 0: 'short', 200: 'short' },
      { 200: 'long', '2e2': 'longer' },
    ].map((context_tier_map): [string, object] => [
      `$.m.custom_pricing.context_tier_map.${Object.keys(context_tier_map)[1]}`,
      entry({}, { custom_pricing: { context_tier_map } }),
    ]),
    // A model within another: a slip of whoever wrote the file.
    [
      '$.m.pricing_config.pay_as_you_go.image.other.pricing_config',
      entry({ image: { other: { pricing_config: [] } } }),
    ],
  ])('tells of a fault at %s', (path, document) => {
    expect(() => readAll(document)).toThrow(PriceFault);
    expect(() => readAll(document)).toThrow(`${path}: `);
  });

  it.each<[string, object, object]>([
    [
      'a picture',
      { image: { hd: { '1x1': { price: null } } } },
      { images: 1, imageQuality: 'hd', imageSize: '1x1' },
    ],
    [
      'a second of video',
      { additional_units: { video_seconds: { price: null } } },
      { videoSeconds: 5 },
    ],
    [
      'a search of the web',
      { additional_units: { web_search_low_context: {} } },
      { webSearches: 1, searchContext: 'low' },
    ],
  ])(
    'takes %s without a price for one whose price nobody knows, not for a free one',
    (_, prices, units) => {
      const model = readAll(entry(prices)).get('m');
      const rates = model && ratesOf(model.standard, ofFile);
      expect(rates && costOfReply(rates, undefined, units)).toBeUndefined();
      const fee = { request_token: { price: 1 }, additional_units: { request: { price: 1 } } };
      const both = {
        ...fee,
        ...prices,
        additional_units: { ...fee.additional_units, ...Object(prices).additional_units },
      };
      const withFee = ratesOf(readAll(entry(both)).get('m')?.standard ?? noPrices, ofFile);
      expect(withFee && costOfReply(withFee, noUsage, units)?.totalNanoUsd).toBe(1e7);
    },
  );

  it('reads a file without what has no price, in as many steps as it has models', () => {
    const reading = readPriceFile({ default: {}, a: {}, b: { pricing_config: {} } });
    expect([reading.next().value, reading.next().value, reading.next().value]).toEqual([
      'default',
      'a',
      'b',
    ]);
    expect([...readAll({ default: {}, a: {} }).keys()]).toEqual(['a']);
  });
});

function readAll(document: unknown) {
  const reading = readPriceFile(document);
  let step = reading.next();
  while (!step.done) step = reading.next();
  return step.value.models;
}
