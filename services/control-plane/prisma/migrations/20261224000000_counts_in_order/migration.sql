-- Gateways say when a shared counter was as they tell, so that the newest count is kept and not the greatest.
ALTER TABLE "limit_counters" ADD COLUMN "counted_at_us" BIGINT NOT NULL DEFAULT 0;
