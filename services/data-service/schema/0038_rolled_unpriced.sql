-- How many entries used something without a price; 0 of what was rolled up before.
ALTER TABLE usage_rollups ADD COLUMN IF NOT EXISTS lacking_price UInt64 CODEC(T64, ZSTD(1)) AFTER priced
