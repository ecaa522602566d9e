/**
 * What each Claude model refuses, as its vendor's pages say: written apart from
 * the table the gateway asks by, so that a slip in one is not a slip in both.
 * https://platform.claude.com/docs/en/models/overview, November 2026.
 */
export interface ClaudeRules {
  outputTokensMax: number;
  thinking: readonly string[];
  /** Runs without a `thinking` field, too. */
  thinksByItself: boolean;
  /** Thinking may only be off up to this effort. */
  offUpToHigh: boolean;
  efforts: readonly string[];
  takesSampling: boolean;
  takesBothOfSampling: boolean;
  takesForcedTools: boolean;
  takesSchemas: boolean;
  takesSystemTurns: boolean;
  takesPrefill: boolean;
}

const none: readonly string[] = [];
const three = ['low', 'medium', 'high'];
const four = [...three, 'max'];
const five = [...three, 'xhigh', 'max'];

type Row = [
  name: RegExp,
  outputTokensMax: number,
  thinking: string,
  efforts: readonly string[],
  /** `t` temperature and others, `b` both at once, `f` forced tools, `s` schemas, `m` system turns, `p` prefill. */
  takes: string,
];

const rows: readonly Row[] = [
  [/opus-5-5/, 128_000, 'adaptive!', five, 'sm'],
  [/opus-5/, 128_000, 'adaptive! disabled^', five, 'fsm'],
  [/opus-4-8/, 128_000, 'adaptive disabled', five, 'fsm'],
  [/opus-4-7/, 128_000, 'adaptive disabled', five, 'fs'],
  [/opus-4-6/, 128_000, 'adaptive enabled disabled', four, 'tfs'],
  [/opus-4-5/, 64_000, 'enabled disabled', three, 'tfsp'],
  [/opus-4-1/, 32_000, 'enabled disabled', none, 'tfsp'],
  [/opus-4/, 32_000, 'enabled disabled', none, 'tbfp'],
  [/sonnet-5-5/, 128_000, 'adaptive! between_tools^', five, 'sm'],
  [/sonnet-5/, 128_000, 'adaptive! disabled', five, 'fs'],
  [/sonnet-4-6/, 128_000, 'adaptive enabled disabled', four, 'tfs'],
  [/sonnet-4-5/, 64_000, 'enabled disabled', none, 'tfsp'],
  [/sonnet-4|3-7-sonnet/, 64_000, 'enabled disabled', none, 'tbfp'],
  [/haiku-5-5/, 128_000, 'adaptive! disabled^', five, 'fsm'],
  [/haiku-4-5/, 64_000, 'enabled disabled', none, 'tfsp'],
  [/(fable|mythos)-5-[12]/, 128_000, 'adaptive!', five, 'sm'],
  [/(fable|mythos)-5/, 128_000, 'adaptive!', five, 's'],
  [/mythos-preview/, 128_000, 'adaptive!', four, 's'],
  [/3-5-(sonnet|haiku)/, 8192, 'disabled', none, 'tbfp'],
  [/claude-3|claude-2|claude-instant/, 4096, 'disabled', none, 'tbfp'],
];

/** Undefined: no model of the vendor's. */
export function rulesOfClaude(model: string): ClaudeRules | undefined {
  const row = rows.find(([name]) => name.test(model));
  if (row === undefined) return undefined;
  const [, outputTokensMax, thinking, efforts, takes] = row;
  return {
    outputTokensMax,
    efforts,
    thinking: thinking.replaceAll(/[!^]/g, '').split(' '),
    thinksByItself: thinking.includes('!'),
    offUpToHigh: thinking.includes('^'),
    takesSampling: takes.includes('t'),
    takesBothOfSampling: takes.includes('b'),
    takesForcedTools: takes.includes('f'),
    takesSchemas: takes.includes('s'),
    takesSystemTurns: takes.includes('m'),
    takesPrefill: takes.includes('p'),
  };
}
