/**
 * What must be known of a model so that a request is not refused, and what
 * callers may want to know before they ask. A row says what the model takes,
 * whoever serves it; where hosts differ, the column names them. A column that
 * is absent says that nothing is known: then a request goes out as it was asked.
 */
export interface ModelFacts {
  /** As its maker names it, without a date: `claude-opus-4-5`. */
  model: string;
  /**
   * Of temperature, top_p, top_k and penalties: `all`; `one`: temperature or top_p,
   * not both; `unless-reasoning`: all at the effort `none` alone; `default`: no values
   * but the defaults.
   */
  sampling?: 'all' | 'one' | 'unless-reasoning' | 'default';
  /** The words it takes for an effort, the least first; empty = none. */
  efforts?: readonly string[];
  /** Those of `/chat/completions`, where they are fewer. */
  effortsInChat?: readonly string[];
  /** The effort of a request that names none. */
  effortDefault?: string;
  thinking?: ThinkingFacts;
  /** Tokens that may be thought, where the maker wants a number: `off` is what stands for no thinking. */
  thinkingBudget?: { off: number; min: number; max: number };
  /** Calls of the model's own are refused in its history without their signatures. */
  signsCalls?: boolean;
  /** Whether a call of a tool may be demanded: `unless-budget` = not beside a thinking budget. */
  forcedTools?: 'always' | 'unless-budget' | 'never';
  /** Providers (by id) that want thinking switched off beside a demanded call. */
  forcedWithoutThinkingAt?: readonly string[];
  /** Answers by a JSON schema, and strict tools. */
  structuredOutputs?: boolean;
  /** Providers (by id) that take a message of the role `system` between the others. */
  systemTurnsAt?: readonly string[];
  /** The start of the answer may be given as a last message of the assistant. */
  prefill?: boolean;
  /** A signed thought is refused when anything before it has changed. */
  bindsThoughts?: boolean;
  /** Where some models have the first version of their maker's API alone, as at Bedrock, this one has the later ones too. */
  newerVersions?: boolean;
  /** In its maker's formats parts may say where a prefix of the prompt ends that is to be kept. */
  cacheBreakpoints?: boolean;
  /** Tokens of a prompt and its answer together. */
  contextTokens?: number | undefined;
  outputTokensMax?: number | undefined;
  /** Where its maker serves it. */
  endpoints?: readonly ModelEndpoint[];
  /** Those of the endpoints that take functions; absent = all of them. */
  toolsAt?: readonly ModelEndpoint[];
  /** Those that take functions beside an effort; absent = all that take functions. */
  toolsWithReasoningAt?: readonly ModelEndpoint[];
  /** Where the row comes from, and when it was read there. */
  source: string;
  checked: string;
}

export type ModelEndpoint = 'chat' | 'messages' | 'responses' | 'generate-content';

/** `between_tools` leaves out the thought before the answer, not those between calls. */
export type ThinkingType = 'enabled' | 'adaptive' | 'between_tools' | 'disabled';

export interface ThinkingFacts {
  /** Those that a request may name. */
  types: readonly ThinkingType[];
  /** What a request without one gets. */
  default: ThinkingType;
  /** The highest effort beside which thinking may be off; absent = all. */
  offUpTo?: string;
  /** What callers see of thoughts when they do not say; absent = all there is. */
  display?: 'summarized' | 'omitted';
}

/** The models of one maker. */
export interface ModelFamily<Row extends ModelRow = ModelRow> {
  name: string;
  rows: readonly Row[];
  /** Line and version in a model's name as any host spells it; undefined = not of this family. */
  read(name: string): ModelVersion | undefined;
}

export interface ModelVersion {
  /** What a maker keeps apart at one time: `opus`, `haiku`. */
  line: string;
  /** Absent = the newest, as in `…-latest`. */
  version?: readonly [major: number, minor: number];
}

export interface ModelRow {
  line: string;
  version: readonly [major: number, minor: number];
  facts: ModelFacts;
}
