import type { AnswerOf } from '@sluice/contracts/admin';
import {
  type ImagePrices,
  type Rates,
  type TokenRates,
  type UnitRates,
  unitKeys,
  videoUnitOf,
} from '@sluice/pricing';
import type { PricedModel } from './price-model.ts';

type Prices = AnswerOf<'model-pricing.read'>;
type TokenPrices = NonNullable<Prices['context_tiers']>[number];
type Formula = NonNullable<Prices['calculate']>['request'];

/** Rates in the published form. Only the first context tier has a place there; further ones follow it. */
export function presentPrices({ rates, layer, tiers, regions }: PricedModel): Prices {
  const [base] = rates.tiers;
  const prices = base === undefined ? {} : tokenPrices(base);
  const units = {
    ...prices.additional_units,
    ...(rates.requestNanoUsd === 0 ? {} : { request: price(rates.requestNanoUsd) }),
    ...searchContexts(rates),
    ...unitPrices(rates.units ?? {}),
    ...videoPrices(rates),
  };
  const batch = tiers.get('batch')?.tiers[0];
  return {
    pay_as_you_go: {
      ...prices,
      ...(Object.keys(units).length === 0 ? {} : { additional_units: units }),
      ...(rates.images === undefined ? {} : { image: imagePrices(rates.images) }),
    },
    ...(base === undefined ? {} : { calculate: formulas(prices) }),
    currency: 'USD',
    ...(batch === undefined ? {} : { batch_config: batchPrices(batch) }),
    ...contextTiers(rates),
    price_layer: layer,
    price_book_version: rates.version,
    ...(tiers.size === 0 || base === undefined ? {} : { service_tiers: tierPrices(tiers) }),
    ...(regions.length === 0
      ? {}
      : {
          regions: regions.map((region) => ({
            regions: [...region.names],
            service_tiers: tierPrices(region.tiers),
          })),
        }),
  };
}

function tierPrices(tiers: ReadonlyMap<string, Rates>): NonNullable<Prices['service_tiers']> {
  return Object.fromEntries(
    [...tiers].flatMap(([tier, rates]) => {
      const [base] = rates.tiers;
      return base === undefined ? [] : [[tier, { ...tokenPrices(base), ...contextTiers(rates) }]];
    }),
  );
}

function contextTiers({ tiers }: Rates): Pick<Prices, 'context_tiers'> {
  const [, ...further] = tiers;
  if (further.length === 0) return {};
  return {
    context_tiers: further.map((tier) => ({
      above_input_tokens: tier.aboveInputTokens,
      ...tokenPrices(tier),
    })),
  };
}

function batchPrices(rates: TokenRates): NonNullable<Prices['batch_config']> {
  const { request_token, response_token, cache_read_input_token, cache_write_input_token } =
    tokenPrices(rates);
  return {
    request_token,
    response_token,
    ...(cache_read_input_token && { cache_read_input_token }),
    ...(cache_write_input_token && { cache_write_input_token }),
  };
}

/** What costs the same as plain input or output has no price of its own. */
function tokenPrices(rates: TokenRates): Omit<TokenPrices, 'above_input_tokens'> {
  const { input, output, inputImage, outputImage, cacheReadImage, reasoning } = rates;
  return {
    request_token: price(input),
    response_token: price(output),
    ...(rates.cacheWrite === input ? {} : { cache_write_input_token: price(rates.cacheWrite) }),
    ...(rates.cacheRead === input ? {} : { cache_read_input_token: price(rates.cacheRead) }),
    ...(rates.inputAudio === input ? {} : { request_audio_token: price(rates.inputAudio) }),
    ...(rates.outputAudio === output ? {} : { response_audio_token: price(rates.outputAudio) }),
    ...(rates.cacheReadAudio === rates.cacheRead || rates.cacheReadAudio === input
      ? {}
      : { cache_read_audio_input_token: price(rates.cacheReadAudio) }),
    ...(inputImage === undefined ? {} : { request_image_token: price(inputImage) }),
    ...(outputImage === undefined ? {} : { response_image_token: price(outputImage) }),
    ...(cacheReadImage === undefined
      ? {}
      : { cache_read_image_input_token: price(cacheReadImage) }),
    ...(reasoning === undefined ? {} : { reasoning_token: price(reasoning) }),
    ...(rates.cacheWrite1h === rates.cacheWrite
      ? {}
      : { additional_units: { cache_write_1h: price(rates.cacheWrite1h) } }),
  };
}

function unitPrices(rates: UnitRates): Record<string, { price: number }> {
  return Object.fromEntries(
    Object.entries(rates).map(([unit, nanoUsd]) => [
      unitKeys[unit as keyof UnitRates][0] ?? unit,
      price(nanoUsd),
    ]),
  );
}

function searchContexts({ searchContexts: fees = {} }: Rates): Record<string, { price: number }> {
  return Object.fromEntries(
    Object.entries(fees).map(([size, nanoUsd]) => [`web_search_${size}_context`, price(nanoUsd)]),
  );
}

function videoPrices({ videos = {} }: Rates): Record<string, { price: number }> {
  return Object.fromEntries(
    Object.entries(videos).map(([size, nanoUsd]) => [videoUnitOf(size), price(nanoUsd)]),
  );
}

function imagePrices(images: ImagePrices): NonNullable<Prices['pay_as_you_go']['image']> {
  return Object.fromEntries(
    Object.entries(images).map(([quality, sizes]) => [
      quality,
      Object.fromEntries(Object.entries(sizes).map(([size, nanoUsd]) => [size, price(nanoUsd)])),
    ]),
  );
}

/** Nano-dollars to cents, without what binary fractions add. */
function price(nanoUsd: number): { price: number } {
  return { price: Number((nanoUsd / 1e7).toPrecision(12)) };
}

/** Counts beside the prices they are multiplied with; each token is counted once. */
const countedInput = {
  input_tokens: 'request_token',
  cache_write_tokens: 'cache_write_input_token',
  cache_read_tokens: 'cache_read_input_token',
  audio_input_tokens: 'request_audio_token',
} as const;
const countedOutput = {
  output_tokens: 'response_token',
  audio_output_tokens: 'response_audio_token',
} as const;

function formulas(prices: object): { request: Formula; response: Formula } {
  const sum = (counted: Readonly<Record<string, string>>): Formula => ({
    operation: 'sum',
    operands: Object.entries(counted)
      .filter(([, name]) => name in prices)
      .map(([count, name]) => ({
        operation: 'multiply',
        operands: [{ value: count }, { value: `rates.${name}` }],
      })),
  });
  return { request: sum(countedInput), response: sum(countedOutput) };
}
