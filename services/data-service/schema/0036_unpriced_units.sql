-- What was used and has no price: the cost of the record is without it.
ALTER TABLE usage_records ADD COLUMN IF NOT EXISTS unpriced_units LowCardinality(String) AFTER usage_missing
