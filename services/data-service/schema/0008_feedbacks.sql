-- What somebody thinks of a trace. The latest of an id stands: it may be changed, and may be sent again.
CREATE TABLE IF NOT EXISTS feedbacks
(
    id UUID,
    organisation_id LowCardinality(String),
    workspace_id LowCardinality(String),
    trace_id String CODEC(ZSTD(1)),
    value Int32,
    weight Float64,
    metadata Map(String, String) CODEC(ZSTD(1)),
    created_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    changed_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(changed_at)
ORDER BY (organisation_id, workspace_id, trace_id, id)
