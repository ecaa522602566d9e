-- Files that callers leave with the service, and batches that gateways run. None of these has a foreign key to its workspace:
-- what is in the object store is emptied first, and the row goes after it.

CREATE TABLE "service_files" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  -- The batch whose run made it; NULL = a caller did.
  "batch_id" UUID,
  "filename" TEXT NOT NULL,
  "purpose" TEXT NOT NULL DEFAULT '',
  -- uploading, processed or deleted
  "status" TEXT NOT NULL DEFAULT 'uploading',
  "bytes" BIGINT NOT NULL DEFAULT 0,
  -- Objects that its content is in.
  "segments" INTEGER NOT NULL DEFAULT 0,
  -- What its content is encrypted with.
  "sealed_key" BYTEA NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "expires_at" TIMESTAMPTZ(3),
  CONSTRAINT "service_files_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "service_files_workspace_id_id_idx" ON "service_files" ("workspace_id", "id");
CREATE INDEX "service_files_status_created_at_idx" ON "service_files" ("status", "created_at");
CREATE INDEX "service_files_expires_at_idx" ON "service_files" ("expires_at");

CREATE TABLE "batches" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  -- For which its lines are run.
  "api_key_id" UUID NOT NULL,
  -- What gateways ask for that key by, as for a secret of it, while the batch lasts.
  "key_hash" BYTEA NOT NULL,
  "endpoint" TEXT NOT NULL,
  "completion_window" TEXT NOT NULL,
  "input_file_id" UUID NOT NULL,
  "output_file_id" UUID,
  "error_file_id" UUID,
  -- As callers are told it.
  "status" TEXT NOT NULL DEFAULT 'validating',
  "total" BIGINT NOT NULL DEFAULT 0,
  "completed" BIGINT NOT NULL DEFAULT 0,
  "failed" BIGINT NOT NULL DEFAULT 0,
  "errors" JSONB NOT NULL DEFAULT '[]',
  "metadata" JSONB,
  -- The headers of its lines, and what its parts are encrypted with.
  "sealed_job" BYTEA NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "in_progress_at" TIMESTAMPTZ(3),
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "finalizing_at" TIMESTAMPTZ(3),
  "completed_at" TIMESTAMPTZ(3),
  "failed_at" TIMESTAMPTZ(3),
  "expired_at" TIMESTAMPTZ(3),
  "cancelling_at" TIMESTAMPTZ(3),
  "cancelled_at" TIMESTAMPTZ(3),
  -- Counts who took it up: what an earlier one says is not heard.
  "run" INTEGER NOT NULL DEFAULT 0,
  -- Whoever took it up has it until then; NULL = nobody has.
  "lease_until" TIMESTAMPTZ(3),
  -- Runs in a row that came to nothing.
  "failures" INTEGER NOT NULL DEFAULT 0,
  -- The object store has nothing of its parts any more.
  "is_emptied" BOOLEAN NOT NULL DEFAULT false,
  CONSTRAINT "batches_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "batches_key_hash_key" ON "batches" ("key_hash");
CREATE INDEX "batches_workspace_id_id_idx" ON "batches" ("workspace_id", "id");
CREATE INDEX "batches_status_lease_until_idx" ON "batches" ("status", "lease_until");

-- Lines that were answered: which, and by whose run and number their answers are found in the object store.
CREATE TABLE "batch_parts" (
  "batch_id" UUID NOT NULL,
  "run" INTEGER NOT NULL,
  "number" INTEGER NOT NULL,
  "lines" BYTEA NOT NULL,
  CONSTRAINT "batch_parts_pkey" PRIMARY KEY ("batch_id", "run", "number"),
  CONSTRAINT "batch_parts_batch_id_fkey" FOREIGN KEY ("batch_id")
    REFERENCES "batches" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
