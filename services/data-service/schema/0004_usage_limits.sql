-- What prices, estimates and limits say of an attempt. In the record's order, so that the two can be compared.
ALTER TABLE usage_records
    ADD COLUMN IF NOT EXISTS service_tier LowCardinality(String) AFTER decision_json,
    ADD COLUMN IF NOT EXISTS served_region LowCardinality(String) AFTER service_tier,
    ADD COLUMN IF NOT EXISTS units Map(LowCardinality(String), UInt64) AFTER served_region,
    ADD COLUMN IF NOT EXISTS images_by_kind Map(LowCardinality(String), UInt64) AFTER units,
    ADD COLUMN IF NOT EXISTS cache_read_audio_tokens UInt64 CODEC(T64, ZSTD(1)) AFTER images_by_kind,
    ADD COLUMN IF NOT EXISTS input_image_tokens UInt64 CODEC(T64, ZSTD(1)) AFTER cache_read_audio_tokens,
    ADD COLUMN IF NOT EXISTS output_image_tokens UInt64 CODEC(T64, ZSTD(1)) AFTER input_image_tokens,
    ADD COLUMN IF NOT EXISTS price_multiplier Float64 AFTER output_image_tokens,
    ADD COLUMN IF NOT EXISTS provider_cost_nano_usd Int64 CODEC(T64, ZSTD(1)) AFTER price_multiplier,
    ADD COLUMN IF NOT EXISTS provider_cost_known Bool AFTER provider_cost_nano_usd,
    ADD COLUMN IF NOT EXISTS avoided_cost_nano_usd Int64 CODEC(T64, ZSTD(1)) AFTER provider_cost_known,
    ADD COLUMN IF NOT EXISTS usage_estimated Bool AFTER avoided_cost_nano_usd,
    ADD COLUMN IF NOT EXISTS usage_implausible Bool AFTER usage_estimated,
    ADD COLUMN IF NOT EXISTS counters_reserved Map(String, UInt64) CODEC(ZSTD(1)) AFTER usage_implausible,
    ADD COLUMN IF NOT EXISTS counters_settled Map(String, UInt64) CODEC(ZSTD(1)) AFTER counters_reserved,
    ADD COLUMN IF NOT EXISTS would_have_refused Array(String) CODEC(ZSTD(1)) AFTER counters_settled,
    ADD COLUMN IF NOT EXISTS limits_degraded Bool AFTER would_have_refused
