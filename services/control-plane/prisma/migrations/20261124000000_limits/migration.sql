-- Limits have ids of their own, by which gateways count; what they counted is told
-- back, and what came of it is told to those who asked to be told.

-- Ids are given by the database as well: a replica of the release before, and
-- whatever else writes to these tables, cannot leave a limit without one.
CREATE FUNCTION "with_limit_ids"("limits" JSONB) RETURNS JSONB LANGUAGE sql VOLATILE AS $$
  SELECT CASE jsonb_typeof(limits)
    WHEN 'object' THEN CASE WHEN limits ? 'id' THEN limits ELSE limits || jsonb_build_object('id', gen_random_uuid()) END
    WHEN 'array' THEN coalesce((
      SELECT jsonb_agg(CASE WHEN each ? 'id' THEN each ELSE each || jsonb_build_object('id', gen_random_uuid()) END ORDER BY place)
      FROM jsonb_array_elements(limits) WITH ORDINALITY AS every (each, place)), limits)
    ELSE limits
  END
$$;

CREATE FUNCTION "give_limit_ids"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  NEW.usage_limits := with_limit_ids(NEW.usage_limits);
  NEW.rate_limits := with_limit_ids(NEW.rate_limits);
  RETURN NEW;
END $$;
CREATE TRIGGER "limit_ids" BEFORE INSERT OR UPDATE OF "usage_limits", "rate_limits" ON "api_keys" FOR EACH ROW EXECUTE FUNCTION "give_limit_ids"();
CREATE TRIGGER "limit_ids" BEFORE INSERT OR UPDATE OF "usage_limits", "rate_limits" ON "workspaces" FOR EACH ROW EXECUTE FUNCTION "give_limit_ids"();
CREATE TRIGGER "limit_ids" BEFORE INSERT OR UPDATE OF "usage_limits", "rate_limits" ON "providers" FOR EACH ROW EXECUTE FUNCTION "give_limit_ids"();
CREATE TRIGGER "limit_ids" BEFORE INSERT OR UPDATE OF "usage_limits", "rate_limits" ON "integration_workspaces" FOR EACH ROW EXECUTE FUNCTION "give_limit_ids"();

UPDATE "api_keys" SET "usage_limits" = "usage_limits" WHERE "usage_limits" IS NOT NULL OR "rate_limits" <> '[]';
UPDATE "workspaces" SET "usage_limits" = "usage_limits" WHERE "usage_limits" <> '[]' OR "rate_limits" <> '[]';
UPDATE "providers" SET "usage_limits" = "usage_limits" WHERE "usage_limits" IS NOT NULL OR "rate_limits" <> '[]';
UPDATE "integration_workspaces" SET "usage_limits" = "usage_limits" WHERE "usage_limits" IS NOT NULL OR "rate_limits" IS NOT NULL;

-- Whose limit a report is about.
ALTER TABLE "api_keys" ADD COLUMN "usage_limit_id" UUID GENERATED ALWAYS AS (("usage_limits" ->> 'id')::UUID) STORED;
CREATE INDEX "api_keys_usage_limit_id_idx" ON "api_keys" ("usage_limit_id");

ALTER TABLE "rate_limits_policies" ADD COLUMN "rules" JSONB NOT NULL DEFAULT '{}';
-- They counted whole ones all along, and said otherwise.
UPDATE "rate_limits_policies" SET "value" = floor("value") WHERE "value" <> floor("value");

ALTER TABLE "usage_limits_policies" ADD COLUMN "rules" JSONB NOT NULL DEFAULT '{}';
ALTER TABLE "usage_limits_policies" ADD COLUMN "generation" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "usage_limits_policies" ADD COLUMN "period_started_at" TIMESTAMPTZ(3);
UPDATE "usage_limits_policies" SET "credit_limit" = floor("credit_limit") WHERE "type" <> 'cost';

-- Groups of a policy that were reset by hand in the period that began then.
CREATE TABLE "usage_limits_resets" (
  "policy_id" UUID NOT NULL,
  "group_id" UUID NOT NULL,
  "value_key" TEXT NOT NULL,
  "generation" BIGINT NOT NULL,
  "period_start_ms" BIGINT NOT NULL,
  CONSTRAINT "usage_limits_resets_pkey" PRIMARY KEY ("policy_id", "group_id")
);
ALTER TABLE "usage_limits_resets" ADD CONSTRAINT "usage_limits_resets_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "usage_limits_policies" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- How much of a budget is used in the epoch that it was last heard of in, in
-- nano-dollars, tokens or requests. A policy has one for each of its groups.
CREATE TABLE "limit_usages" (
  "limit_id" UUID NOT NULL,
  "group_id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "value_key" TEXT NOT NULL,
  "generation" BIGINT NOT NULL,
  "period_start_ms" BIGINT NOT NULL,
  "posted" BIGINT NOT NULL,
  "reserved" BIGINT NOT NULL,
  "overshoot_bound" BIGINT NOT NULL,
  "threshold_alert_sent" BOOLEAN NOT NULL DEFAULT false,
  "exhausted_alert_sent" BOOLEAN NOT NULL DEFAULT false,
  "last_reset_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "updated_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "limit_usages_pkey" PRIMARY KEY ("limit_id", "group_id")
);
CREATE INDEX "limit_usages_limit_id_created_at_group_id_idx" ON "limit_usages" ("limit_id", "created_at", "group_id");
CREATE INDEX "limit_usages_organisation_id_idx" ON "limit_usages" ("organisation_id");
CREATE INDEX "limit_usages_updated_at_idx" ON "limit_usages" ("updated_at");
ALTER TABLE "limit_usages" ADD CONSTRAINT "limit_usages_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What it is the sum of: the counter that gateways share, and those of gateways that count alone.
CREATE TABLE "limit_counters" (
  "limit_id" UUID NOT NULL,
  "group_id" UUID NOT NULL,
  "source" TEXT NOT NULL,
  "generation" BIGINT NOT NULL,
  "period_start_ms" BIGINT NOT NULL,
  "posted" BIGINT NOT NULL,
  "reserved" BIGINT NOT NULL,
  "overshoot_bound" BIGINT NOT NULL,
  "reported_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "limit_counters_pkey" PRIMARY KEY ("limit_id", "group_id", "source")
);
ALTER TABLE "limit_counters" ADD CONSTRAINT "limit_counters_limit_id_group_id_fkey" FOREIGN KEY ("limit_id", "group_id") REFERENCES "limit_usages" ("limit_id", "group_id") ON DELETE CASCADE ON UPDATE CASCADE;

ALTER TABLE "organisations" ADD COLUMN "alert_settings" JSONB;
ALTER TABLE "organisations" ADD COLUMN "sealed_alert_keys" BYTEA;

-- Alerts that are to be sent still.
CREATE TABLE "alert_deliveries" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "channel" TEXT NOT NULL,
  "body" TEXT NOT NULL,
  "attempts" INTEGER NOT NULL DEFAULT 0,
  "next_at" TIMESTAMPTZ(3) NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "alert_deliveries_pkey" PRIMARY KEY ("id", "channel")
);
CREATE INDEX "alert_deliveries_next_at_idx" ON "alert_deliveries" ("next_at");
CREATE INDEX "alert_deliveries_organisation_id_idx" ON "alert_deliveries" ("organisation_id");
ALTER TABLE "alert_deliveries" ADD CONSTRAINT "alert_deliveries_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Bundles hold more than they did: every gateway asks again.
UPDATE "workspaces" SET "revision" = "revision" + 1;
