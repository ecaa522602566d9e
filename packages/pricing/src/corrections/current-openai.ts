import type { TokenPrices } from '../token-prices.ts';
import type { Correction } from './correction.ts';
import { announced, gatewayModel, modelsDev, readOn } from './lists.ts';

const oneApi = 'https://github.com/Laisky/one-api';
const openAiModel = (id: string) => `https://developers.openai.com/api/docs/models/${id}`;

type GptPrices = Required<Pick<TokenPrices, 'input' | 'cacheRead' | 'cacheWrite' | 'output'>>;

/** With more than 272K tokens of input that and its caches cost twice, and output half as much again. */
function gpt(prices: GptPrices): Pick<Correction, 'perMillionTokens' | 'contextTiers'> {
  const { input, cacheRead, cacheWrite, output } = prices;
  const long = {
    input: 2 * input,
    cacheRead: 2 * cacheRead,
    cacheWrite: 2 * cacheWrite,
    output: 1.5 * output,
  };
  return {
    perMillionTokens: prices,
    contextTiers: [{ above: 272_000, perMillionTokens: long }],
  };
}

const sol = gpt({ input: 2, cacheRead: 0.1, cacheWrite: 2.5, output: 10 });
const fastMode = { priority: 2, fast: 2 };

export const currentOpenAi: readonly Correction[] = [
  {
    providers: ['openai'],
    models: /^gpt-6\.1-sol$/,
    source: openAiModel('gpt-6.1-sol'),
    readOn,
    ...sol,
    tiers: fastMode,
  },
  {
    providers: ['openai'],
    models: /^gpt-6\.1-terra$/,
    source: openAiModel('gpt-6.1-terra'),
    readOn,
    ...gpt({ input: 1, cacheRead: 0.05, cacheWrite: 1.25, output: 5 }),
    tiers: fastMode,
  },
  {
    providers: ['openai'],
    models: /^gpt-6\.2-sol$/,
    source: openAiModel('gpt-6.2-sol'),
    readOn,
    ...sol,
    tiers: fastMode,
  },
  {
    providers: ['openai'],
    models: /^gpt-6\.2-sol$/,
    source: openAiModel('gpt-6.2-sol'),
    readOn,
    until: '2027-03-01',
    tiers: { ultrafast: 3 },
  },
  {
    providers: ['openai'],
    models: /^gpt-6\.2-sol$/,
    source: openAiModel('gpt-6.2-sol'),
    readOn,
    from: '2027-03-01',
    tiers: { ultrafast: 6 },
  },
  {
    providers: ['openai'],
    models: /^gpt-6\.2-astra$/,
    source: gatewayModel('gpt-6.2-astra'),
    readOn,
    ...gpt({ input: 8, cacheRead: 0.4, cacheWrite: 10, output: 40 }),
    tiers: fastMode,
  },
  {
    providers: ['azure-openai'],
    models: /^gpt-6\.2-sol$/,
    source: announced(52347),
    readOn,
    ...sol,
  },
  {
    providers: ['azure-openai'],
    models: /^gpt-6\.2-astra$/,
    source: announced(52347),
    readOn,
    ...gpt({ input: 8, cacheRead: 0.4, cacheWrite: 10, output: 40 }),
  },
  {
    providers: ['openai'],
    models: /^gpt-6-astra$/,
    source: 'https://vercel.com/changelog/openai-ultrafast-mode-now-available-on-ai-gateway',
    readOn,
    tiers: { ultrafast: 6 },
  },
  {
    providers: ['openai'],
    // What long contexts of it cost the copies do not agree on.
    models: /^(?:gpt-5\.6-cyber|gpt-daybreak-red-latest)$/,
    source: oneApi,
    readOn,
    perMillionTokens: { input: 12.5, cacheRead: 1.25, cacheWrite: 15.625, output: 75 },
  },
  {
    providers: ['openai'],
    models: /^gpt-daybreak-blue-latest$/,
    source: oneApi,
    readOn,
    ...gpt({ input: 4, cacheRead: 0.4, cacheWrite: 5, output: 20 }),
  },
  {
    providers: ['openai'],
    models: /^chat-latest$/,
    source: modelsDev,
    readOn,
    perMillionTokens: { input: 5, cacheRead: 0.5, output: 30 },
  },
  ...['gpt-live-transcribe', 'gpt-realtime-whisper'].map((id) => ({
    providers: ['openai'],
    models: new RegExp(`^${id}$`),
    source: openAiModel(id),
    readOn,
    perMinute: 0.017,
  })),
  {
    providers: ['openai'],
    models: /^gpt-image-2\.[56]-(?:flare|sunburst)$/,
    source: openAiModel('gpt-image-2.6-sunburst'),
    readOn,
    perMillionTokens: { input: 5, cacheRead: 1.25, inputImage: 8, cacheReadImage: 2, output: 30 },
  },
];
