-- One row an attempt. A record may arrive several times; rows with the same sorting key collapse to one,
-- at merges for good and in every query by FINAL. created_at is part of the record, so copies always share a partition.
CREATE TABLE IF NOT EXISTS usage_records
(
    id UUID,
    request_id UUID,
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    parent_span_id String CODEC(ZSTD(1)),
    span_name LowCardinality(String),
    replica_id LowCardinality(String),
    sequence UInt64 CODEC(Delta, ZSTD(1)),
    created_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),

    organisation_id LowCardinality(String),
    workspace_id LowCardinality(String),
    workspace_slug LowCardinality(String),
    api_key_id String CODEC(ZSTD(1)),
    user_id String CODEC(ZSTD(1)),

    method LowCardinality(String),
    request_url String CODEC(ZSTD(1)),
    endpoint LowCardinality(String),
    is_proxy_call Bool,
    stream Bool,

    provider LowCardinality(String),
    provider_slug LowCardinality(String),
    model LowCardinality(String),
    response_model LowCardinality(String),
    config_id LowCardinality(String),
    config_slug LowCardinality(String),
    config_version_id LowCardinality(String),
    bundle_hash LowCardinality(String),
    option_path LowCardinality(String),
    strategy_mode LowCardinality(String),
    attempt UInt32,
    retry_count Int32,
    cache_status LowCardinality(String),

    outcome LowCardinality(String),
    status_code UInt32,
    error_code LowCardinality(String),
    finish_reason LowCardinality(String),

    input_tokens UInt64 CODEC(T64, ZSTD(1)),
    output_tokens UInt64 CODEC(T64, ZSTD(1)),
    cache_read_tokens UInt64 CODEC(T64, ZSTD(1)),
    cache_write_tokens UInt64 CODEC(T64, ZSTD(1)),
    cache_write_1h_tokens UInt64 CODEC(T64, ZSTD(1)),
    reasoning_tokens UInt64 CODEC(T64, ZSTD(1)),
    input_audio_tokens UInt64 CODEC(T64, ZSTD(1)),
    output_audio_tokens UInt64 CODEC(T64, ZSTD(1)),
    usage_reported Bool,
    cost_nano_usd Int64 CODEC(T64, ZSTD(1)),
    input_cost_nano_usd Int64 CODEC(T64, ZSTD(1)),
    output_cost_nano_usd Int64 CODEC(T64, ZSTD(1)),
    cost_known Bool,
    price_book_version LowCardinality(String),
    price_layer LowCardinality(String),

    latency_ms Float64,
    time_to_first_byte_ms Float64,
    gateway_ms Float64,

    metadata Map(String, String) CODEC(ZSTD(1)),
    decision_json String CODEC(ZSTD(3)),

    -- Ours, not the record's: when it was stored, and which copy wins. An attempt that a restarted gateway
    -- reports as lost gives way to the record of its real end, in whichever order the two arrive.
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    certainty UInt8 DEFAULT outcome != 'lost'
)
ENGINE = ReplacingMergeTree(certainty)
PARTITION BY toYYYYMM(created_at)
ORDER BY (organisation_id, workspace_id, created_at, id)
