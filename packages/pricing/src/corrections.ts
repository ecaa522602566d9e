import type { Correction } from './corrections/correction.ts';
import { currentModels } from './corrections/current-models.ts';
import { atAnthropic } from './corrections/lists.ts';
import type { TokenPrices } from './token-prices.ts';

/** Changes with every change of the rows, on one day too: records name it beside the catalogue. */
export const correctionsVersion = '2026-11-30.5';

export type { Correction } from './corrections/correction.ts';

const openAiPriority = 'https://openai.com/api-priority-processing/';
const claudePrices = 'https://platform.claude.com/docs/en/about-claude/pricing';
const claudeFastMode = 'https://platform.claude.com/docs/en/build-with-claude/fast-mode';
const geminiPrices = 'https://ai.google.dev/gemini-api/docs/pricing';
const xaiPrices = 'https://docs.x.ai/developers/pricing';
const perplexityPrices = 'https://docs.perplexity.ai/getting-started/pricing';
const voyagePrices = 'https://www.getmaxim.ai/bifrost/model-library/provider/voyage';
/** Where the vendor's own list was not to be had, or says nothing any more. */
const openPriceLists = 'https://github.com/Portkey-AI/models';
const readOn = '2026-11-22';

/** OpenAI renamed priority to fast on 2026-07-30, and takes either name for the one tier. */
const priority = (models: RegExp, prices: TokenPrices): Correction => ({
  providers: ['openai'],
  models,
  source: openAiPriority,
  readOn,
  tiers: { priority: prices, fast: prices },
});

const openAi: readonly Correction[] = [
  // The catalogue says so of them in words, and has no prices.
  {
    providers: ['openai'],
    models: /moderation/,
    source: 'https://github.com/pydantic/genai-prices',
    readOn: '2026-11-30',
    perMillionTokens: { input: 0, output: 0 },
  },
  // A batch is half by the general rule; flex costs what a batch does.
  {
    providers: ['openai'],
    models: /^(?:gpt-[56]|o3|o4-mini)/,
    source: 'https://developers.openai.com/api/docs/guides/flex-processing',
    readOn,
    tiers: { flex: 0.5 },
  },
  // The list of batches has no price of cached input for models before GPT-5, which cache nothing there.
  {
    providers: ['openai'],
    models: /^(?:ft:)?(?:gpt-3\.5|gpt-4|chatgpt-4o|o[134](?:-|$))/,
    source: openPriceLists,
    readOn: '2026-11-30',
    cachedInBatches: 'as other input',
  },
  // Searches by the tool that came before today's, of models that do not reason.
  {
    providers: ['openai'],
    models:
      /^(?:gpt-4o(?!-(?:audio|realtime|transcribe|mini-(?:audio|realtime|transcribe|tts)))|gpt-4\.1|chatgpt-4o)/,
    source: 'https://developers.openai.com/api/docs/pricing',
    readOn: '2026-11-30',
    perThousand: { previewSearches: 25 },
  },
  // Responses that may take hours; the vendor refuses the window for models that have none.
  {
    providers: ['openai'],
    models: /^(?:gpt-|o[1-9]|chatgpt|codex|computer)/,
    source: 'https://developers.openai.com/api/docs/guides/background',
    readOn: '2026-11-30',
    tiers: { 'background-2h': 0.7, 'background-8h': 0.6 },
  },
  {
    providers: ['openai'],
    models: /^gpt-5\.6/,
    source: 'https://openai.com/api-fast-mode/',
    readOn,
    tiers: { priority: 2, fast: 2 },
  },
  {
    providers: ['openai'],
    models: /^gpt-6-astra/,
    source: 'https://vercel.com/ai-gateway/models/gpt-6-astra-fast',
    readOn,
    tiers: { priority: 2, fast: 2 },
  },
  {
    providers: ['openai'],
    models: /^gpt-6-sol/,
    source: 'https://vercel.com/ai-gateway/models/gpt-6-sol-fast',
    readOn,
    tiers: { priority: 2, fast: 2 },
  },
  {
    providers: ['openai'],
    models: /^gpt-6-luna/,
    source: 'https://developers.openai.com/api/docs/models/gpt-6-luna',
    readOn,
    tiers: { priority: 2, fast: 2 },
  },
  priority(/^gpt-5\.5(?!-pro)/, { input: 12.5, cacheRead: 1.25, output: 75 }),
  priority(/^gpt-5\.4-mini/, { input: 1.5, cacheRead: 0.15, output: 9 }),
  priority(/^gpt-5\.4(?!-(?:mini|nano|pro))/, { input: 5, cacheRead: 0.5, output: 30 }),
  priority(/^gpt-5\.2(?!-pro)/, { input: 3.5, cacheRead: 0.35, output: 28 }),
  priority(/^gpt-5\.1(?!-codex-mini)/, { input: 2.5, cacheRead: 0.25, output: 20 }),
  priority(/^gpt-5-mini/, { input: 0.45, cacheRead: 0.045, output: 3.6 }),
  priority(/^gpt-5(?![.\d]|-(?:mini|nano|pro))/, { input: 2.5, cacheRead: 0.25, output: 20 }),
  priority(/^gpt-4\.1(?!-(?:mini|nano))/, { input: 3.5, cacheRead: 0.875, output: 14 }),
  priority(/^gpt-4\.1-mini/, { input: 0.7, cacheRead: 0.175, output: 2.8 }),
  priority(/^gpt-4\.1-nano/, { input: 0.2, cacheRead: 0.05, output: 0.8 }),
  priority(/^gpt-4o(?!-mini|-audio|-realtime|-transcribe|-search)/, {
    input: 4.25,
    cacheRead: 2.125,
    output: 17,
  }),
  // The oldest is matched by the row above without its day too: the later row is in force.
  priority(/^gpt-4o-2024-05-13/, { input: 8.75, output: 26.25 }),
  priority(/^gpt-4o-mini(?!-audio|-realtime|-transcribe|-search|-tts)/, {
    input: 0.25,
    cacheRead: 0.125,
    output: 1,
  }),
  priority(/^o3(?!-)/, { input: 3.5, cacheRead: 0.875, output: 14 }),
  priority(/^o4-mini/, { input: 2, cacheRead: 0.5, output: 8 }),
  {
    providers: ['openai'],
    // Models of 2026-03-05 and later: GPT-5.4 was the first.
    models: /^gpt-(?:5\.[4-9]|6)/,
    source: 'https://developers.openai.com/api/docs/guides/data-residency',
    readOn,
    regions: { names: ['us', 'eu', 'au', 'ca', 'jp', 'in', 'sg', 'kr', 'gb', 'ae'], factor: 1.1 },
  },
  {
    providers: ['openai'],
    models: /^tts-1(?!-hd)/,
    source: 'https://developers.openai.com/api/docs/models/tts-1',
    readOn,
    perMillionCharacters: 15,
  },
  {
    providers: ['openai'],
    models: /^tts-1-hd/,
    source: 'https://developers.openai.com/api/docs/models/tts-1-hd',
    readOn,
    perMillionCharacters: 30,
  },
  {
    providers: ['openai', 'azure-openai'],
    models: /^dall-e-3/,
    source: openPriceLists,
    readOn,
    perImage: {
      standard: { '1024x1024': 0.04, '1024x1792': 0.08, '1792x1024': 0.08, default: 0.04 },
      hd: { '1024x1024': 0.08, '1024x1792': 0.12, '1792x1024': 0.12, default: 0.08 },
      default: { '1024x1024': 0.04, '1024x1792': 0.08, '1792x1024': 0.08, default: 0.04 },
    },
  },
  {
    providers: ['openai'],
    models: /^dall-e-2/,
    source: openPriceLists,
    readOn,
    perImage: {
      default: { '256x256': 0.016, '512x512': 0.018, '1024x1024': 0.02, default: 0.02 },
    },
  },
  {
    providers: ['openai', 'azure-openai'],
    models: /^gpt-image-1(?![-.])/,
    source: openPriceLists,
    readOn,
    perImage: {
      low: { '1024x1024': 0.011, '1024x1536': 0.016, '1536x1024': 0.016, default: 0.011 },
      medium: { '1024x1024': 0.042, '1024x1536': 0.063, '1536x1024': 0.063, default: 0.042 },
      high: { '1024x1024': 0.167, '1024x1536': 0.25, '1536x1024': 0.25, default: 0.167 },
    },
  },
];

/** Of Sora, and of models that OpenAI and Azure train by one list. */
const ofJobs = (models: RegExp, row: Partial<Correction>): Correction => ({
  providers: ['openai', 'azure-openai'],
  models,
  source: openPriceLists,
  readOn: '2026-11-23',
  ...row,
});

/**
 * A model that is trained, by its name and its day, and what comes of it: `ft:<model>:<organisation>:<suffix>:<id>`, which costs
 * more than the model itself and may be trained again.
 * @param answers dollars a million tokens: input, input from the cache, output
 */
function trainable(
  name: string,
  day: string,
  training: Pick<Correction, 'perMillionTrained' | 'perTrainingHour'>,
  [input, cacheRead, output]: readonly [number, number, number],
): Correction[] {
  return [
    ofJobs(new RegExp(`^${name}-${day}$`), training),
    ofJobs(new RegExp(`^ft:${name}(?:-${day})?(?::|$)`), {
      ...training,
      providers: ['openai'],
      readOn: '2026-11-30',
      perMillionTokens: { input, cacheRead, output },
      perThousand: { webSearches: 10, fileSearches: 2.5 },
    }),
  ];
}

const portrait = (price: number) => ({ '720x1280': price, '1280x720': price });
const jobs: readonly Correction[] = [
  ofJobs(/^sora-2(?!-pro)/, { perVideoSecond: portrait(0.1) }),
  ofJobs(/^sora-2-pro/, {
    perVideoSecond: { ...portrait(0.3), '1024x1792': 0.5, '1792x1024': 0.5 },
  }),
  ...trainable('gpt-4o', '2024-08-06', { perMillionTrained: 25 }, [3.75, 1.875, 15]),
  ...trainable('gpt-4o-mini', '2024-07-18', { perMillionTrained: 3 }, [0.3, 0.15, 1.2]),
  ...trainable('gpt-4\\.1', '2025-04-14', { perMillionTrained: 25 }, [3, 0.75, 12]),
  ...trainable('gpt-4\\.1-mini', '2025-04-14', { perMillionTrained: 5 }, [0.8, 0.2, 3.2]),
  ...trainable('gpt-4\\.1-nano', '2025-04-14', { perMillionTrained: 1.5 }, [0.2, 0.05, 0.8]),
  ...trainable('o4-mini', '2025-04-16', { perTrainingHour: 100 }, [4, 1, 16]),
  ...(
    [
      [/^gemini-2\.5-flash$/, 5],
      [/^gemini-2\.5-flash-lite$/, 1.5],
      [/^gemini-2\.5-pro$/, 25],
    ] as const
  ).map(([models, perMillionTrained]) =>
    ofJobs(models, { providers: ['vertex-ai'], perMillionTrained }),
  ),
  ...(
    [
      [/^veo-3\.1-generate-preview$/, { '1280x720': 0.4, '1920x1080': 0.4, '3840x2160': 0.6 }],
      [
        /^veo-3\.1-fast-generate-preview$/,
        { '1280x720': 0.1, '1920x1080': 0.12, '3840x2160': 0.3 },
      ],
      [/^veo-3\.1-lite-generate-preview$/, { '1280x720': 0.05, '1920x1080': 0.08 }],
      [/^veo-3\.1-fast-generate-001$/, { default: 0.15 }],
      [/^veo-3\.1-generate-001$/, { default: 0.2 }],
      [/^veo-3\.0-fast-generate-001$/, { default: 0.1 }],
      [/^veo-3\.0-generate-001$/, { default: 0.2 }],
      [/^veo-2\.0-generate-001$/, { default: 0.5 }],
    ] as const
  ).map(([models, perVideoSecond]) => ofJobs(models, { providers: ['vertex-ai'], perVideoSecond })),
];

const claude: readonly Correction[] = [
  {
    providers: atAnthropic,
    models: /claude/,
    source: claudePrices,
    readOn,
    perThousand: { webSearches: 10 },
  },
  {
    providers: atAnthropic,
    models: /claude-opus-4-[67]/,
    source: claudeFastMode,
    readOn,
    tiers: { fast: 6 },
  },
  {
    providers: atAnthropic,
    models: /claude-opus-(?:4-8|5(?!-\d\b))/,
    source: claudeFastMode,
    readOn,
    tiers: { fast: 2 },
  },
  {
    providers: atAnthropic,
    models: /claude-opus-5-5\b/,
    source: 'https://vercel.com/ai-gateway/models/claude-opus-5.5-fast',
    readOn,
    tiers: { fast: 2 },
  },
  {
    providers: atAnthropic,
    // Opus 4.6 and all that came later take the parameter.
    models: /claude-(?:(?:opus|sonnet|haiku)-(?:4-[6-9]|[5-9])|fable|mythos)/,
    source: claudePrices,
    readOn,
    regions: { names: ['us'], factor: 1.1 },
  },
  {
    providers: ['vertex-ai'],
    models: /claude-(?:(?:opus|sonnet|haiku)-(?:4-[5-9]|[5-9])|fable|mythos)/,
    source: claudePrices,
    readOn,
    elsewhere: { but: ['', 'global'], factor: 1.1 },
  },
];

/** One price at Google's two houses, each of which a list of its own says. */
const google = (row: Pick<Correction, 'models' | 'tiers' | 'perThousand' | 'perImage'>) => [
  { providers: ['google'], source: geminiPrices, readOn, ...row },
  { providers: ['vertex-ai'], source: openPriceLists, readOn, ...row },
];

const gemini: readonly Correction[] = [
  {
    providers: ['google'],
    models: /gemini/,
    source: 'https://ai.google.dev/gemini-api/docs/optimization',
    readOn,
    tiers: { flex: 0.5 },
  },
  {
    providers: ['vertex-ai'],
    models: /gemini-(?:2\.5|3)/,
    source: openPriceLists,
    readOn,
    tiers: { flex: 0.5 },
  },
  // The discount of the cache holds in its place, and not beside that of batches.
  {
    providers: ['google'],
    models: /gemini/,
    source: 'https://ai.google.dev/gemini-api/docs/batch-api',
    readOn: '2026-11-30',
    cachedInBatches: 'as without',
  },
  {
    providers: ['vertex-ai'],
    models: /gemini/,
    source:
      'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/batch-prediction-gemini',
    readOn: '2026-11-30',
    cachedInBatches: 'as without',
  },
  // Google's range is 1.75 to 2; the prices that are listed by model are all 1.8 times the standard's.
  ...google({ models: /gemini-(?:2\.5|3)/, tiers: { priority: 1.8 } }),
  ...google({ models: /gemini-2/, perThousand: { webSearches: 35, mapSearches: 25 } }),
  ...google({ models: /gemini-3/, perThousand: { webSearches: 14, mapSearches: 14 } }),
  ...google({ models: /^imagen-4\.0-fast/, perImage: { default: { default: 0.02 } } }),
  ...google({ models: /^imagen-4\.0-ultra/, perImage: { default: { default: 0.06 } } }),
  ...google({ models: /^imagen-4\.0-generate/, perImage: { default: { default: 0.04 } } }),
  {
    providers: ['google'],
    models: /^imagen-3\.0-generate/,
    source: geminiPrices,
    readOn,
    perImage: { default: { default: 0.03 } },
  },
  {
    providers: ['vertex-ai'],
    models: /^imagen-3\.0-fast/,
    source: openPriceLists,
    readOn,
    perImage: { default: { default: 0.02 } },
  },
  {
    providers: ['vertex-ai'],
    models: /^imagen-3\.0-generate/,
    source: openPriceLists,
    readOn,
    perImage: { default: { default: 0.04 } },
  },
];

const others: readonly Correction[] = [
  {
    providers: ['x-ai'],
    models: /^grok/,
    source: xaiPrices,
    readOn,
    perThousand: {
      webSearches: 5,
      xSearches: 5,
      codeExecutions: 5,
      fileSearches: 2.5,
      attachmentSearches: 10,
    },
  },
  {
    providers: ['perplexity-ai'],
    models: /^sonar(?:-reasoning)?$/,
    source: openPriceLists,
    readOn,
    perThousandRequests: { low: 5, medium: 8, high: 12 },
  },
  {
    providers: ['perplexity-ai'],
    models: /^sonar(?:-reasoning)?-pro$/,
    source: openPriceLists,
    readOn,
    perThousandRequests: { low: 6, medium: 10, high: 14 },
  },
  {
    providers: ['perplexity-ai'],
    models: /^sonar-deep-research$/,
    source: perplexityPrices,
    readOn,
    perThousand: { webSearches: 5 },
  },
  {
    providers: ['groq'],
    models: /whisper/,
    source: 'https://console.groq.com/docs/speech-to-text',
    readOn: '2026-11-30',
    leastAudioSeconds: 10,
  },
  // Of results without an answer, by the request.
  {
    providers: ['perplexity-ai'],
    models: /^search$/,
    source: perplexityPrices,
    readOn: '2026-11-30',
    perThousand: { searchUnits: 5 },
  },
  {
    providers: ['cohere'],
    models: /^embed-v4\.0$/,
    source: 'https://developer.puter.com/tutorials/cohere-api-pricing/',
    readOn: '2026-11-30',
    perMillionTokens: { inputImage: 0.47 },
  },
  {
    providers: ['cohere'],
    models: /^rerank-(?:(?:english|multilingual)-v3\.0|v3\.5|v4\.0-fast)$/,
    source: openPriceLists,
    readOn,
    perThousand: { searchUnits: 2 },
  },
  {
    providers: ['cohere'],
    models: /^rerank-v4\.0-pro$/,
    source: openPriceLists,
    readOn,
    perThousand: { searchUnits: 2.5 },
  },
  {
    providers: ['bedrock'],
    models: /cohere\.rerank-v3-5/,
    source: openPriceLists,
    readOn,
    perThousand: { searchUnits: 2 },
  },
  {
    providers: ['bedrock'],
    models: /amazon\.rerank-v1/,
    source: openPriceLists,
    readOn,
    perThousand: { searchUnits: 1 },
  },
  {
    providers: ['voyage'],
    models: /^rerank-2(?:\.5)?$/,
    source: voyagePrices,
    readOn,
    perMillionTokens: { input: 0.05 },
  },
  {
    providers: ['voyage'],
    models: /^rerank-2(?:\.5)?-lite$/,
    source: voyagePrices,
    readOn,
    perMillionTokens: { input: 0.02 },
  },
];

export const corrections: readonly Correction[] = [
  // First: prices of tools alone make no model.
  ...currentModels,
  ...openAi,
  ...jobs,
  ...claude,
  ...gemini,
  ...others,
];
