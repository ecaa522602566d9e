import { analytics } from '@sluice/proto-stubs';

const { Graph, Summary } = analytics;

/** What is shown, by its published name: a number made of partials, 0 where there was nothing. */
export type Figures = Readonly<Record<string, string>>;

/** Figures as columns of a question; partials have names of their own. */
export function figureColumns(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, sql]) => `toFloat64(${sql}) AS ${figureColumn(name)}`)
    .join(', ');
}

export function figureColumn(name: string): string {
  return `figure_${name}`;
}

/** Those that a row tells; what it does not is 0. */
export function figuresIn(
  row: Readonly<Record<string, unknown>>,
  figures: Figures,
): Record<string, number> {
  return Object.fromEntries(
    Object.keys(figures).map((name) => [name, Number(row[figureColumn(name)] ?? 0)]),
  );
}

export interface GraphDeclaration {
  /** Of the whole time, and of each bucket. */
  readonly figures: Figures;
  /** A map of partials: what the figures are told in parts by. */
  readonly parts?: string;
  /** Points are those parts of the whole time, each with its count under this name, in place of buckets. */
  readonly partsAs?: string;
  /** Figures that are told with those of all buckets before. */
  readonly running?: readonly string[];
}

const ratio = (of: string, to: string) => `if(${to} = 0, 0, ${of} / ${to})`;
const percent = (of: string, to: string) => `100 * ${ratio(of, to)}`;

/** The value that so large a part of the latencies does not exceed. Milliseconds. */
function percentile(part: number): string {
  // Keys of a merged map are in order.
  return `if(answered = 0, 0,
    mapKeys(latencies)[arrayFirstIndex(sum -> sum >= ${part} * answered, arrayCumSum(mapValues(latencies)))] / 1e3)`;
}

const errors = '(requests - successes)';
const tokens = '(input_tokens + output_tokens)';
const hits = '(simple_hits + semantic_hits)';
const averageLatency = `${ratio('latency', 'answered')} / 1e3`;
const averageHitLatency = `${ratio('hit_latency', hits)} / 1e3`;
const averageMissLatency = ratio('missed_latency', 'missed');
const averageFeedback = 'if(empty(feedback), 0, arrayAvg(each -> each.3, feedback))';
const scores = 'arrayMap(each -> each.2, feedback)';

/** What each graph counts. A new one is an entry here. */
export const graphs: Partial<Record<analytics.Graph, GraphDeclaration>> = {
  [Graph.REQUESTS]: { figures: { total: 'requests' } },
  // US cents. The average is over entries that cost anything: unpriced models and refusals would hide what others cost.
  [Graph.COST]: {
    figures: {
      total: 'cost / 1e7',
      avg: `${ratio('cost', 'priced')} / 1e7`,
      unpriced: 'lacking_price',
    },
  },
  // The average is over entries with usage: refusals would only lower it.
  [Graph.TOKENS]: { figures: { total: tokens, avg: ratio(tokens, 'with_tokens') } },
  [Graph.LATENCY]: {
    figures: {
      avg: averageLatency,
      p50: percentile(0.5),
      p90: percentile(0.9),
      p99: percentile(0.99),
    },
  },
  [Graph.USERS]: { figures: { total: 'users' } },
  [Graph.USERS_REQUESTS]: {
    figures: { total: 'with_user', unique: 'users', avg: ratio('with_user', 'users') },
  },
  [Graph.ERRORS]: { figures: { total: errors } },
  [Graph.ERRORS_RATE]: { figures: { rate: percent(errors, 'requests') } },
  [Graph.ERRORS_STACKS]: { figures: { total: errors }, parts: 'failures' },
  [Graph.ERRORS_STATUS_CODES]: {
    figures: { total_errors: errors, unique_error_codes: 'length(mapKeys(failures))' },
    parts: 'failures',
    partsAs: 'count',
  },
  [Graph.REQUESTS_RESCUED]: {
    figures: { retry: 'arraySum(mapValues(retried))', fallback: 'fallbacks' },
    parts: 'retried',
  },
  [Graph.CACHE_HIT_RATE]: {
    figures: {
      total: hits,
      rate: percent(hits, 'requests'),
      simple_hits: 'simple_hits',
      semantic_hits: 'semantic_hits',
      cumulative_simple_cache_savings: 'simple_savings / 1e7',
      cumulative_semantic_cache_savings: 'semantic_savings / 1e7',
    },
    running: ['cumulative_simple_cache_savings', 'cumulative_semantic_cache_savings'],
  },
  [Graph.CACHE_LATENCY]: { figures: { avg: averageHitLatency } },
  [Graph.FEEDBACKS]: { figures: { total: 'length(feedback)' } },
  [Graph.FEEDBACKS_SCORES]: {
    figures: { total: 'length(feedback)' },
    parts: `mapFromArrays(arrayDistinct(${scores}),
      arrayMap(score -> countEqual(${scores}, score), arrayDistinct(${scores})))`,
    partsAs: 'total',
  },
  [Graph.FEEDBACKS_WEIGHTED]: { figures: { avg: averageFeedback } },
};

/** Told by model, where there is any: the one graph that is made as groups are. */
export const feedbackByModel = {
  total: 'length(feedback)',
  avg_weighted_feedback: averageFeedback,
} as const satisfies Figures;

export const summaries: Partial<Record<analytics.Summary, Figures>> = {
  [Summary.CACHE]: {
    hits,
    avg_latency: averageHitLatency,
    total_requests: 'requests',
    cache_speedup: `if(${hits} = 0 OR missed_latency = 0, 0,
      100 * (1 - ${ratio('hit_latency', hits)} / ${averageMissLatency}))`,
  },
};

/** Columns of groups, by their published names. Times are Unix ms. */
export const groupColumns = {
  requests: 'requests',
  cost: 'cost / 1e7',
  total_tokens: tokens,
  avg_tokens: ratio(tokens, 'with_tokens'),
  avg_input_tokens: ratio('input_tokens', 'with_tokens'),
  avg_output_tokens: ratio('output_tokens', 'with_tokens'),
  avg_latency: averageLatency,
  p95_latency: percentile(0.95),
  p99_latency: percentile(0.99),
  success_rate: percent('successes', 'requests'),
  error_count: errors,
  cache_hit_rate: percent(hits, 'requests'),
  prompt_cache_rate: percent('cached_tokens', 'input_tokens'),
  first_seen: 'first_ms',
  last_seen: 'last_ms',
  requests_with_feedback: 'with_feedback',
  avg_weighted_feedback: averageFeedback,
} as const satisfies Figures;
