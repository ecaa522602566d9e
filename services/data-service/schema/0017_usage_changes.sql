-- When anything of a minute (since the epoch) of an organisation last changed: marks that say what must be rolled up again.
-- A mark that comes twice or for nothing does no harm.
CREATE TABLE IF NOT EXISTS usage_changes
(
    organisation_id LowCardinality(String),
    minute UInt32 CODEC(Delta, ZSTD(1)),
    changed_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')) CODEC(Delta, ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY intDiv(minute, 43200)
ORDER BY (organisation_id, minute)
