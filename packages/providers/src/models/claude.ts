import { findOwnRow, findRow } from './find-row.ts';
import type { ModelFacts, ModelFamily, ModelRow, ModelVersion } from './model-facts.ts';
import type { ModelOverrides } from './model-overrides.ts';

/** Every column that decides what a request to Claude looks like is filled in each row. */
export type ClaudeFacts = ModelFacts &
  Required<
    Pick<
      ModelFacts,
      | 'sampling'
      | 'efforts'
      | 'thinking'
      | 'forcedTools'
      | 'structuredOutputs'
      | 'systemTurnsAt'
      | 'prefill'
      | 'bindsThoughts'
      | 'newerVersions'
    >
  >;

interface ClaudeRow extends ModelRow {
  facts: ClaudeFacts;
}

type Abilities = Omit<ClaudeFacts, 'model'>;

const docs = 'https://platform.claude.com/docs/en';
const checked = '2026-11-22';

/** Before thinking could be asked for. */
const third: Abilities = {
  sampling: 'all',
  efforts: [],
  thinking: { types: [], default: 'disabled' },
  forcedTools: 'always',
  structuredOutputs: false,
  systemTurnsAt: [],
  prefill: true,
  bindsThoughts: false,
  newerVersions: false,
  contextTokens: 200_000,
  outputTokensMax: 4096,
  endpoints: ['messages'],
  source: `${docs}/about-claude/models/overview`,
  checked,
};

/** Thinking has a budget. */
const fourth: Abilities = {
  ...third,
  thinking: { types: ['enabled', 'disabled'], default: 'disabled' },
  forcedTools: 'unless-budget',
  outputTokensMax: 64_000,
  source: `${docs}/build-with-claude/extended-thinking`,
};

/** One of temperature and top_p; schemas. */
const fourFive: Abilities = {
  ...fourth,
  sampling: 'one',
  structuredOutputs: true,
  source: `${docs}/build-with-claude/structured-outputs`,
};

/** The model decides how much it thinks; budgets are still taken. */
const fourSix: Abilities = {
  ...fourFive,
  efforts: ['low', 'medium', 'high', 'max'],
  effortDefault: 'high',
  thinking: { types: ['adaptive', 'enabled', 'disabled'], default: 'disabled' },
  prefill: false,
  contextTokens: 1_000_000,
  outputTokensMax: 128_000,
  source: `${docs}/build-with-claude/effort`,
};

/** No sampling, no budgets, and thoughts are told only when asked for. */
const fourSeven: Abilities = {
  ...fourSix,
  sampling: 'default',
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  thinking: { types: ['adaptive', 'disabled'], default: 'disabled', display: 'omitted' },
  forcedTools: 'always',
  newerVersions: true,
  source: `${docs}/about-claude/models/migration-guide`,
};

const fifth: Abilities = {
  ...fourSeven,
  thinking: { types: ['adaptive', 'disabled'], default: 'adaptive', display: 'omitted' },
  forcedWithoutThinkingAt: ['bedrock'],
};

/** Thinking cannot be switched off, and no call of a tool be demanded. */
const alwaysThinks: Abilities = {
  ...fifth,
  thinking: { types: ['adaptive'], default: 'adaptive', display: 'omitted' },
  forcedTools: 'never',
};

/** Where Anthropic itself serves: clouds that serve Claude themselves do not take the role. */
const systemTurnsAt: readonly string[] = [
  'anthropic',
  'claude-google-cloud',
  'claude-platform-aws',
];

/** A signed thought belongs to what stands before it. */
const bound = {
  bindsThoughts: true,
  systemTurnsAt,
  source: `${docs}/build-with-claude/preserved-thinking`,
} as const;

const rows: readonly ClaudeRow[] = [
  row('opus', 5, 5, { ...alwaysThinks, ...bound, effortDefault: 'medium' }),
  row('opus', 5, 0, {
    ...fifth,
    systemTurnsAt,
    thinking: { ...fifth.thinking, offUpTo: 'high' },
    source: `${docs}/models/opus-5/migration-guide`,
  }),
  row('opus', 4, 8, { ...fourSeven, systemTurnsAt }),
  row('opus', 4, 7, fourSeven),
  row('opus', 4, 6, fourSix),
  row('opus', 4, 5, { ...fourFive, efforts: ['low', 'medium', 'high'], effortDefault: 'high' }),
  row('opus', 4, 1, { ...fourFive, outputTokensMax: 32_000 }),
  row('opus', 4, 0, { ...fourth, outputTokensMax: 32_000 }),
  row('opus', 3, 0, third),
  row('sonnet', 5, 5, {
    ...fifth,
    ...bound,
    thinking: {
      types: ['adaptive', 'between_tools'],
      default: 'adaptive',
      offUpTo: 'high',
      display: 'omitted',
    },
    forcedTools: 'never',
    source: `${docs}/models/sonnet-5-5/whats-new-sonnet-5-5`,
  }),
  row('sonnet', 5, 0, fifth),
  row('sonnet', 4, 6, fourSix),
  row('sonnet', 4, 5, fourFive),
  row('sonnet', 4, 0, fourth),
  row('sonnet', 3, 7, fourth),
  row('sonnet', 3, 5, { ...third, outputTokensMax: 8192 }),
  row('sonnet', 3, 0, third),
  row('haiku', 5, 5, {
    ...fifth,
    ...bound,
    effortDefault: 'medium',
    thinking: { ...fifth.thinking, offUpTo: 'high' },
    source: `${docs}/models/haiku-5-5/whats-new-haiku-5-5`,
  }),
  row('haiku', 4, 5, fourFive),
  row('haiku', 3, 5, { ...third, outputTokensMax: 8192 }),
  row('haiku', 3, 0, third),
  row('fable', 5, 2, { ...alwaysThinks, ...bound }),
  row('fable', 5, 1, { ...alwaysThinks, ...bound }),
  row('fable', 5, 0, alwaysThinks),
  row('mythos', 5, 2, { ...alwaysThinks, ...bound }),
  row('mythos', 5, 1, { ...alwaysThinks, ...bound }),
  row('mythos', 5, 0, alwaysThinks),
  {
    line: 'mythos',
    version: [4, 7],
    facts: {
      model: 'claude-mythos-preview',
      ...alwaysThinks,
      efforts: ['low', 'medium', 'high', 'max'],
    },
  },
  { line: 'instant', version: [1, 2], facts: { model: 'claude-instant-1.2', ...third } },
  { line: '', version: [2, 0], facts: { model: 'claude-2', ...third, contextTokens: 100_000 } },
];

function row(line: string, major: number, minor: number, abilities: Abilities): ClaudeRow {
  const version = minor === 0 ? `${major}` : `${major}-${minor}`;
  const model = major < 4 ? `claude-${version}-${line}` : `claude-${line}-${version}`;
  return { line, version: [major, minor], facts: { model, ...abilities } };
}

const lines = new Set(rows.map((entry) => entry.line));

/**
 * Names come as `claude-opus-4-5-20251101`, `claude-3-7-sonnet-latest`,
 * `us.anthropic.claude-opus-4-6-v1:0`, `claude-sonnet-4@20250514`,
 * `anthropic/claude-opus-4.5`, or inside an ARN or the name of a deployment.
 */
function read(name: string): ModelVersion | undefined {
  const lower = name.toLowerCase();
  const start = lower.indexOf('claude');
  if (start === -1) return undefined;
  let line: string | undefined;
  const numbers: number[] = [];
  for (const token of lower.slice(start + 'claude'.length).split(/[^a-z0-9]+/)) {
    const number = /^v?(\d{1,2})$/.exec(token);
    if (number === null) {
      // A date, or `v1` behind a version: what follows numbers the snapshot, not the model.
      if (/^\d/.test(token)) break;
      if (line === undefined && token !== '' && lines.has(token)) line = token;
    } else if (token.startsWith('v') && numbers.length > 0) break;
    else if (numbers.length < 2) numbers.push(Number(number[1]));
  }
  const [major, minor = 0] = numbers;
  if (major === undefined)
    return lower.includes('mythos-preview')
      ? { line: 'mythos', version: [4, 7] }
      : { line: line ?? unnamed };
  return { line: line ?? (major < 3 ? '' : unnamed), version: [major, minor] };
}

/** Of a line there are no rows of. */
const unnamed = 'unnamed';

export const claude: ModelFamily<ClaudeRow> = { name: 'Claude', rows, read };

/**
 * For models that speak Claude's format under names of their own. They are asked
 * as Claude 4.5 is, which copies of the format follow, and judge the rest themselves.
 */
const namesake: ClaudeFacts = {
  ...fourFive,
  model: '',
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  contextTokens: undefined,
  outputTokensMax: undefined,
};

export function factsOfClaude(name: string, overrides?: ModelOverrides): ClaudeFacts {
  return overrides === undefined ? rowOf(name) : overrides.apply(name, rowOf);
}

function rowOf(name: string): ClaudeFacts {
  const asked = read(name);
  return (asked && findRow(claude, asked)?.facts) ?? namesake;
}

/** Undefined unless the very model is listed: of another's request nothing is taken that its own caller said. */
export function factsOfListedClaude(
  name: string,
  overrides?: ModelOverrides,
): ClaudeFacts | undefined {
  return overrides === undefined ? ownRowOf(name) : overrides.apply(name, ownRowOf);
}

function ownRowOf(name: string): ClaudeFacts | undefined {
  const asked = read(name);
  return asked && findOwnRow(claude, asked)?.facts;
}
