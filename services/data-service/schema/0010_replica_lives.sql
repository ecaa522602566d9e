-- What lives of replicas told of themselves, a row a minute: every column is the largest of what was told.
CREATE TABLE IF NOT EXISTS replica_lives
(
    replica_id String CODEC(ZSTD(1)),
    -- Of when it was told.
    minute DateTime('UTC') CODEC(Delta, ZSTD(1)),
    -- 1 = begun, 2 = alive, 3 = ended.
    state SimpleAggregateFunction(max, UInt8),
    sequence SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
    complete_to SimpleAggregateFunction(max, UInt64) CODEC(T64, ZSTD(1)),
    unused SimpleAggregateFunction(groupUniqArrayArray, Array(UInt64)) CODEC(ZSTD(1)),
    at SimpleAggregateFunction(max, DateTime64(3, 'UTC')) CODEC(Delta, ZSTD(1)),
    stored_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')) DEFAULT now64(3, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(minute)
ORDER BY (replica_id, minute)
TTL minute + INTERVAL 90 DAY
