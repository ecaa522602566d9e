import type { TokenPrices } from '../token-prices.ts';
import type { Correction } from './correction.ts';
import { modelsDev, readOn } from './lists.ts';

const row = (models: RegExp, perMillionTokens: TokenPrices): Correction => ({
  providers: ['mistral-ai'],
  models,
  source: modelsDev,
  readOn,
  perMillionTokens,
});

/** What is read from a cache costs a tenth: https://docs.mistral.ai/studio-api/conversations/advanced/prompt-caching */
export const currentMistral: readonly Correction[] = [
  // Names that move: the catalogue has what they meant before.
  {
    ...row(/^mistral-large-latest$/, { input: 0.7, cacheRead: 0.07, output: 2.1 }),
    from: '2026-10-06',
  },
  {
    ...row(/^mistral-small-latest$/, { input: 0.15, cacheRead: 0.015, output: 0.6 }),
    from: '2026-09-24',
  },
  row(/^devstral-(?:medium-)?latest$/, { input: 0.4, cacheRead: 0.04, output: 2 }),
  row(/^ministral-3b-latest$/, { input: 0.1, cacheRead: 0.01, output: 0.1 }),
  row(/^mistral-medium-2604$/, { input: 1.5, cacheRead: 0.15, output: 7.5 }),
  row(/^mistral-small-2506$/, { input: 0.1, cacheRead: 0.01, output: 0.3 }),
  row(/^codestral-latest$/, { input: 0.3, cacheRead: 0.03, output: 0.9 }),
  row(/^magistral-medium-latest$/, { input: 2, cacheRead: 0.2, output: 5 }),
  row(/^open-mistral-nemo$/, { input: 0.15, cacheRead: 0.015, output: 0.15 }),
];
