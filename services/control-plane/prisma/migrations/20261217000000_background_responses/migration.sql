-- A response that is made in the background is run as a batch of one line is: claimed, held, cancelled. Its id is that of the
-- response, and its row stays as long as the response does.
ALTER TABLE "batches" ADD COLUMN "kind" TEXT NOT NULL DEFAULT 'batch';
DROP INDEX "batches_workspace_id_id_idx";
CREATE INDEX "batches_workspace_id_kind_id_idx" ON "batches" ("workspace_id", "kind", "id");
DROP INDEX "batches_status_lease_until_idx";
CREATE INDEX "batches_kind_status_lease_until_idx" ON "batches" ("kind", "status", "lease_until");
