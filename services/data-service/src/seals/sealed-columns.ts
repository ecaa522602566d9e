import { usageFields } from '../columns/usage-fields.gen.ts';

/**
 * What of a row is sealed first, in this order for ever: seals of the past are compared with it. Left out is only what the
 * ledger adds itself. These two lists have ended: what is new is in `newerColumns` by itself.
 */
const firstColumns = {
  usage_records: [
    'id',
    'request_id',
    'trace_id',
    'span_id',
    'parent_span_id',
    'span_name',
    'replica_id',
    'sequence',
    'created_at',
    'organisation_id',
    'workspace_id',
    'workspace_slug',
    'api_key_id',
    'user_id',
    'method',
    'request_url',
    'endpoint',
    'is_proxy_call',
    'stream',
    'provider',
    'provider_slug',
    'model',
    'response_model',
    'config_id',
    'config_slug',
    'config_version_id',
    'bundle_hash',
    'option_path',
    'strategy_mode',
    'attempt',
    'retry_count',
    'cache_status',
    'outcome',
    'status_code',
    'error_code',
    'finish_reason',
    'input_tokens',
    'output_tokens',
    'cache_read_tokens',
    'cache_write_tokens',
    'cache_write_1h_tokens',
    'reasoning_tokens',
    'input_audio_tokens',
    'output_audio_tokens',
    'usage_reported',
    'cost_nano_usd',
    'input_cost_nano_usd',
    'output_cost_nano_usd',
    'cost_known',
    'price_book_version',
    'price_layer',
    'images',
    'search_units',
    'pages',
    'audio_seconds',
    'characters',
    'latency_ms',
    'time_to_first_byte_ms',
    'gateway_ms',
    'metadata',
    'decision_json',
    'service_tier',
    'served_region',
    'units',
    'images_by_kind',
    'cache_read_audio_tokens',
    'input_image_tokens',
    'output_image_tokens',
    'price_multiplier',
    'provider_cost_nano_usd',
    'provider_cost_known',
    'avoided_cost_nano_usd',
    'usage_estimated',
    'usage_implausible',
    'counters_reserved',
    'counters_settled',
    'would_have_refused',
    'limits_degraded',
    'entry_id',
    'attempt_ms',
    'entry_ms',
    'request_parsing_ms',
    'pre_processing_ms',
    'cache_processing_ms',
    'response_parsing_ms',
    'prompt_id',
    'prompt_slug',
    'prompt_version_id',
    'cache_type',
    'source',
    'runtime',
    'runtime_version',
    'sdk_version',
    'failure_cause',
    'log_format',
    'gateway_version',
  ],
  usage_adjustments: [
    'id',
    'record_id',
    'organisation_id',
    'workspace_id',
    'attempt_created_at',
    'created_at',
    'cost_nano_usd',
    'input_cost_nano_usd',
    'output_cost_nano_usd',
    'makes_known',
    'price_layer',
    'price_book_version',
    'reason',
    'author',
    'input_tokens',
    'output_tokens',
  ],
} as const;

export type SealedTable = keyof typeof firstColumns;

/** What came later: sealed whole behind the first list, in this order, where any of it is set. */
const secondColumns: Readonly<Record<SealedTable, readonly string[]>> = {
  usage_records: [
    'rpc_method',
    'rpc_id',
    'capability_name',
    'tool_failed',
    'tool_error',
    'rpc_error_code',
    'upstream_status',
    'session_id',
    'protocol_version',
    'upstream_protocol_version',
    'transport_client',
    'transport_upstream',
    'auth_type',
    'upstream_token_refreshed',
    'task_id',
    'context_id',
    'task_state',
    'usage_missing',
    'unpriced_units',
  ],
  usage_adjustments: [],
};

const isListed = new Set<string>([...firstColumns.usage_records, ...secondColumns.usage_records]);

/**
 * What came after both: every other field of the record, and what an adjustment has got since. Each is sealed by its own
 * name where it is set, so that a row without it is sealed as it was before there was any.
 */
const newerColumns: Readonly<Record<SealedTable, readonly string[]>> = {
  usage_records: Object.keys(usageFields).filter((name) => !isListed.has(name)),
  usage_adjustments: [],
};

/** The columns of a table that are sealed. */
export interface SealedColumns {
  readonly first: readonly string[];
  readonly second: readonly string[];
  readonly newer: readonly string[];
}

export const sealedColumns: Readonly<Record<SealedTable, SealedColumns>> = {
  usage_records: columnsOf('usage_records'),
  usage_adjustments: columnsOf('usage_adjustments'),
};

function columnsOf(table: SealedTable): SealedColumns {
  return { first: firstColumns[table], second: secondColumns[table], newer: newerColumns[table] };
}

/** What of a row is hashed: an expression of ClickHouse's, a text of bytes. */
export function sealedBytes({ first, second, newer }: SealedColumns): string {
  const parts = [rowOf(first)];
  if (second.length > 0)
    parts.push(`if(${second.map(isUnset).join(' AND ')}, '', ${rowOf(second)})`);
  for (const name of newer)
    parts.push(`if(${isUnset(name)}, '', concat('${name}=', ${rowOf([name])}))`);
  return parts.length === 1 ? rowOf(first) : `concat(${parts.join(', ')})`;
}

const rowOf = (columns: readonly string[]) => `formatRow('RowBinary', ${columns.join(', ')})`;
const isUnset = (name: string) => `${name} = defaultValueOfArgumentType(${name})`;
