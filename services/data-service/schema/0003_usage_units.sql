-- What is charged by other units than tokens. In the record's order, so that the two can be compared.
ALTER TABLE usage_records
    ADD COLUMN IF NOT EXISTS images UInt64 CODEC(T64, ZSTD(1)) AFTER price_layer,
    ADD COLUMN IF NOT EXISTS search_units UInt64 CODEC(T64, ZSTD(1)) AFTER images,
    ADD COLUMN IF NOT EXISTS pages UInt64 CODEC(T64, ZSTD(1)) AFTER search_units,
    ADD COLUMN IF NOT EXISTS audio_seconds Float64 AFTER pages,
    ADD COLUMN IF NOT EXISTS characters UInt64 CODEC(T64, ZSTD(1)) AFTER audio_seconds
