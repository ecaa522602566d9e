-- What hooks came to that ended after the record of their attempt. An entry may be sent again.
CREATE TABLE IF NOT EXISTS late_hooks
(
    id UUID,
    organisation_id LowCardinality(String),
    workspace_id LowCardinality(String),
    request_id UUID,
    option_path LowCardinality(String),
    verdict_json String CODEC(ZSTD(1)),
    created_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(stored_at)
PARTITION BY toYYYYMM(created_at)
ORDER BY (organisation_id, request_id, id)
