-- Work that goes on at providers after its answer, and is looked at until it has ended. No foreign key to key or workspace: that
-- these are gone is a reason to end, and is noted as one.
CREATE TABLE "followed_work" (
  "id" UUID NOT NULL,
  -- As the operations table calls what was made, and the provider's id of it.
  "kind" TEXT NOT NULL,
  "object_id" TEXT NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "api_key_id" UUID NOT NULL,
  -- The saved provider that has it, as `@slug`.
  "provider" TEXT NOT NULL,
  "path" TEXT NOT NULL,
  "trace_id" TEXT NOT NULL,
  "made_at" TIMESTAMPTZ(3) NOT NULL,
  -- open, ended, lost or gone
  "state" TEXT NOT NULL DEFAULT 'open',
  "reason" TEXT NOT NULL DEFAULT '',
  "ended_at" TIMESTAMPTZ(3),
  -- When it is due; of what somebody looks at, when somebody else may.
  "look_at" TIMESTAMPTZ(3) NOT NULL,
  -- Counts who took it up: what an earlier one says is not heard.
  "run" INTEGER NOT NULL DEFAULT 0,
  -- Looks in a row that came to nothing.
  "failures" INTEGER NOT NULL DEFAULT 0,
  CONSTRAINT "followed_work_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "followed_work_workspace_id_provider_kind_object_id_key" ON "followed_work" ("workspace_id", "provider", "kind", "object_id");
CREATE INDEX "followed_work_state_look_at_idx" ON "followed_work" ("state", "look_at");
CREATE INDEX "followed_work_workspace_id_state_idx" ON "followed_work" ("workspace_id", "state");
CREATE INDEX "followed_work_ended_at_idx" ON "followed_work" ("ended_at");
