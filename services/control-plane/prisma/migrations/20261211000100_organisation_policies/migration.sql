-- A policy without a workspace is for all of its organisation.
ALTER TABLE "rate_limits_policies" ALTER COLUMN "workspace_id" DROP NOT NULL;
ALTER TABLE "usage_limits_policies" ALTER COLUMN "workspace_id" DROP NOT NULL;
