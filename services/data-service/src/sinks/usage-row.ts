import { usage } from '@sluice/proto-stubs';

/** A row of `usage_records` as JSON; 64-bit numbers are strings, because JSON's numbers lose digits. */
export type UsageRow = Record<string, string | number | boolean | Record<string, string>>;

/** A record that is not fit to be a row; the message says why. */
export class UnfitRecord extends Error {}

/** Proto fields whose column has another name. Every other field's column is the field's own name. */
export const renamedColumns: Readonly<Record<string, string>> = { created_at_ms: 'created_at' };

/**
 * The row of a record, field by field.
 * @throws UnfitRecord for what a column could not hold, so that one bad record never fails a batch.
 */
export function usageRow(record: usage.UsageRecord): UsageRow {
  return {
    id: uuid(record.id, 'id'),
    request_id: uuid(record.requestId, 'request_id'),
    trace_id: record.traceId,
    span_id: record.spanId,
    parent_span_id: record.parentSpanId,
    span_name: record.spanName,
    replica_id: record.replicaId,
    sequence: record.sequence.toString(),
    created_at: timestamp(record.createdAtMs),

    organisation_id: record.organisationId,
    workspace_id: record.workspaceId,
    workspace_slug: record.workspaceSlug,
    api_key_id: record.apiKeyId,
    user_id: record.userId,

    method: record.method,
    request_url: record.requestUrl,
    endpoint: record.endpoint,
    is_proxy_call: record.isProxyCall,
    stream: record.stream,

    provider: record.provider,
    provider_slug: record.providerSlug,
    model: record.model,
    response_model: record.responseModel,
    config_id: record.configId,
    config_slug: record.configSlug,
    config_version_id: record.configVersionId,
    bundle_hash: record.bundleHash,
    option_path: record.optionPath,
    strategy_mode: record.strategyMode,
    attempt: record.attempt,
    retry_count: record.retryCount,
    cache_status: record.cacheStatus,

    outcome: outcomeName(record.outcome),
    status_code: record.statusCode,
    error_code: record.errorCode,
    finish_reason: record.finishReason,

    input_tokens: record.inputTokens.toString(),
    output_tokens: record.outputTokens.toString(),
    cache_read_tokens: record.cacheReadTokens.toString(),
    cache_write_tokens: record.cacheWriteTokens.toString(),
    cache_write_1h_tokens: record.cacheWrite1hTokens.toString(),
    reasoning_tokens: record.reasoningTokens.toString(),
    input_audio_tokens: record.inputAudioTokens.toString(),
    output_audio_tokens: record.outputAudioTokens.toString(),
    usage_reported: record.usageReported,
    cost_nano_usd: record.costNanoUsd.toString(),
    input_cost_nano_usd: record.inputCostNanoUsd.toString(),
    output_cost_nano_usd: record.outputCostNanoUsd.toString(),
    cost_known: record.costKnown,
    price_book_version: record.priceBookVersion,
    price_layer: record.priceLayer,
    images: record.images.toString(),
    search_units: record.searchUnits.toString(),
    pages: record.pages.toString(),
    audio_seconds: finite(record.audioSeconds),
    characters: record.characters.toString(),

    latency_ms: finite(record.latencyMs),
    time_to_first_byte_ms: finite(record.timeToFirstByteMs),
    gateway_ms: finite(record.gatewayMs),

    metadata: record.metadata,
    decision_json: record.decisionJson,
  };
}

function uuid(bytes: Uint8Array, field: string): string {
  if (bytes.length !== 16) throw new UnfitRecord(`${field} is not 16 bytes`);
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, 16).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

const earliestMs = Date.UTC(2020, 0, 1);
const latestMs = Date.UTC(2100, 0, 1);

/** A clock far off would put the record into a partition that nobody looks at. */
function timestamp(ms: bigint): string {
  if (ms < earliestMs || ms >= latestMs)
    throw new UnfitRecord('created_at_ms is not within 2020 to 2099');
  return new Date(Number(ms)).toISOString().replace('T', ' ').slice(0, -1);
}

function finite(value: number): number {
  return Number.isFinite(value) ? value : 0;
}

/** `OUTCOME_UPSTREAM_ERROR` → `upstream_error`; an outcome newer than this program keeps its number. */
function outcomeName(outcome: usage.Outcome): string {
  const name = usage.Outcome[outcome] as string | undefined;
  return name === undefined ? `outcome_${outcome}` : name.toLowerCase();
}
