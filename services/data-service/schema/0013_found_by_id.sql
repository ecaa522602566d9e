-- One request among millions: an id names its millisecond, as rows are sorted; what has no time in it is found by what
-- a granule cannot hold. UUIDs compare by their second half first, hence the time and not the id.
ALTER TABLE usage_records
    ADD INDEX IF NOT EXISTS id_time UUIDv7ToDateTime(id, 'UTC') TYPE minmax GRANULARITY 1,
    ADD INDEX IF NOT EXISTS request_time UUIDv7ToDateTime(request_id, 'UTC') TYPE minmax GRANULARITY 1,
    ADD INDEX IF NOT EXISTS trace_id_among trace_id TYPE bloom_filter(0.001) GRANULARITY 1,
    ADD INDEX IF NOT EXISTS api_key_id_among api_key_id TYPE bloom_filter(0.01) GRANULARITY 1
