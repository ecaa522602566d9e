-- Entries of minutes that are over, as analytics ask for them. A later roll of a minute takes the place of an earlier one, row by row.
CREATE TABLE IF NOT EXISTS settled_entries
(
    organisation_id LowCardinality(String),
    -- The minute since the epoch.
    start UInt32 CODEC(Delta, ZSTD(1)),
    workspace_id LowCardinality(String),
    created_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    -- Of entries of one workspace and millisecond.
    number UInt32 CODEC(T64, ZSTD(1)),
    roll UInt64 CODEC(Delta, ZSTD(1)),
    api_key_id LowCardinality(String),
    user_id LowCardinality(String),
    endpoint LowCardinality(String),
    provider LowCardinality(String),
    provider_slug LowCardinality(String),
    model LowCardinality(String),
    config_id LowCardinality(String),
    config_slug LowCardinality(String),
    prompt_slug LowCardinality(String),
    metadata Map(String, String) CODEC(ZSTD(1)),
    outcome LowCardinality(String),
    status_code UInt32 CODEC(T64, ZSTD(1)),
    error_code LowCardinality(String),
    retry_count Int32 CODEC(T64, ZSTD(1)),
    cache_status LowCardinality(String),
    cache_type LowCardinality(String),
    input_tokens UInt64 CODEC(T64, ZSTD(1)),
    output_tokens UInt64 CODEC(T64, ZSTD(1)),
    cost_nano_usd Int64 CODEC(T64, ZSTD(1)),
    cost_known Bool,
    avoided_cost_nano_usd Int64 CODEC(T64, ZSTD(1)),
    latency_us UInt64 CODEC(T64, ZSTD(1)),
    is_fallback Bool,
    feedback Array(Tuple(UUID, Int32, Float64)) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(roll)
PARTITION BY intDiv(start, 43200)
ORDER BY (organisation_id, start, workspace_id, created_at, number)
