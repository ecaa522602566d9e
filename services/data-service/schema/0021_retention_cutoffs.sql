-- Up to which day, not included, rows of an organisation are deleted by their age: those of 'logs', and the 'figures' made of them.
-- The empty organisation stands for all that have no row. A day is never taken back.
CREATE TABLE IF NOT EXISTS retention_cutoffs
(
    organisation_id String,
    grain LowCardinality(String),
    before Date,
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(before)
ORDER BY (organisation_id, grain)
