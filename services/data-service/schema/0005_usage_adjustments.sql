-- What is added to the cost of attempts that were recorded before: their records stay as they are.
CREATE TABLE IF NOT EXISTS usage_adjustments
(
    -- Made of the attempt, the price and what was charged before: the same correction made twice is one.
    id UUID,
    record_id UUID,
    organisation_id String,
    workspace_id String,
    attempt_created_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    created_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    -- Negative = it was charged too much.
    cost_nano_usd Int64 CODEC(T64, ZSTD(1)),
    input_cost_nano_usd Int64 CODEC(T64, ZSTD(1)),
    output_cost_nano_usd Int64 CODEC(T64, ZSTD(1)),
    makes_known Bool,
    price_layer LowCardinality(String),
    price_book_version LowCardinality(String),
    reason LowCardinality(String),
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(attempt_created_at)
ORDER BY (organisation_id, workspace_id, attempt_created_at, record_id, id)
