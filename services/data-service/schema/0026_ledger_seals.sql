-- Daily totals of each workspace, chained by their hashes: an entry cannot be altered, removed or put between others unseen.
CREATE TABLE IF NOT EXISTS ledger_seals
(
    organisation_id LowCardinality(String),
    sequence UInt64 CODEC(Delta, ZSTD(1)),
    -- 'part' = of one workspace and one day of records; 'day' = the sum, and the end, of what was sealed for a day.
    kind LowCardinality(String),
    day Date,
    workspace_id String CODEC(ZSTD(1)),
    -- Earlier than the day: they came after that day was sealed.
    records_day Date,
    records UInt64,
    input_tokens UInt64,
    output_tokens UInt64,
    cost_nano_usd Int64,
    adjustments UInt64,
    adjusted_nano_usd Int64,
    -- What the rows of each hour came to, as JSON.
    blocks String CODEC(ZSTD(3)),
    previous_hash FixedString(64),
    hash FixedString(64),
    sealed_at DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC')
)
ENGINE = ReplacingMergeTree
ORDER BY (organisation_id, sequence)
