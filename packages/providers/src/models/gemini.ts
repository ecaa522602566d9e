import { findRow } from './find-row.ts';
import type { ModelFacts, ModelFamily, ModelRow, ModelVersion } from './model-facts.ts';
import type { ModelOverrides } from './model-overrides.ts';

/** Every column that decides what a request to Gemini looks like is filled in each row. */
export type GeminiFacts = ModelFacts &
  Required<Pick<ModelFacts, 'sampling' | 'efforts' | 'signsCalls'>>;

interface GeminiRow extends ModelRow {
  facts: GeminiFacts;
}

type Abilities = Omit<GeminiFacts, 'model'>;

const docs = 'https://ai.google.dev/gemini-api/docs';
const checked = '2026-11-22';

const answers: Abilities = {
  sampling: 'all',
  efforts: [],
  thinking: { types: [], default: 'disabled' },
  forcedTools: 'always',
  structuredOutputs: true,
  signsCalls: false,
  endpoints: ['generate-content'],
  source: `${docs}/models`,
  checked,
};

/** They are told a budget, -1 leaving it to them. */
const second: Abilities = {
  ...answers,
  thinking: { types: ['enabled', 'adaptive', 'disabled'], default: 'adaptive' },
  thinkingBudget: { off: 0, min: 1, max: 24_576 },
  contextTokens: 1_048_576,
  outputTokensMax: 65_536,
  source: `${docs}/thinking`,
};

/** They are told a level, always think, and refuse calls of theirs without a signature. */
const third: Abilities = {
  ...answers,
  efforts: ['minimal', 'low', 'medium', 'high'],
  effortDefault: 'high',
  thinking: { types: ['adaptive'], default: 'adaptive' },
  signsCalls: true,
  contextTokens: 1_048_576,
  outputTokensMax: 65_536,
  source: `${docs}/thought-signatures`,
};

/** They sample as they choose, and begin each turn of theirs themselves. */
const stricter: Abilities = {
  ...third,
  // Temperatures are ignored, penalties refused.
  sampling: 'default',
  prefill: false,
  source: `${docs}/whats-new-gemini-3.6`,
};

const threeEight: Abilities = {
  ...stricter,
  efforts: ['low', 'medium', 'high'],
  effortDefault: 'medium',
  source:
    'https://docs.cloud.google.com/gemini-enterprise-agent-platform/models/guides/gemini-3-8-flash',
};

const rows: readonly GeminiRow[] = [
  row('pro', 3, 1, { ...third, efforts: ['low', 'medium', 'high'] }),
  row('pro', 3, 0, { ...third, efforts: ['low', 'high'] }),
  // Its thinking cannot be switched off.
  row('pro', 2, 5, {
    ...second,
    thinking: { types: ['enabled', 'adaptive'], default: 'adaptive' },
    thinkingBudget: { off: 128, min: 128, max: 32_768 },
  }),
  row('pro', 1, 0, answers),
  row('flash', 3, 8, threeEight),
  row('flash', 3, 7, threeEight),
  row('flash', 3, 6, { ...stricter, effortDefault: 'medium' }),
  row('flash', 3, 5, {
    ...third,
    effortDefault: 'medium',
    source: `${docs}/whats-new-gemini-3.5`,
  }),
  row('flash', 3, 0, third),
  row('flash', 2, 5, second),
  row('flash', 1, 0, answers),
  row('flash-lite', 3, 5, { ...stricter, effortDefault: 'minimal' }),
  row('flash-lite', 3, 1, { ...third, effortDefault: 'minimal', source: `${docs}/thinking` }),
  row('flash-lite', 2, 5, { ...second, thinkingBudget: { off: 0, min: 512, max: 24_576 } }),
  row('flash-lite', 1, 0, answers),
  row('pro-image', 3, 0, { ...answers, signsCalls: true }),
  row('flash-image', 3, 0, third),
  row('flash-image', 2, 5, answers),
  row('tts', 2, 5, { ...answers, structuredOutputs: false }),
  { line: 'embedding', version: [1, 0], facts: { model: 'gemini-embedding', ...answers } },
];

function row(line: string, major: number, minor: number, abilities: Abilities): GeminiRow {
  const version = minor === 0 ? `${major}` : `${major}.${minor}`;
  return {
    line,
    version: [major, minor],
    facts: { model: `gemini-${version}-${line}`, ...abilities },
  };
}

/** Words of a name that make it a line, the more telling first. */
const lines: readonly (readonly [words: RegExp, line: string])[] = [
  [/embedding/, 'embedding'],
  [/tts/, 'tts'],
  [/pro.*image/, 'pro-image'],
  [/image/, 'flash-image'],
  [/flash-lite/, 'flash-lite'],
  [/pro/, 'pro'],
];

/** Names come as `gemini-2.5-flash`, `models/gemini-pro-latest`, `google/gemini-3-pro-preview`, `google.gemini-…`. */
function read(name: string): ModelVersion | undefined {
  const [, major, minor = '0', rest = ''] =
    /(?:^|[/.])gemini-(?:(\d+)(?:\.(\d+))?)?(.*)$/s.exec(name.toLowerCase()) ?? [];
  if (!/(?:^|[/.])gemini-/i.test(name)) return undefined;
  const line = lines.find(([words]) => words.test(rest))?.[1] ?? 'flash';
  return major === undefined ? { line } : { line, version: [Number(major), Number(minor)] };
}

export const gemini: ModelFamily<GeminiRow> = { name: 'Gemini', rows, read };

/** Undefined for a model of another maker. */
export function factsOfGemini(name: string, overrides?: ModelOverrides): GeminiFacts | undefined {
  return overrides === undefined ? rowOf(name) : overrides.apply(name, rowOf);
}

function rowOf(name: string): GeminiFacts | undefined {
  const asked = read(name);
  return asked && findRow(gemini, asked)?.facts;
}
