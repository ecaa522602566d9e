/**
 * Kinds of tokens that may have a price of their own. Each but the first two is
 * a part of the input or the output.
 */
export const tokenKinds = [
  'input',
  'output',
  'cacheRead',
  'cacheWrite',
  'cacheWrite1h',
  'cacheReadAudio',
  'cacheReadImage',
  'inputAudio',
  'inputImage',
  'inputVideo',
  'outputAudio',
  'outputImage',
  'outputVideo',
  'reasoning',
  'citation',
] as const;

export type TokenKind = (typeof tokenKinds)[number];

/** Nano-dollars per token, fractional, since a token may cost less than one; what is not listed is absent. */
export type TokenPrices = { readonly [Kind in TokenKind]?: number };

export function isInputKind(kind: TokenKind): boolean {
  return kind === 'input' || kind.startsWith('input') || kind.startsWith('cache');
}

/** Prices with those of another list for a side, input or output, of which they do not say what a plain token costs. */
export function withSides(prices: TokenPrices, rest: TokenPrices): TokenPrices {
  return { ...unsaidSides(prices, rest), ...prices };
}

/** Of another list the kinds of the sides that prices leave out. */
export function unsaidSides(prices: TokenPrices, rest: TokenPrices): TokenPrices {
  const kept = Object.entries(rest).filter(
    ([kind]) => prices[isInputKind(kind as TokenKind) ? 'input' : 'output'] === undefined,
  );
  return Object.fromEntries(kept);
}
