-- What arrived and could not be read as a usage record: kept, so that it can be repaired and sent again.
CREATE TABLE IF NOT EXISTS usage_rejects
(
    -- SHA-256 of the bytes, so that a redelivery adds nothing.
    digest FixedString(64),
    reason LowCardinality(String),
    record_base64 String CODEC(ZSTD(3)),
    received_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY digest
