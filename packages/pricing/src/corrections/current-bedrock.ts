import type { TokenPrices } from '../token-prices.ts';
import type { Correction } from './correction.ts';
import { modelsDev, readOn } from './lists.ts';

type ContextTiers = NonNullable<Correction['contextTiers']>;

/** Wherever else than `global.` a model is asked: in one region, or in a part of the world. */
const regionalFactor = 1.1;

/**
 * A model at the price of its vendor's own API, as AWS charges it for `global.…`, and at more for any other name of it.
 * Claude's cache for an hour is twice the input by the general rule.
 */
function model(
  id: string,
  perMillionTokens: TokenPrices,
  contextTiers: ContextTiers = [],
): Correction[] {
  const name = `${id.replaceAll('.', String.raw`\.`)}(?:-v1)?(?::0)?$`;
  const row = { providers: ['bedrock'], source: modelsDev, readOn };
  return [
    // First: what a row lists, none behind it does.
    { ...row, models: new RegExp(`^global\\.${name}`), perMillionTokens, contextTiers },
    {
      ...row,
      models: new RegExp(`^${name}`),
      perMillionTokens: regional(perMillionTokens),
      contextTiers: contextTiers.map(({ above, perMillionTokens: tokens }) => ({
        above,
        perMillionTokens: regional(tokens),
      })),
    },
  ];
}

function regional(prices: TokenPrices): TokenPrices {
  return Object.fromEntries(
    Object.entries(prices).map(([kind, dollars]) => [kind, dollars * regionalFactor]),
  );
}

/** OpenAI's, of which a prompt above 272K tokens costs twice as much, and the answer to it one and a half times. */
function openAi(
  id: string,
  prices: Required<Pick<TokenPrices, 'input' | 'cacheRead' | 'cacheWrite' | 'output'>>,
) {
  const { input, cacheRead, cacheWrite, output } = prices;
  return model(`openai.${id}`, prices, [
    {
      above: 272_000,
      perMillionTokens: {
        input: 2 * input,
        cacheRead: 2 * cacheRead,
        cacheWrite: 2 * cacheWrite,
        output: 1.5 * output,
      },
    },
  ]);
}

/** Nova costs more in other parts of the world than in the United States, of which the catalogue's prices are. */
const nova = (names: RegExp, input: number, output: number): Correction => ({
  providers: ['bedrock'],
  models: names,
  source: modelsDev,
  readOn,
  from: '2026-09-24',
  perMillionTokens: { input, cacheRead: input / 4, cacheWrite: input, output },
});

export const currentBedrock: readonly Correction[] = [
  ...model(
    'anthropic.claude-haiku-5-5',
    { input: 0.1, cacheRead: 0.01, cacheWrite: 0.125, output: 0.5 },
    [
      {
        above: 100_000,
        perMillionTokens: { input: 0.5, cacheRead: 0.05, cacheWrite: 0.625, output: 2.5 },
      },
    ],
  ),
  ...model('anthropic.claude-fable-5-2', { input: 8, cacheRead: 0.2, cacheWrite: 10, output: 40 }),
  // Here as at Anthropic half of what it was; the later row is in force.
  ...[
    { models: /^anthropic\.claude-sonnet-5-5(?:-v1)?(?::0)?$/, cacheRead: 0.11 },
    { models: /^global\.anthropic\.claude-sonnet-5-5(?:-v1)?(?::0)?$/, cacheRead: 0.1 },
  ].map(({ models, cacheRead }) => ({
    providers: ['bedrock'],
    models,
    source: modelsDev,
    readOn,
    from: '2026-10-07',
    perMillionTokens: { cacheRead },
  })),
  ...openAi('gpt-6-sol', { input: 2, cacheRead: 0.2, cacheWrite: 2.5, output: 10 }),
  ...openAi('gpt-6-luna', { input: 0.1, cacheRead: 0.01, cacheWrite: 0.125, output: 0.5 }),
  ...openAi('gpt-6-astra', { input: 10, cacheRead: 1, cacheWrite: 12.5, output: 50 }),
  ...openAi('gpt-6.1-sol', { input: 2, cacheRead: 0.1, cacheWrite: 2.5, output: 10 }),
  ...openAi('gpt-6.1-terra', { input: 1, cacheRead: 0.05, cacheWrite: 1.25, output: 5 }),
  ...openAi('gpt-6.2-sol', { input: 2, cacheRead: 0.1, cacheWrite: 2.5, output: 10 }),
  ...openAi('gpt-6.2-astra', { input: 8, cacheRead: 0.4, cacheWrite: 10, output: 40 }),
  ...model('xai.grok-4.6', { input: 2, cacheRead: 0.5, output: 6 }),
  ...model('xai.grok-4.7', { input: 2, cacheRead: 0.5, output: 6 }),
  nova(/^apac\.amazon\.nova-lite-v1:0$/, 0.063, 0.252),
  nova(/^apac\.amazon\.nova-micro-v1:0$/, 0.037, 0.148),
  nova(/^apac\.amazon\.nova-pro-v1:0$/, 0.84, 3.36),
  nova(/^ca\.amazon\.nova-lite-v1:0$/, 0.064, 0.256),
  nova(/^eu\.amazon\.nova-lite-v1:0$/, 0.069, 0.276),
  nova(/^eu\.amazon\.nova-micro-v1:0$/, 0.04, 0.16),
  nova(/^eu\.amazon\.nova-pro-v1:0$/, 0.92, 3.68),
  nova(/^eu\.amazon\.nova-2-lite-v1:0$/, 0.374, 3.157),
  nova(/^jp\.amazon\.nova-2-lite-v1:0$/, 0.396, 3.311),
  {
    // The catalogue takes it for the first version.
    providers: ['bedrock'],
    models: /amazon\.titan-embed-text-v2/,
    source: 'https://github.com/Portkey-AI/models',
    readOn,
    from: '2026-09-24',
    perMillionTokens: { input: 0.02 },
  },
];
