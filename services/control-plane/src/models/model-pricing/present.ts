import type { AnswerOf } from '@sluice/contracts/admin';
import type { Rates, TokenRates, UnitRates } from '@sluice/pricing';

type Prices = AnswerOf<'model-pricing.read'>;
type TokenPrices = NonNullable<Prices['context_tiers']>[number];
type Formula = NonNullable<Prices['calculate']>['request'];

const unitNames: Readonly<Record<keyof UnitRates, string>> = {
  searchUnits: 'search_unit',
  pages: 'page',
  annotatedPages: 'annotated_page',
  audioSeconds: 'audio_second',
  characters: 'character',
};

/** Rates in the published form. Only the first context tier has a place there; further ones follow it. */
export function presentPrices(rates: Rates): Prices {
  const [base, ...further] = rates.tiers;
  const prices = base === undefined ? {} : tokenPrices(base);
  const units = {
    ...prices.additional_units,
    ...(rates.requestNanoUsd === 0 ? {} : { request: price(rates.requestNanoUsd) }),
    ...unitPrices(rates.units ?? {}),
  };
  return {
    pay_as_you_go: {
      ...prices,
      ...(Object.keys(units).length === 0 ? {} : { additional_units: units }),
    },
    ...(base === undefined ? {} : { calculate: formulas(prices) }),
    currency: 'USD',
    ...(further.length === 0
      ? {}
      : {
          context_tiers: further.map((tier) => ({
            above_input_tokens: tier.aboveInputTokens,
            ...tokenPrices(tier),
          })),
        }),
  };
}

/** What costs the same as plain input or output has no price of its own. */
function tokenPrices(rates: TokenRates): Omit<TokenPrices, 'above_input_tokens'> {
  const { input, output, inputImage, reasoning } = rates;
  return {
    request_token: price(input),
    response_token: price(output),
    ...(rates.cacheWrite === input ? {} : { cache_write_input_token: price(rates.cacheWrite) }),
    ...(rates.cacheRead === input ? {} : { cache_read_input_token: price(rates.cacheRead) }),
    ...(rates.inputAudio === input ? {} : { request_audio_token: price(rates.inputAudio) }),
    ...(rates.outputAudio === output ? {} : { response_audio_token: price(rates.outputAudio) }),
    ...(inputImage === undefined ? {} : { request_image_token: price(inputImage) }),
    ...(reasoning === undefined ? {} : { reasoning_token: price(reasoning) }),
    ...(rates.cacheWrite1h === rates.cacheWrite
      ? {}
      : { additional_units: { cache_write_1h: price(rates.cacheWrite1h) } }),
  };
}

function unitPrices(rates: UnitRates): Record<string, { price: number }> {
  return Object.fromEntries(
    Object.entries(rates).map(([unit, nanoUsd]) => [
      unitNames[unit as keyof UnitRates],
      price(nanoUsd),
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

/**
 * The book lists prices, not abilities: a kind is told only where a price is of
 * something that no other kind of model is paid for.
 */
export function presentSettings(rates: Rates): AnswerOf<'model-settings.read'> {
  const { units = {} } = rates;
  const primary =
    units.searchUnits !== undefined
      ? 'rerank'
      : units.pages !== undefined
        ? 'ocr'
        : units.audioSeconds !== undefined || units.characters !== undefined
          ? 'audio'
          : undefined;
  return {
    ...(primary === undefined ? {} : { type: { primary, supported: [] } }),
    isDefault: false,
  };
}
