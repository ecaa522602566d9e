-- What was rolled up, by spans of so many minutes: a row when a roll of a span begins, before anything of it is written, and one
-- when all of it stands. A roll's number names, above twenty random bits, the millisecond up to which it knows all changes.
CREATE TABLE IF NOT EXISTS usage_rolls
(
    organisation_id LowCardinality(String),
    width UInt32,
    start UInt32 CODEC(Delta, ZSTD(1)),
    roll UInt64 CODEC(Delta, ZSTD(1)),
    is_whole SimpleAggregateFunction(max, UInt8),
    -- Keys of metadata that had too many values to be rolled up.
    left_out SimpleAggregateFunction(groupUniqArrayArray, Array(String))
)
ENGINE = AggregatingMergeTree
PARTITION BY intDiv(start, 43200)
ORDER BY (organisation_id, width, start, roll)
