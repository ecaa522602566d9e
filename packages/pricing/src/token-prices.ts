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
