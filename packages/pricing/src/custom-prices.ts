import {
  type ListedModel,
  type ListedPrices,
  withRestOfImages,
  withRestOfSizes,
} from './listed-model.ts';
import { PriceFault, readEntry } from './open-format.ts';
import { type TokenKind, type TokenPrices, withSides } from './token-prices.ts';

/** What an administrator set for a model. */
export interface CustomPrices {
  readonly model: ListedModel;
  /** Names the state of it. */
  readonly version: string;
}

/**
 * Reads a `pricing_config` as administrators enter it: `pay_as_you_go`,
 * `batch_config`, and `custom_pricing` beside them.
 * @throws PriceFault with the path of the first fault
 */
export function readCustomPrices(document: unknown, version: string): CustomPrices {
  if (typeof document !== 'object' || document === null || Array.isArray(document))
    throw new PriceFault('pricing_config', 'must be an object');
  const { custom_pricing: dimensions, ...config } = document as Record<string, unknown>;
  return {
    model: readEntry({ pricing_config: config, custom_pricing: dimensions }, 'pricing_config'),
    version,
  };
}

/**
 * The administrator's prices over the listed ones. A price of plain input stands
 * for every kind of input that has none beside it, whatever the list says of that
 * kind; the same for output. A side without one keeps the listed prices, as do
 * images and videos for which nothing stands, their `default` included.
 */
export function overlaid(custom: ListedPrices, listed: ListedPrices): ListedPrices {
  const setsInput = custom.tokens.input !== undefined;
  return {
    tokens: overlaidTokens(custom.tokens, listed.tokens),
    units: { ...listed.units, ...custom.units },
    images: withRestOfImages(custom.images, listed.images),
    videos: withRestOfSizes(custom.videos, listed.videos),
    // A fee that a list has belongs to its prices.
    requestNanoUsd: custom.requestNanoUsd ?? (setsInput ? 0 : listed.requestNanoUsd),
    searchContexts: custom.searchContexts ?? (setsInput ? undefined : listed.searchContexts),
    contextTiers:
      custom.contextTiers.length > 0
        ? custom.contextTiers
        : listed.contextTiers.map(({ aboveInputTokens, tokens }) => ({
            aboveInputTokens,
            tokens: overlaidTokens(custom.tokens, { ...listed.tokens, ...tokens }),
          })),
  };
}

function overlaidTokens(custom: TokenPrices, listed: TokenPrices): TokenPrices {
  const set: Partial<Record<TokenKind, number>> = { ...custom };
  // Twice the price for an hour is Anthropic's rule about its own prices.
  if (custom.input !== undefined) set.cacheWrite1h ??= custom.cacheWrite ?? custom.input;
  return withSides(set, listed);
}
