import { describe, expect, it } from 'vitest';
import { priceMultipliers } from './price-multipliers.ts';

describe('priceMultipliers', () => {
  it('names units and images by their place, in one order, and leaves out what inherits', () => {
    const multiplier = {
      request_token: 2,
      response_token: null,
      additional_units: { web_search: 0, file_search: null },
      image: { default: 3 },
      default: 1.5,
    };
    expect(Object.entries(priceMultipliers({ multiplier }))).toEqual([
      ['additional_units.web_search', 0],
      ['default', 1.5],
      ['image.default', 3],
      ['request_token', 2],
    ]);
    for (const none of [null, undefined, {}, { multiplier: null }, { multiplier: { image: null } }])
      expect(priceMultipliers(none)).toEqual({});
  });
});
