import { afterSending } from '@sluice/usage';

/** How a column of entries comes of the row of the one attempt that there was, and of the rows of several. */
interface EntrySource {
  readonly row: string;
  readonly attempts: string;
}

/** Orders the attempts at a target. A cancelled second call must not stand for the one that answered. */
const lastAttempt = "(error_code != 'request.superseded', retry_count, UUIDToNum(id))";

const ofLast = (sql: string): EntrySource => ({
  row: sql,
  attempts: `argMax(${sql}, ${lastAttempt})`,
});
const sumOf = (sql: string): EntrySource => ({ row: sql, attempts: `sum(${sql})` });

/** Those of old releases do not say that the cost of a refusal or a failure is none. */
const usedNothing = `(input_tokens + output_tokens = 0 AND (outcome = 'upstream_error' OR (outcome = 'denied' AND attempt_ms = 0)
  OR (outcome IN ('upstream_failure', 'gateway_error') AND error_code NOT IN ('${[...afterSending].join("', '")}'))))`;
const costIsKnown = `(cost_known OR adjusted_to_known OR ${usedNothing})`;

/** What all attempts at a target have in common, or the last one's is the entry's. */
const taken = [
  'request_id',
  'created_at',
  'workspace_id',
  'api_key_id',
  'user_id',
  'trace_id',
  'span_id',
  'endpoint',
  'request_url',
  'provider',
  'provider_slug',
  'model',
  'config_id',
  'config_slug',
  'prompt_slug',
  'metadata',
  'outcome',
  'status_code',
  'error_code',
  'retry_count',
  'cache_status',
  'cache_type',
  'capability_name',
] as const;

const computed = {
  // Of the first attempt: what an entry is called by. And of the one that it ended with.
  log_id: {
    row: 'id',
    attempts: `any(if(entry_id = toUUID('00000000-0000-0000-0000-000000000000'), id, entry_id))`,
  },
  last_id: ofLast('id'),
  input_tokens: sumOf('input_tokens'),
  output_tokens: sumOf('output_tokens'),
  cache_read_tokens: sumOf('cache_read_tokens'),
  avoided_cost_nano_usd: sumOf('avoided_cost_nano_usd'),
  // With what was added later. A cost that is unknown is shown as nothing spent.
  cost_nano_usd: sumOf('if(cost_known, cost_nano_usd, 0) + adjusted_nano_usd'),
  cost_known: {
    row: costIsKnown,
    // Of one that is not known nobody can say what all cost.
    attempts: `min(${costIsKnown})`,
  },
  /** Something was used that has no price: the cost is without it. */
  lacks_price: {
    row: "unpriced_units != ''",
    attempts: "max(unpriced_units != '')",
  },
  adjusted_nano_usd: sumOf('adjusted_nano_usd'),
  attempts: { row: 'toUInt64(1)', attempts: 'count()' },
  // From the beginning of the visit at the target to the end of its last attempt; of old records, the request's.
  latency_us: ofLast('toUInt64(greatest(0, round(if(entry_ms > 0, entry_ms, latency_ms) * 1000)))'),
  end_user: ofLast("metadata['_user']"),
  // Since the epoch: what buckets are made of.
  minute: ofLast('toUInt32(intDiv(toUnixTimestamp64Milli(created_at), 60000))'),
} as const satisfies Record<string, EntrySource>;

export type EntryColumn =
  | (typeof taken)[number]
  | keyof typeof computed
  /** Whether it was asked because another target of the request did not do. */
  | 'is_fallback'
  /** What was said of the trace: id, value, and value × weight of each. */
  | 'feedback'
  /** The sum of the last, NULL where nothing was said. */
  | 'weighted_feedback';

export const entrySources: Readonly<Record<string, EntrySource>> = {
  ...Object.fromEntries(taken.map((name) => [name, ofLast(name)])),
  ...computed,
};

/** Those that cannot be told without the table of adjustments. */
export const adjustedColumns: ReadonlySet<EntryColumn> = new Set([
  'cost_nano_usd',
  'cost_known',
  'adjusted_nano_usd',
]);

/** Of `settled_entries`, which has the others by their names. */
const settledSources: Partial<Record<EntryColumn, string>> = {
  end_user: "metadata['_user']",
  minute: 'start',
  weighted_feedback: weightOf('feedback'),
};

/** How a column comes of the row of an entry that was settled. */
export function settledSource(name: EntryColumn): string {
  return settledSources[name] ?? name;
}

/** What is kept of entries that were settled: whatever figures are made of. */
export const settledColumns = [
  'created_at',
  'workspace_id',
  'api_key_id',
  'user_id',
  'endpoint',
  'provider',
  'provider_slug',
  'model',
  'config_id',
  'config_slug',
  'prompt_slug',
  'capability_name',
  'metadata',
  'outcome',
  'status_code',
  'error_code',
  'retry_count',
  'cache_status',
  'cache_type',
  'input_tokens',
  'output_tokens',
  'cost_nano_usd',
  'cost_known',
  'lacks_price',
  'avoided_cost_nano_usd',
  'latency_us',
  'is_fallback',
  'feedback',
] as const satisfies readonly EntryColumn[];

/** What rolls of this release tell. Those of a release before lack columns, and answer no question about them. */
export const rollForm = 1;

/** The least form of a roll that tells these columns. */
export function formWith(columns: readonly EntryColumn[]): number {
  return columns.includes('capability_name') ? 1 : 0;
}

/** Whether a question that looks at a column can be answered by them. */
export function isSettled(name: EntryColumn): boolean {
  const kept: readonly EntryColumn[] = settledColumns;
  return kept.includes(name) || settledSources[name] !== undefined;
}

/** The sum of what was said of a trace, NULL where nothing was. */
export function weightOf(feedback: string): string {
  return `if(empty(${feedback}), NULL, arraySum(each -> each.3, ${feedback}))`;
}
