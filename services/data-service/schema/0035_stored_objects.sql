-- Whose objects are that providers keep: what gateways ask for that none of them remembers. Looked up by its key alone, so there
-- are no partitions and small granules. What vendors let go of after 30 days goes after 60, the rest stays as they keep it.
CREATE TABLE IF NOT EXISTS stored_objects
(
    id UUID,
    organisation_id LowCardinality(String),
    object_key String,
    origin LowCardinality(String),
    workspace_id LowCardinality(String),
    kind LowCardinality(String),
    provider LowCardinality(String),
    account LowCardinality(String),
    model LowCardinality(String),
    noted_at DateTime64(3, 'UTC'),
    stored_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(noted_at)
ORDER BY (organisation_id, object_key, origin, workspace_id)
TTL toDateTime(noted_at) + INTERVAL 60 DAY DELETE WHERE kind IN ('response', 'completion', 'run')
SETTINGS index_granularity = 1024
