-- Which numbers of each life the ledger has, as bitmaps of 65,536: a copy of a record changes nothing.
CREATE TABLE IF NOT EXISTS replica_numbers
(
    replica_id String CODEC(ZSTD(1)),
    block UInt64,
    numbers AggregateFunction(groupBitmap, UInt16),
    stored_at SimpleAggregateFunction(max, DateTime64(3, 'UTC'))
)
ENGINE = AggregatingMergeTree
ORDER BY (replica_id, block)
