-- Who adjusted, and the tokens that the cost was adjusted for.
ALTER TABLE usage_adjustments
    ADD COLUMN IF NOT EXISTS author String CODEC(ZSTD(1)) AFTER reason,
    ADD COLUMN IF NOT EXISTS input_tokens Int64 CODEC(T64, ZSTD(1)) AFTER author,
    ADD COLUMN IF NOT EXISTS output_tokens Int64 CODEC(T64, ZSTD(1)) AFTER input_tokens
