import type { Correction } from './correction.ts';
import { announced, gatewayModel, modelsDev, readOn } from './lists.ts';

const atGoogle = { providers: ['google', 'vertex-ai'], readOn };
/** Read from Google's page by those who keep it. */
const tokenMeter = 'https://github.com/iyulab/TokenMeter/releases/tag/v0.17.0';

export const currentGemini: readonly Correction[] = [
  ...(
    [
      [/^gemini-4-argon$/, 46238],
      [/^gemini-4-carbon$/, 50970],
    ] as const
  ).flatMap(([models, discussion]): Correction[] => [
    {
      ...atGoogle,
      models,
      source: announced(discussion),
      until: '2026-12-01',
      perMillionTokens: { input: 2, cacheRead: 0.1, output: 10 },
    },
    {
      ...atGoogle,
      models,
      source: announced(discussion),
      from: '2026-12-01',
      perMillionTokens: { input: 4, cacheRead: 0.2, output: 20 },
    },
  ]),
  {
    ...atGoogle,
    models: /^gemini-4-hydrogen$/,
    source: announced(51436),
    perMillionTokens: { input: 1.5, cacheRead: 0.075, output: 7.5 },
  },
  {
    providers: ['google'],
    models: /^gemini-4-neon$/,
    source: tokenMeter,
    readOn,
    perMillionTokens: { input: 3, cacheRead: 0.15, output: 15 },
  },
  {
    providers: ['google'],
    models: /^gemini-4-(?:hydrogen|neon)$/,
    source: tokenMeter,
    readOn,
    tiers: { priority: 1.8 },
    perThousand: { webSearches: 14, mapSearches: 14 },
  },
  {
    providers: ['google'],
    models: /^gemini-4-argon$/,
    source: 'https://github.com/iyulab/TokenMeter/releases/tag/v0.13.1',
    readOn,
    perThousand: { webSearches: 14 },
  },
  {
    ...atGoogle,
    models: /^gemini-nano-banana-2\.1$/,
    source: announced(44983),
    perMillionTokens: { input: 1.5, output: 7.5, outputImage: 30 },
  },
  // The catalogue takes both for the model of text that their names begin with; they came on this day.
  {
    ...atGoogle,
    models: /^gemini-3\.8-flash-tts$/,
    source: announced(42776),
    from: '2026-09-28',
    perMillionTokens: { input: 0.5, output: 9 },
  },
  {
    ...atGoogle,
    models: /^gemini-3\.8-flash-lite-tts$/,
    source: gatewayModel('gemini-3.8-flash-lite-tts'),
    from: '2026-09-28',
    perMillionTokens: { input: 0.5, output: 6 },
  },
  {
    providers: ['google'],
    models: /^gemini-robotics-er-2-preview$/,
    source: 'https://www.getmaxim.ai/bifrost/llm-cost-calculator/provider/gemini.md',
    readOn,
    perMillionTokens: { input: 1, output: 5 },
  },
  {
    ...atGoogle,
    models: /^gemini-2\.5-computer-use-preview-10-2025$/,
    source: modelsDev,
    perMillionTokens: { input: 1.25, output: 10 },
  },
  {
    providers: ['google'],
    models: /^veo-2\.0-generate-001$/,
    source: 'https://github.com/Portkey-AI/models',
    readOn,
    perVideoSecond: { default: 0.35 },
  },
];
