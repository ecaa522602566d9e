import { findOwnRow, findRow } from './find-row.ts';
import type { ModelFacts, ModelFamily, ModelRow, ModelVersion } from './model-facts.ts';
import type { ModelOverrides } from './model-overrides.ts';

/** Every column that decides what a request to a model of OpenAI's looks like is filled in each row. */
export type OpenAiFacts = ModelFacts &
  Required<Pick<ModelFacts, 'sampling' | 'efforts' | 'endpoints' | 'structuredOutputs'>>;

interface OpenAiRow extends ModelRow {
  facts: OpenAiFacts;
}

type Abilities = Omit<OpenAiFacts, 'model'>;

const docs = 'https://developers.openai.com/api/docs';
const checked = '2026-11-22';

/** They answer without a thought. */
const talks: Abilities = {
  sampling: 'all',
  efforts: [],
  structuredOutputs: true,
  endpoints: ['chat', 'responses'],
  source: `${docs}/models`,
  checked,
};

/** https://docs.uipath.com/autopilot/other/latest/user-guide/supported-models-and-limits */
const fiveWrites = { outputTokensMax: 128_000 } as const;

/** They always reason, and take no sampling. */
const reasons: Abilities = {
  ...talks,
  sampling: 'default',
  efforts: ['low', 'medium', 'high'],
  effortDefault: 'medium',
  source: `${docs}/guides/reasoning`,
};

/** https://github.com/anomalyco/models.dev, `providers/openai/models`, read on 2026-11-28. */
const oWrites = { contextTokens: 200_000, outputTokensMax: 100_000 } as const;
const chatWrites = { contextTokens: 128_000, outputTokensMax: 16_384 } as const;

const onlyResponses = { endpoints: ['responses'] } as const;

/** Reasoning can be switched off, and then is. */
const fiveOne: Abilities = {
  ...reasons,
  sampling: 'unless-reasoning',
  efforts: ['none', 'low', 'medium', 'high'],
  effortDefault: 'none',
};

/** Beside an effort, functions are served at `/responses` alone. */
const fiveTwo: Abilities = {
  ...fiveOne,
  efforts: ['none', 'low', 'medium', 'high', 'xhigh'],
  toolsWithReasoningAt: ['responses'],
  source: 'https://github.com/livekit/agents/pull/7169',
};

/** It reasons unless it is told not to, so functions alone are too much for `/chat/completions`. */
const fiveFive: Abilities = {
  ...fiveTwo,
  effortDefault: 'medium',
  source: 'https://github.com/charmbracelet/crush/issues/2913',
};

const fiveSix: Abilities = {
  ...fiveFive,
  efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
  // https://github.com/livekit/agents/pull/7169: the older endpoint has not learnt the word.
  effortsInChat: ['none', 'low', 'medium', 'high', 'xhigh'],
  cacheBreakpoints: true,
  source: 'https://github.com/BerriAI/litellm/pull/34569',
};

const six: Abilities = {
  ...fiveSix,
  contextTokens: 1_050_000,
  outputTokensMax: 128_000,
  source: 'https://github.com/danny-avila/LibreChat/issues/16216',
};

/** They cannot be kept from reasoning, and take functions at `/responses` alone. */
const sixAlways: Abilities = {
  ...six,
  sampling: 'default',
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  effortsInChat: ['low', 'medium', 'high', 'xhigh'],
  toolsAt: ['responses'],
  source: `${docs}/guides/latest-model`,
};

const codex: Abilities = { ...reasons, ...onlyResponses };

const rows: readonly OpenAiRow[] = [
  row('gpt', 6, 0, sixAlways),
  row('gpt', 5, 6, { ...fiveSix, ...fiveWrites }),
  row('gpt', 5, 5, { ...fiveFive, ...fiveWrites }),
  row('gpt', 5, 4, {
    ...{ ...fiveTwo, ...fiveWrites },
    source: 'https://github.com/openai/openai-openapi/issues/541',
  }),
  row('gpt', 5, 2, { ...fiveTwo, ...fiveWrites, contextTokens: 400_000 }),
  row('gpt', 5, 1, { ...fiveOne, ...fiveWrites, contextTokens: 400_000 }),
  row('gpt', 5, 0, {
    ...{ ...reasons, ...fiveWrites, contextTokens: 400_000 },
    efforts: ['minimal', 'low', 'medium', 'high'],
  }),
  row('gpt', 4, 1, {
    ...{ ...talks, contextTokens: 1_047_576, outputTokensMax: 32_768 },
    source: 'https://vercel.com/ai-gateway/models/gpt-4.1-fast',
  }),
  row('gpt', 4, 0, talks),
  row('turbo', 4, 0, { ...talks, contextTokens: 128_000, outputTokensMax: 4096 }),
  {
    line: 'omni',
    version: [4, 0],
    facts: {
      ...{ model: 'gpt-4o', ...talks, contextTokens: 128_000, outputTokensMax: 16_384 },
      source: 'https://github.com/charmbracelet/catwalk/issues/41',
    },
  },
  row('gpt', 3, 5, { ...talks, structuredOutputs: false }),
  row('astra', 6, 0, sixAlways),
  row('sol', 6, 1, sixAlways),
  row('sol', 6, 0, six),
  row('sol', 5, 6, fiveSix),
  row('terra', 6, 1, { ...six, toolsAt: ['responses'], source: `${docs}/models/gpt-6.1-terra` }),
  row('terra', 5, 6, fiveSix),
  row('luna', 6, 0, six),
  row('luna', 5, 6, fiveSix),
  row('pro', 5, 2, { ...codex, ...fiveWrites, efforts: ['medium', 'high', 'xhigh'] }),
  row('pro', 5, 0, {
    ...{ ...codex, efforts: ['high'], effortDefault: 'high' },
    ...{ contextTokens: 400_000, outputTokensMax: 272_000 },
  }),
  row('codex', 5, 2, { ...codex, ...fiveWrites, efforts: ['low', 'medium', 'high', 'xhigh'] }),
  row('codex', 5, 0, { ...codex, ...fiveWrites }),
  row('chat', 5, 1, { ...reasons, ...chatWrites, efforts: ['medium'] }),
  row('chat', 5, 0, { ...talks, ...chatWrites }),
  // They search before they answer, and are told by options of their own.
  row('search', 4, 0, { ...talks, sampling: 'default', endpoints: ['chat'] }),
  row('audio', 4, 0, { ...talks, structuredOutputs: false, endpoints: ['chat'] }),
  series('o4', 4, { ...reasons, ...oWrites }),
  series('o3', 3, { ...reasons, ...oWrites }),
  series('o1', 1, { ...reasons, ...oWrites }),
  { line: 'o-pro', version: [1, 0], facts: { model: 'o1-pro', ...codex, ...oWrites } },
  {
    line: 'deep-research',
    version: [3, 0],
    facts: { model: 'o3-deep-research', ...codex, ...oWrites, efforts: ['medium'] },
  },
  {
    line: 'computer-use',
    version: [1, 0],
    facts: { model: 'computer-use-preview', ...codex, efforts: [] },
  },
  {
    // Weights that anybody may serve.
    line: 'oss',
    version: [1, 0],
    facts: { model: 'gpt-oss', ...reasons, sampling: 'all' },
  },
];

function row(line: string, major: number, minor: number, abilities: Abilities): OpenAiRow {
  const version = minor === 0 ? `${major}` : `${major}.${minor}`;
  const model = line === 'gpt' ? `gpt-${version}` : `gpt-${version}-${line}`;
  return { line, version: [major, minor], facts: { model, ...abilities } };
}

function series(model: string, major: number, abilities: Abilities): OpenAiRow {
  return { line: 'o', version: [major, 0], facts: { model, ...abilities } };
}

/** Words of a name that make it another line; the first that is there counts. */
const lines = ['codex', 'pro', 'chat', 'search', 'audio', 'astra', 'sol', 'terra', 'luna'];

/**
 * Names come as `gpt-5.6-terra`, `gpt-5-mini-2025-08-07`, `openai/gpt-4o`,
 * `openai.gpt-oss-120b-1:0`, `gpt-35-turbo` or inside the name of a deployment:
 * `prod-gpt-5.4`.
 */
function read(name: string): ModelVersion | undefined {
  const lower = name.toLowerCase();
  if (!/gpt|codex|computer-use|(?:^|\W)o\d/.test(lower)) return undefined;
  if (lower.includes('gpt-oss')) return { line: 'oss' };
  const gpt = /(?:^|[^a-z0-9]|chat)gpt-(\d)(?:[.-]?(\d)(?!\d))?(.*)$/s.exec(lower);
  if (gpt !== null) {
    const [, major, minor = '0', rest = ''] = gpt;
    const words = rest.split(/[^a-z]+/);
    const line = lines.find((word) => words.includes(word)) ?? plainLine(`${major}`, words);
    return { line, version: [Number(major), Number(minor)] };
  }
  const o = /(?:^|[^a-z0-9])o(\d)(?![a-z0-9])(.*)$/s.exec(lower);
  if (o !== null) {
    const [, major, rest = ''] = o;
    const version = [Number(major), 0] as const;
    if (rest.includes('deep-research')) return { line: 'deep-research', version };
    return { line: /-pro\b/.test(rest) ? 'o-pro' : 'o', version };
  }
  if (/(?:^|[^a-z])codex-/.test(lower)) return { line: 'codex', version: [5, 0] };
  return lower.includes('computer-use-preview') ? { line: 'computer-use' } : undefined;
}

/** Of names that none of the words above is in. */
function plainLine(major: string, words: readonly string[]): string {
  if (words[0] === 'o') return 'omni';
  return major === '4' && words.includes('turbo') ? 'turbo' : 'gpt';
}

export const openAi: ModelFamily<OpenAiRow> = { name: 'OpenAI', rows, read };

/** Undefined for a model of another maker, or none. */
export function factsOfOpenAi(name: string, overrides?: ModelOverrides): OpenAiFacts | undefined {
  return overrides === undefined ? rowOf(name) : overrides.apply(name, rowOf);
}

/** Undefined unless the very model is listed. */
export function factsOfListedOpenAi(
  name: string,
  overrides?: ModelOverrides,
): OpenAiFacts | undefined {
  return overrides === undefined ? ownRowOf(name) : overrides.apply(name, ownRowOf);
}

const rowOf = remembered((name) => {
  const asked = read(name);
  return asked && findRow(openAi, asked)?.facts;
});

const ownRowOf = remembered((name) => {
  const asked = read(name);
  return asked && findOwnRow(openAi, asked)?.facts;
});

type FindFacts = (name: string) => OpenAiFacts | undefined;

/** Callers name models: few are remembered, and none that is long. */
function remembered(find: FindFacts): FindFacts {
  const knownMax = 1000;
  const lengthMax = 100;
  /** Null = another maker's, or none. */
  const known = new Map<string, OpenAiFacts | null>();
  return (name) => {
    const found = known.get(name);
    if (found !== undefined) return found ?? undefined;
    const facts = find(name);
    if (name.length > lengthMax) return facts;
    if (known.size >= knownMax) known.clear();
    known.set(name, facts ?? null);
    return facts;
  };
}
