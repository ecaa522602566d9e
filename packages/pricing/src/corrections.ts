import type { ImagePrices } from './listed-model.ts';
import type { TokenPrices } from './token-prices.ts';

/** Changes with every change of the rows: records name it beside the catalogue. */
export const correctionsVersion = '2026-11-22';

/**
 * What vendors' public price lists say and the catalogue leaves out, by hand.
 * Dollars as the lists have them: tokens and characters by the million, calls by
 * the thousand, images by the piece.
 */
export interface Correction {
  readonly providers: readonly string[];
  readonly models: RegExp;
  /** Where it was read, and when. */
  readonly source: string;
  readonly readOn: string;
  /** By service tier: a factor on all tokens and images, or the tokens' prices. */
  readonly tiers?: Readonly<Record<string, number | TokenPrices>>;
  /** Places of which all tokens cost so much more. */
  readonly regions?: { readonly names: readonly string[]; readonly factor: number };
  /** The factor holds everywhere but in these. */
  readonly elsewhere?: { readonly but: readonly string[]; readonly factor: number };
  readonly perMillionTokens?: TokenPrices;
  readonly perMillionCharacters?: number;
  readonly perThousand?: Partial<
    Record<
      | 'searchUnits'
      | 'webSearches'
      | 'fileSearches'
      | 'xSearches'
      | 'mapSearches'
      | 'codeExecutions',
      number
    >
  >;
  /** For the request, by how much of the web is read. */
  readonly perThousandRequests?: Readonly<Record<string, number>>;
  readonly perImage?: ImagePrices;
}

const openAiPriority = 'https://openai.com/api-priority-processing/';
const openAiPrices = 'https://developers.openai.com/api/docs/pricing';
const claudePrices = 'https://platform.claude.com/docs/en/about-claude/pricing';
const geminiPrices = 'https://ai.google.dev/gemini-api/docs/pricing';
const xaiPrices = 'https://docs.x.ai/developers/pricing';
const readOn = '2026-11-22';

const priority = (
  models: RegExp,
  input: number,
  cacheRead: number,
  output: number,
): Correction => ({
  providers: ['openai'],
  models,
  source: openAiPriority,
  readOn,
  tiers: { priority: { input, cacheRead, output } },
});

const openAi: readonly Correction[] = [
  // A batch is half by the general rule; flex costs what a batch does.
  {
    providers: ['openai'],
    models: /^(?:gpt-5|o3|o4-mini)/,
    source: openAiPrices,
    readOn,
    tiers: { flex: 0.5 },
  },
  {
    providers: ['openai'],
    models: /^gpt-5\.6/,
    source: openAiPrices,
    readOn,
    tiers: { priority: 2, fast: 2 },
  },
  priority(/^gpt-5\.5(?!-pro)/, 12.5, 1.25, 75),
  priority(/^gpt-5\.4-mini/, 1.5, 0.15, 9),
  priority(/^gpt-5\.4(?!-(?:mini|nano|pro))/, 5, 0.5, 30),
  priority(/^gpt-5\.2(?!-pro)/, 3.5, 0.35, 28),
  priority(/^gpt-5\.1(?!-codex-mini)/, 2.5, 0.25, 20),
  priority(/^gpt-5-mini/, 0.45, 0.045, 3.6),
  priority(/^gpt-5(?![.\d]|-(?:mini|nano|pro))/, 2.5, 0.25, 20),
  priority(/^gpt-4\.1(?!-(?:mini|nano))/, 3.5, 0.875, 14),
  priority(/^gpt-4\.1-mini/, 0.7, 0.175, 2.8),
  priority(/^gpt-4\.1-nano/, 0.2, 0.05, 0.8),
  priority(/^gpt-4o(?!-mini|-audio|-realtime|-transcribe|-search)/, 4.25, 2.125, 17),
  priority(/^gpt-4o-mini(?!-audio|-realtime|-transcribe|-search|-tts)/, 0.25, 0.125, 1),
  priority(/^o3(?!-)/, 3.5, 0.875, 14),
  priority(/^o4-mini/, 2, 0.5, 8),
  {
    providers: ['openai'],
    models: /^gpt-5\.[4-9]/,
    source: openAiPrices,
    readOn,
    regions: { names: ['us', 'eu', 'au', 'ca', 'jp', 'in', 'sg', 'kr', 'gb', 'ae'], factor: 1.1 },
  },
  {
    providers: ['openai'],
    models: /^tts-1(?!-hd)/,
    source: openAiPrices,
    readOn,
    perMillionCharacters: 15,
  },
  {
    providers: ['openai'],
    models: /^tts-1-hd/,
    source: openAiPrices,
    readOn,
    perMillionCharacters: 30,
  },
  {
    providers: ['openai', 'azure-openai'],
    models: /^dall-e-3/,
    source: openAiPrices,
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
    source: openAiPrices,
    readOn,
    perImage: {
      default: { '256x256': 0.016, '512x512': 0.018, '1024x1024': 0.02, default: 0.02 },
    },
  },
  {
    providers: ['openai', 'azure-openai'],
    models: /^gpt-image-1(?![-.])/,
    source: openAiPrices,
    readOn,
    perImage: {
      low: { '1024x1024': 0.011, '1024x1536': 0.016, '1536x1024': 0.016, default: 0.011 },
      medium: { '1024x1024': 0.042, '1024x1536': 0.063, '1536x1024': 0.063, default: 0.042 },
      high: { '1024x1024': 0.167, '1024x1536': 0.25, '1536x1024': 0.25, default: 0.167 },
    },
  },
];

const claude: readonly Correction[] = [
  {
    providers: ['anthropic', 'claude-platform-aws', 'vertex-ai', 'azure-ai'],
    models: /claude/,
    source: claudePrices,
    readOn,
    perThousand: { webSearches: 10 },
  },
  {
    providers: ['anthropic', 'claude-platform-aws'],
    models: /claude-opus-4-6/,
    source: 'https://platform.claude.com/docs/en/build-with-claude/fast-mode',
    readOn,
    tiers: { fast: 6 },
  },
  {
    providers: ['anthropic', 'claude-platform-aws'],
    // No public list has a factor of Opus 5.5 yet: it is taken to be that of Opus 5.
    models: /claude-opus-(?:4-8|5)/,
    source: 'https://openrouter.ai/anthropic/claude-opus-5-fast-20260723',
    readOn,
    tiers: { fast: 2 },
  },
  {
    providers: ['anthropic', 'claude-platform-aws'],
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

const gemini: readonly Correction[] = [
  {
    providers: ['google', 'vertex-ai'],
    models: /gemini/,
    source: 'https://ai.google.dev/gemini-api/docs/optimization',
    readOn,
    tiers: { flex: 0.5, priority: 1.8 },
  },
  {
    providers: ['google', 'vertex-ai'],
    models: /gemini-(?:1|2)/,
    source: geminiPrices,
    readOn,
    perThousand: { webSearches: 35, mapSearches: 25 },
  },
  {
    providers: ['google', 'vertex-ai'],
    models: /gemini-(?:[3-9])/,
    source: geminiPrices,
    readOn,
    perThousand: { webSearches: 14, mapSearches: 14 },
  },
  {
    providers: ['google', 'vertex-ai'],
    models: /^imagen-4\.0-fast/,
    source: geminiPrices,
    readOn,
    perImage: { default: { default: 0.02 } },
  },
  {
    providers: ['google', 'vertex-ai'],
    models: /^imagen-4\.0-ultra/,
    source: geminiPrices,
    readOn,
    perImage: { default: { default: 0.06 } },
  },
  {
    providers: ['google', 'vertex-ai'],
    models: /^imagen-4\.0-generate/,
    source: geminiPrices,
    readOn,
    perImage: { default: { default: 0.04 } },
  },
  {
    providers: ['google', 'vertex-ai'],
    models: /^imagen-3\.0-fast/,
    source: 'https://cloud.google.com/vertex-ai/generative-ai/pricing',
    readOn,
    perImage: { default: { default: 0.02 } },
  },
  {
    providers: ['google', 'vertex-ai'],
    models: /^imagen-3\.0-generate/,
    source: 'https://cloud.google.com/vertex-ai/generative-ai/pricing',
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
    perThousand: { webSearches: 5, xSearches: 5, codeExecutions: 5, fileSearches: 2.5 },
  },
  {
    providers: ['perplexity-ai'],
    models: /^sonar(?:-reasoning)?$/,
    source: 'https://docs.perplexity.ai/getting-started/pricing',
    readOn,
    perThousandRequests: { low: 5, medium: 8, high: 12 },
  },
  {
    providers: ['perplexity-ai'],
    models: /^sonar(?:-reasoning)?-pro$/,
    source: 'https://docs.perplexity.ai/getting-started/pricing',
    readOn,
    perThousandRequests: { low: 6, medium: 10, high: 14 },
  },
  {
    providers: ['perplexity-ai'],
    models: /^sonar-deep-research$/,
    source: 'https://docs.perplexity.ai/getting-started/pricing',
    readOn,
    perThousand: { webSearches: 5 },
  },
  {
    providers: ['cohere'],
    models: /^rerank-/,
    source: 'https://cohere.com/pricing',
    readOn,
    perThousand: { searchUnits: 2 },
  },
  {
    providers: ['bedrock'],
    models: /cohere\.rerank-/,
    source: 'https://aws.amazon.com/bedrock/pricing/',
    readOn,
    perThousand: { searchUnits: 2 },
  },
  {
    providers: ['bedrock'],
    models: /amazon\.rerank-/,
    source: 'https://aws.amazon.com/bedrock/pricing/',
    readOn,
    perThousand: { searchUnits: 1 },
  },
  {
    providers: ['voyage'],
    models: /^rerank-2(?:\.5)?$/,
    source: 'https://docs.voyageai.com/docs/pricing',
    readOn,
    perMillionTokens: { input: 0.05 },
  },
  {
    providers: ['voyage'],
    models: /^rerank-2(?:\.5)?-lite$/,
    source: 'https://docs.voyageai.com/docs/pricing',
    readOn,
    perMillionTokens: { input: 0.02 },
  },
];

export const corrections: readonly Correction[] = [...openAi, ...claude, ...gemini, ...others];
