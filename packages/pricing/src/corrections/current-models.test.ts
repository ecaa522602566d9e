import { type ChatUsage, noUsage, type ReplyUnits } from '@sluice/contracts';
import { describe, expect, it } from 'vitest';
import { costOfReply } from '../cost.ts';
import { PriceBook, type PriceQuery } from '../price-book.ts';

const book = new PriceBook();
const day = (written: string) => Date.parse(`${written}T12:00:00Z`);

interface Invoice extends Omit<PriceQuery, 'atMs'> {
  on: string;
  tokens: Partial<ChatUsage>;
  units?: ReplyUnits;
  /** By hand, from the list: in dollars. */
  dollars: number;
}

/** 100,000 tokens in, of which 40,000 from the cache and 20,000 into it; 10,000 out. */
const short = {
  inputTokens: 100_000,
  cacheReadTokens: 40_000,
  cacheWriteTokens: 20_000,
  outputTokens: 10_000,
};
/** A token more than the price of short prompts is for. */
const long = { ...short, inputTokens: 100_001 };
const larger = { ...short, inputTokens: 272_001 };
const read = { inputTokens: 100_000, cacheReadTokens: 40_000, outputTokens: 10_000 };

const invoices: Readonly<Record<string, Invoice>> = {
  'a batch of a model before GPT-5, which has no price of cached input there': {
    provider: 'openai',
    model: 'gpt-4.1',
    tier: 'batch',
    on: '2026-11-30',
    tokens: read,
    dollars: (0.1 * 2 + 0.01 * 8) / 2,
  },
  'a batch of GPT-5.1, cached input at half of its price': {
    provider: 'openai',
    model: 'gpt-5.1',
    tier: 'batch',
    on: '2026-11-30',
    tokens: read,
    dollars: (0.06 * 1.25 + 0.04 * 0.125 + 0.01 * 10) / 2,
  },
  'a batch of Gemini, cached input as without it': {
    provider: 'google',
    model: 'gemini-2.5-flash',
    tier: 'batch',
    on: '2026-11-30',
    tokens: read,
    dollars: (0.06 * 0.3 + 0.01 * 2.5) / 2 + 0.04 * 0.03,
  },
  'a batch of Gemini at Vertex AI, in a long context': {
    provider: 'vertex-ai',
    model: 'gemini-2.5-pro',
    tier: 'batch',
    on: '2026-11-30',
    tokens: { inputTokens: 250_000, cacheReadTokens: 40_000, outputTokens: 10_000 },
    dollars: (0.21 * 2.5 + 0.01 * 15) / 2 + 0.04 * 0.25,
  },
  'a batch of Claude, cached input at half of its price': {
    provider: 'anthropic',
    model: 'claude-haiku-4-5',
    tier: 'batch',
    on: '2026-11-30',
    tokens: read,
    dollars: (0.06 * 1 + 0.04 * 0.1 + 0.01 * 5) / 2,
  },
  'a model that was made of GPT-4.1 mini': {
    provider: 'openai',
    model: 'ft:gpt-4.1-mini-2025-04-14:acme:support:9xYz',
    on: '2026-11-30',
    tokens: read,
    dollars: 0.06 * 0.8 + 0.04 * 0.2 + 0.01 * 3.2,
  },
  'a model that was made of GPT-4o, with input from the cache': {
    provider: 'openai',
    model: 'ft:gpt-4o-2024-08-06:acme::9xYz',
    on: '2026-11-30',
    tokens: read,
    dollars: 0.06 * 3.75 + 0.04 * 1.875 + 0.01 * 15,
  },
  'training of a model that was trained before': {
    provider: 'openai',
    model: 'ft:gpt-4o-mini-2024-07-18:acme::9xYz',
    on: '2026-11-30',
    tokens: {},
    units: { trainedTokens: 1_000_000 },
    dollars: 3,
  },
  'Haiku 5.5 at Bedrock, anywhere': {
    provider: 'bedrock',
    model: 'global.anthropic.claude-haiku-5-5',
    on: '2026-11-30',
    tokens: long,
    dollars: 0.040001 * 0.5 + 0.04 * 0.05 + 0.02 * 0.625 + 0.01 * 2.5,
  },
  'Haiku 5.5 at Bedrock, in the United States': {
    provider: 'bedrock',
    model: 'us.anthropic.claude-haiku-5-5',
    on: '2026-11-30',
    tokens: short,
    dollars: (0.04 * 0.1 + 0.04 * 0.01 + 0.02 * 0.125 + 0.01 * 0.5) * 1.1,
  },
  'Sonnet 5.5 at Bedrock, whose cache costs half': {
    provider: 'bedrock',
    model: 'global.anthropic.claude-sonnet-5-5',
    on: '2026-11-30',
    tokens: read,
    dollars: 0.06 * 2 + 0.04 * 0.1 + 0.01 * 10,
  },
  'GPT-6 Sol at Bedrock, in a long context': {
    provider: 'bedrock',
    model: 'us.openai.gpt-6-sol',
    on: '2026-11-30',
    tokens: larger,
    dollars: (0.212001 * 4 + 0.04 * 0.4 + 0.02 * 5 + 0.01 * 15) * 1.1,
  },
  'Nova in Europe': {
    provider: 'bedrock',
    model: 'eu.amazon.nova-pro-v1:0',
    on: '2026-11-30',
    tokens: read,
    dollars: 0.06 * 0.92 + 0.04 * 0.23 + 0.01 * 3.68,
  },
  'the second version of Titan’s vectors': {
    provider: 'bedrock',
    model: 'amazon.titan-embed-text-v2:0',
    on: '2026-11-30',
    tokens: { inputTokens: 100_000 },
    dollars: 0.1 * 0.02,
  },
  'Mistral’s largest model by its name that moves': {
    provider: 'mistral-ai',
    model: 'mistral-large-latest',
    on: '2026-11-30',
    tokens: read,
    dollars: 0.06 * 0.7 + 0.04 * 0.07 + 0.01 * 2.1,
  },
  'GPT-6.2 Sol': {
    provider: 'openai',
    model: 'gpt-6.2-sol',
    on: '2026-11-30',
    tokens: short,
    dollars: 0.04 * 2 + 0.04 * 0.1 + 0.02 * 2.5 + 0.01 * 10,
  },
  'GPT-6.2 Sol in a long context, all of it': {
    provider: 'openai',
    model: 'gpt-6.2-sol',
    on: '2026-11-30',
    tokens: larger,
    dollars: 0.212001 * 4 + 0.04 * 0.2 + 0.02 * 5 + 0.01 * 15,
  },
  'GPT-6.2 Astra as fast, in a long context': {
    provider: 'openai',
    model: 'gpt-6.2-astra',
    tier: 'fast',
    on: '2026-11-30',
    tokens: larger,
    dollars: 2 * (0.212001 * 16 + 0.04 * 0.8 + 0.02 * 20 + 0.01 * 60),
  },
  'GPT-6.1 Terra as flex': {
    provider: 'openai',
    model: 'gpt-6.1-terra',
    tier: 'flex',
    on: '2026-11-30',
    tokens: short,
    dollars: (0.04 * 1 + 0.04 * 0.05 + 0.02 * 1.25 + 0.01 * 5) / 2,
  },
  'GPT-6.1 Sol in Europe': {
    provider: 'openai',
    model: 'gpt-6.1-sol',
    region: 'eu',
    on: '2026-11-30',
    tokens: short,
    dollars: 1.1 * (0.04 * 2 + 0.04 * 0.1 + 0.02 * 2.5 + 0.01 * 10),
  },
  'GPT-6.2 Sol as ultrafast, on the last day at three times': {
    provider: 'openai',
    model: 'gpt-6.2-sol',
    tier: 'ultrafast',
    on: '2027-02-28',
    tokens: short,
    dollars: 3 * (0.04 * 2 + 0.04 * 0.1 + 0.02 * 2.5 + 0.01 * 10),
  },
  'GPT-6.2 Sol as ultrafast, a day later at six': {
    provider: 'openai',
    model: 'gpt-6.2-sol',
    tier: 'ultrafast',
    on: '2027-03-01',
    tokens: short,
    dollars: 6 * (0.04 * 2 + 0.04 * 0.1 + 0.02 * 2.5 + 0.01 * 10),
  },
  'GPT Image 2.6, drawn after a picture': {
    provider: 'openai',
    model: 'gpt-image-2.6-flare',
    on: '2026-11-30',
    tokens: { inputTokens: 10_000, inputImageTokens: 6_000, outputTokens: 20_000 },
    dollars: 0.004 * 5 + 0.006 * 8 + 0.02 * 30,
  },
  'Claude Haiku 5.5': {
    provider: 'anthropic',
    model: 'claude-haiku-5-5',
    on: '2026-11-30',
    tokens: { ...short, cacheWrite1hTokens: 5_000 },
    dollars: 0.04 * 0.1 + 0.04 * 0.01 + 0.015 * 0.125 + 0.005 * 0.2 + 0.01 * 0.5,
  },
  'Claude Haiku 5.5 with a long prompt, all of it': {
    provider: 'anthropic',
    model: 'claude-haiku-5-5',
    on: '2026-11-30',
    tokens: { ...long, cacheWrite1hTokens: 5_000 },
    dollars: 0.040001 * 0.5 + 0.04 * 0.05 + 0.015 * 0.625 + 0.005 * 1 + 0.01 * 2.5,
  },
  'Claude Fable 5.2 as fast': {
    provider: 'anthropic',
    model: 'claude-fable-5-2',
    tier: 'fast',
    on: '2026-11-30',
    tokens: short,
    dollars: 2 * (0.04 * 8 + 0.04 * 0.2 + 0.02 * 10 + 0.01 * 40),
  },
  'Claude Sonnet 5.5 before its cache became cheaper': {
    provider: 'anthropic',
    model: 'claude-sonnet-5-5',
    on: '2026-10-06',
    tokens: read,
    dollars: 0.06 * 2 + 0.04 * 0.2 + 0.01 * 10,
  },
  'Claude Sonnet 5.5 since then': {
    provider: 'anthropic',
    model: 'claude-sonnet-5-5',
    on: '2026-10-07',
    tokens: read,
    dollars: 0.06 * 2 + 0.04 * 0.1 + 0.01 * 10,
  },
  'Gemini 4 Argon on the last day of its introduction': {
    provider: 'google',
    model: 'gemini-4-argon',
    on: '2026-11-30',
    tokens: read,
    dollars: 0.06 * 2 + 0.04 * 0.1 + 0.01 * 10,
  },
  'Gemini 4 Carbon at Vertex AI, a day later': {
    provider: 'vertex-ai',
    model: 'publishers/google/models/gemini-4-carbon',
    on: '2026-12-01',
    tokens: read,
    dollars: 0.06 * 4 + 0.04 * 0.2 + 0.01 * 20,
  },
  'Gemini 4 Hydrogen as priority, on which no change is announced': {
    provider: 'google',
    model: 'gemini-4-hydrogen',
    tier: 'priority',
    on: '2026-12-01',
    tokens: read,
    dollars: 1.8 * (0.06 * 1.5 + 0.04 * 0.075 + 0.01 * 7.5),
  },
  'Gemini 3.8 Flash TTS, which is not Gemini 3.8 Flash': {
    provider: 'google',
    model: 'gemini-3.8-flash-tts',
    on: '2026-11-30',
    tokens: { inputTokens: 1000, outputTokens: 10_000, outputAudioTokens: 10_000 },
    dollars: 0.001 * 0.5 + 0.01 * 9,
  },
  'Grok 4.7 below its threshold': {
    provider: 'x-ai',
    model: 'grok-4.7',
    on: '2026-11-30',
    tokens: { ...read, inputTokens: 199_999 },
    dollars: 0.159999 * 2 + 0.04 * 0.5 + 0.01 * 6,
  },
  'Grok 4.7 at its threshold': {
    provider: 'x-ai',
    model: 'grok-4.7',
    on: '2026-11-30',
    tokens: { ...read, inputTokens: 200_000 },
    dollars: 0.16 * 4 + 0.04 * 1 + 0.01 * 12,
  },
  'Kimi K3.1 Pro': {
    provider: 'moonshot',
    model: 'kimi-k3.1-pro',
    on: '2026-11-30',
    tokens: read,
    dollars: 0.06 * 2 + 0.04 * 0.2 + 0.01 * 10,
  },
  'MiniMax M3.1 Flash': {
    provider: 'minimax',
    model: 'MiniMax-M3.1-Flash',
    on: '2026-11-30',
    tokens: read,
    dollars: 0.06 * 0.15 + 0.04 * 0.015 + 0.01 * 0.6,
  },
  'Mistral Large 4': {
    provider: 'mistral-ai',
    model: 'mistral-large-4-0',
    on: '2026-11-30',
    tokens: read,
    dollars: 0.06 * 0.7 + 0.04 * 0.07 + 0.01 * 2.1,
  },
  'GLM-5 Turbo': {
    provider: 'z-ai',
    model: 'glm-5-turbo',
    on: '2026-11-30',
    tokens: read,
    dollars: 0.06 * 1.2 + 0.04 * 0.24 + 0.01 * 4,
  },
  'GPT-OSS Safeguard 20B, which is not GPT-OSS 120B': {
    provider: 'groq',
    model: 'openai/gpt-oss-safeguard-20b',
    on: '2026-11-30',
    tokens: { inputTokens: 100_000, outputTokens: 10_000 },
    dollars: 0.1 * 0.075 + 0.01 * 0.3,
  },
  'Qwen 3.7 Flash in the last of its three contexts': {
    provider: 'dashscope',
    model: 'qwen3.7-flash',
    on: '2026-11-30',
    tokens: { ...read, inputTokens: 256_001 },
    dollars: 0.216001 * 0.2 + 0.04 * 0.04 + 0.01 * 0.8,
  },
};

/** The names that types of `openai@7.59`, `@anthropic-ai/sdk@1.14` and `@google/genai@3.3` have. */
const named: Readonly<Record<string, string>> = {
  openai: `
    chatgpt-4o-latest codex-mini-latest computer-use-preview computer-use-preview-2025-03-11
    dall-e-2 dall-e-3 gpt-3.5-turbo gpt-3.5-turbo-0125 gpt-3.5-turbo-0301 gpt-3.5-turbo-0613
    gpt-3.5-turbo-1106 gpt-3.5-turbo-16k gpt-3.5-turbo-16k-0613 gpt-4 gpt-4-0125-preview
    gpt-4-0314 gpt-4-0613 gpt-4-1106-preview gpt-4-32k gpt-4-32k-0314 gpt-4-32k-0613 gpt-4-turbo
    gpt-4-turbo-2024-04-09 gpt-4-turbo-preview gpt-4-vision-preview gpt-4.1 gpt-4.1-2025-04-14
    gpt-4.1-mini gpt-4.1-mini-2025-04-14 gpt-4.1-nano gpt-4.1-nano-2025-04-14 gpt-4o
    gpt-4o-2024-05-13 gpt-4o-2024-08-06 gpt-4o-2024-11-20 gpt-4o-audio-preview
    gpt-4o-audio-preview-2024-10-01 gpt-4o-audio-preview-2024-12-17
    gpt-4o-audio-preview-2025-06-03 gpt-4o-mini gpt-4o-mini-2024-07-18 gpt-4o-mini-audio-preview
    gpt-4o-mini-audio-preview-2024-12-17 gpt-4o-mini-realtime-preview
    gpt-4o-mini-realtime-preview-2024-12-17 gpt-4o-mini-search-preview
    gpt-4o-mini-search-preview-2025-03-11 gpt-4o-mini-transcribe gpt-4o-mini-transcribe-2025-12-15
    gpt-4o-mini-tts gpt-4o-mini-tts-2025-12-15 gpt-4o-realtime-preview
    gpt-4o-realtime-preview-2024-10-01 gpt-4o-realtime-preview-2024-12-17
    gpt-4o-realtime-preview-2025-06-03 gpt-4o-search-preview gpt-4o-search-preview-2025-03-11
    gpt-4o-transcribe gpt-4o-transcribe-diarize gpt-5 gpt-5-2025-08-07 gpt-5-chat-latest
    gpt-5-codex gpt-5-mini gpt-5-mini-2025-08-07 gpt-5-nano gpt-5-nano-2025-08-07 gpt-5-pro
    gpt-5-pro-2025-10-06 gpt-5.1 gpt-5.1-2025-11-13 gpt-5.1-chat-latest gpt-5.1-codex
    gpt-5.1-codex-max gpt-5.1-mini gpt-5.2 gpt-5.2-2025-12-11 gpt-5.2-chat-latest gpt-5.2-pro
    gpt-5.2-pro-2025-12-11 gpt-5.3-chat-latest gpt-5.4 gpt-5.4-mini gpt-5.4-mini-2026-03-17
    gpt-5.4-nano gpt-5.4-nano-2026-03-17 gpt-5.5 gpt-5.5-2026-04-23 gpt-5.5-pro
    gpt-5.5-pro-2026-04-23 gpt-5.6-cyber gpt-5.6-luna gpt-5.6-sol gpt-5.6-terra gpt-6-astra
    gpt-6-cyber gpt-6-luna gpt-6-rosalind gpt-6-sol gpt-6.1-sol gpt-6.1-terra gpt-6.2-astra
    gpt-6.2-astra-law gpt-6.2-sol gpt-audio-1.5 gpt-audio-mini gpt-audio-mini-2025-10-06
    gpt-audio-mini-2025-12-15 gpt-daybreak-blue-latest gpt-daybreak-red-latest gpt-image-1
    gpt-image-1-mini gpt-image-1.5 gpt-image-2 gpt-image-2-2026-04-21 gpt-image-2.5-flare
    gpt-image-2.5-flare-2026-09-08 gpt-image-2.5-sunburst gpt-image-2.5-sunburst-2026-09-08
    gpt-image-2.6-flare gpt-image-2.6-sunburst gpt-live-transcribe gpt-realtime gpt-realtime-1.5
    gpt-realtime-2 gpt-realtime-2.1 gpt-realtime-2.1-mini gpt-realtime-2025-08-28
    gpt-realtime-mini gpt-realtime-mini-2025-10-06 gpt-realtime-mini-2025-12-15
    gpt-realtime-whisper gpt-rosalind-research gpt-transcribe o1 o1-2024-12-17 o1-mini
    o1-mini-2024-09-12 o1-preview o1-preview-2024-09-12 o1-pro o1-pro-2025-03-19 o3 o3-2025-04-16
    o3-deep-research o3-deep-research-2025-06-26 o3-mini o3-mini-2025-01-31 o3-pro
    o3-pro-2025-06-10 o4-mini o4-mini-2025-04-16 o4-mini-deep-research
    o4-mini-deep-research-2025-06-26 sora-2 sora-2-2025-10-06 sora-2-2025-12-08 sora-2-pro
    sora-2-pro-2025-10-06 text-embedding-3-large text-embedding-3-small text-embedding-ada-002
    tts-1 tts-1-hd whisper-1`,
  anthropic: `
    claude-fable-5 claude-fable-5-1 claude-fable-5-2 claude-haiku-4-5 claude-haiku-4-5-20251001
    claude-haiku-5-5 claude-mythos-5 claude-mythos-5-1 claude-mythos-5-2 claude-mythos-preview
    claude-opus-4-5 claude-opus-4-5-20251101 claude-opus-4-6 claude-opus-4-7 claude-opus-4-8
    claude-opus-5 claude-opus-5-5 claude-sonnet-4-5 claude-sonnet-4-5-20250929 claude-sonnet-4-6
    claude-sonnet-5 claude-sonnet-5-5`,
  google: `
    gemini-2.0-flash gemini-2.0-flash-001 gemini-2.0-flash-live-preview-04-09 gemini-2.5-flash
    gemini-2.5-flash-image gemini-2.5-flash-lite gemini-2.5-pro gemini-3-flash-preview
    gemini-3-pro-image gemini-3.1-flash-image gemini-3.1-flash-lite gemini-3.1-flash-lite-image
    gemini-3.1-flash-tts-preview gemini-3.1-pro-preview gemini-3.1-pro-preview-customtools
    gemini-3.5-flash gemini-3.5-flash-lite gemini-3.5-transcribe gemini-3.6-flash gemini-3.7-flash
    gemini-3.8-flash gemini-3.8-flash-lite-tts gemini-3.8-flash-tts gemini-4-argon gemini-4-carbon
    gemini-4-hydrogen gemini-flash-latest gemini-flash-lite-latest gemini-live-2.5-flash-preview
    gemini-nano-banana-2.1 gemini-omni-1.1-flash gemini-omni-1.2-flash gemini-omni-flash-preview
    gemini-pro-latest gemini-robotics-er-1.6-preview gemini-robotics-er-2-preview
    imagen-3.0-capability-001 imagen-4.0-generate-001 imagen-4.0-upscale-preview
    lyria-3-clip-preview lyria-3-pro-preview lyria-3.5 veo-2.0-generate-001`,
};

/** Of which no list was found that says so, or no two that agree; see docs/prices.md. */
const listedByNobody: Readonly<Record<string, string>> = {
  openai: 'gpt-6-cyber gpt-6-rosalind gpt-6.2-astra-law gpt-rosalind-research',
  anthropic: 'claude-mythos-5-2 claude-mythos-preview',
  // What the aliases stand for changes, and the reply names the model.
  google: `
    gemini-2.0-flash-live-preview-04-09 gemini-3.1-flash-tts-preview gemini-3.5-transcribe
    gemini-flash-latest gemini-flash-lite-latest gemini-omni-1.1-flash gemini-omni-1.2-flash
    gemini-pro-latest gemini-robotics-er-1.6-preview imagen-3.0-capability-001
    imagen-4.0-upscale-preview lyria-3-clip-preview lyria-3-pro-preview lyria-3.5`,
};

const words = (text: string | undefined) => (text ?? '').trim().split(/\s+/);

describe('what models of today cost', () => {
  it.each(Object.entries(invoices))('%s', (_, { on, tokens, units, dollars, ...query }) => {
    const rates = book.lookUp({ ...query, atMs: day(on) });
    const cost = rates && costOfReply(rates, { ...noUsage, ...tokens }, units);
    expect(cost?.totalNanoUsd).toBe(Math.round(dollars * 1e9));
  });

  it.each(Object.keys(named))('knows each model that the SDK of %s names', (provider) => {
    const unknown = words(named[provider]).filter(
      (model) => book.lookUp({ provider, model, atMs: day('2026-11-30') }) === undefined,
    );
    expect(unknown).toEqual(words(listedByNobody[provider]));
  });

  it('charges the Flash of DeepSeek twice in its peak hours, from Monday to Friday', () => {
    const inputAt = (at: string, model = 'deepseek-flash') =>
      book.find({ provider: 'deepseek', model, atMs: Date.parse(at) })?.model.standard.tokens.input;
    const days = { Sunday: '2026-11-29', Monday: '2026-11-30', Saturday: '2026-12-05' };
    const hours = ['00:59', '01:00', '03:59', '04:00', '05:59', '06:00', '09:59', '10:00'];
    const charged = (on: string) => hours.map((hour) => inputAt(`${on}T${hour}:59Z`));
    expect(charged(days.Monday)).toEqual([150, 300, 300, 150, 150, 300, 300, 150]);
    for (const on of [days.Sunday, days.Saturday])
      expect(charged(on)).toEqual(hours.map(() => 150));
    expect(inputAt('2026-11-30T02:00Z', 'deepseek-v4-flash')).toBe(300);
  });

  it('charges sound by the minute, where a list has it so', () => {
    for (const model of ['gpt-live-transcribe', 'gpt-realtime-whisper']) {
      const rates = book.lookUp({ provider: 'openai', model, atMs: day('2026-11-30') });
      const cost = rates && costOfReply(rates, undefined, { audioSeconds: 90 });
      expect(cost?.totalNanoUsd).toBe(25_500_000);
    }
  });

  it('says of searches with models that the catalogue lacks what they cost', () => {
    const unitsOf = (provider: string, model: string) =>
      book.lookUp({ provider, model, atMs: day('2026-11-30') })?.units;
    expect(unitsOf('anthropic', 'claude-haiku-5-5')).toEqual({ webSearches: 1e7 });
    expect(unitsOf('x-ai', 'grok-4.7')).toMatchObject({ xSearches: 5e6, fileSearches: 2.5e6 });
    expect(unitsOf('google', 'gemini-4-argon')).toEqual({ webSearches: 1.4e7 });
  });
});
