import type { TokenPrices } from '../token-prices.ts';
import type { Correction } from './correction.ts';
import { currentBedrock } from './current-bedrock.ts';
import { currentClaude } from './current-claude.ts';
import { currentGemini } from './current-gemini.ts';
import { currentMistral } from './current-mistral.ts';
import { currentOpenAi } from './current-openai.ts';
import { gatewayModel, modelsDev, readOn } from './lists.ts';

const xaiPrices = 'https://docs.x.ai/developers/pricing';

const priced = (
  provider: string,
  models: RegExp,
  source: string,
  perMillionTokens: TokenPrices,
): Correction => ({ providers: [provider], models, source, readOn, perMillionTokens });

const deepSeekPrices = 'https://api-docs.deepseek.com/quick_start/pricing';
const weekdays = [1, 2, 3, 4, 5];

/** The former name is served and charged as the model of today. Its list excepts China's holidays, which nobody here knows: peak on these, too. */
const deepSeekFlash: readonly Correction[] = [
  {
    ...priced('deepseek', /^deepseek-(?:v4-)?flash$/, deepSeekPrices, {
      input: 0.15,
      cacheRead: 0.003,
      output: 0.6,
    }),
    from: '2026-09-24',
  },
  {
    ...priced('deepseek', /^deepseek-(?:v4-)?flash$/, deepSeekPrices, {
      input: 0.3,
      cacheRead: 0.006,
      output: 1.2,
    }),
    from: '2026-09-24',
    hours: [
      { days: weekdays, from: 1, until: 4 },
      { days: weekdays, from: 6, until: 10 },
    ],
  },
];

const others: readonly Correction[] = [
  ...deepSeekFlash,
  {
    ...priced('x-ai', /^grok-4\.7$/, xaiPrices, { input: 2, cacheRead: 0.5, output: 6 }),
    // From 200,000 tokens on.
    contextTiers: [{ above: 199_999, perMillionTokens: { input: 4, cacheRead: 1, output: 12 } }],
  },
  priced('moonshot', /^kimi-k3\.1-pro$/, gatewayModel('kimi-k3.1-pro'), {
    input: 2,
    cacheRead: 0.2,
    output: 10,
  }),
  priced('moonshot', /^kimi-k3\.1-pro-highspeed$/, gatewayModel('kimi-k3.1-pro-highspeed'), {
    input: 4,
    cacheRead: 0.2,
    output: 20,
  }),
  priced('minimax', /^minimax-m3\.1-flash$/i, gatewayModel('minimax-m3.1-flash'), {
    input: 0.15,
    cacheRead: 0.015,
    output: 0.6,
  }),
  priced('mistral-ai', /^mistral-large-4(?:-0(?:-8)?)?$/, gatewayModel('mistral-large-4'), {
    input: 0.7,
    cacheRead: 0.07,
    output: 2.1,
  }),
  priced('z-ai', /^glm-5v?-turbo$/, gatewayModel('glm-5-turbo'), {
    input: 1.2,
    cacheRead: 0.24,
    output: 4,
  }),
  priced('z-ai', /^glm-5\.3-flashx$/, gatewayModel('glm-5.3-flashx'), {
    input: 0.37,
    cacheRead: 0.075,
    output: 1.25,
  }),
  priced('z-ai', /^glm-4\.7$/, gatewayModel('glm-4.7'), {
    input: 0.6,
    cacheRead: 0.11,
    output: 2.2,
  }),
  {
    // The catalogue takes it for the larger model.
    ...priced('groq', /^openai\/gpt-oss-safeguard-20b$/, modelsDev, {
      input: 0.075,
      cacheRead: 0.0375,
      output: 0.3,
    }),
    from: '2026-09-24',
  },
  priced('groq', /^qwen\/qwen3\.6-27b$/, modelsDev, { input: 0.6, cacheRead: 0.3, output: 3 }),
  priced('groq', /^qwen\/qwen3\.8-27b$/, modelsDev, { input: 0.8, output: 4 }),
  priced('cerebras', /^qwen-3\.8-27b$/, modelsDev, { input: 0.99, output: 1.49 }),
  priced('dashscope', /^qwen3\.8-max(?:-0902)?$/, gatewayModel('qwen3.8-max'), {
    input: 2,
    cacheRead: 0.25,
    output: 6,
  }),
  priced('dashscope', /^qwen3\.8-max-prime$/, gatewayModel('qwen3.8-max-prime'), {
    input: 4,
    cacheRead: 0.5,
    output: 12,
  }),
  priced('dashscope', /^qwen3\.8-(?:omni-)?flash$/, gatewayModel('qwen3.8-flash'), {
    input: 0.15,
    cacheRead: 0.016,
    output: 0.47,
  }),
  {
    ...priced('dashscope', /^qwen3\.7-flash$/, gatewayModel('qwen3.7-flash'), {
      input: 0.03,
      cacheRead: 0.006,
      cacheWrite: 0.038,
      output: 0.13,
    }),
    contextTiers: [
      {
        above: 32_000,
        perMillionTokens: { input: 0.1, cacheRead: 0.02, cacheWrite: 0.125, output: 0.4 },
      },
      {
        above: 256_000,
        perMillionTokens: { input: 0.2, cacheRead: 0.04, cacheWrite: 0.25, output: 0.8 },
      },
    ],
  },
];

/**
 * Models, and changes of price, that vendors have listed since the catalogue was published. The source is the
 * vendor's page where it was to be had, else a public copy beside which another, kept by somebody else, said
 * the same.
 */
export const currentModels: readonly Correction[] = [
  ...currentOpenAi,
  ...currentClaude,
  ...currentGemini,
  ...currentBedrock,
  ...currentMistral,
  ...others,
];
