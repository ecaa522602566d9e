-- Responses and conversations that the service keeps are contents as files are; of a conversation, and of a response that is being
-- made, one content takes the place of another.
ALTER TABLE "service_files"
  ADD COLUMN "kind" TEXT NOT NULL DEFAULT 'file',
  ADD COLUMN "version" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "content" TEXT NOT NULL DEFAULT '';
DROP INDEX "service_files_workspace_id_id_idx";
CREATE INDEX "service_files_workspace_id_kind_id_idx" ON "service_files" ("workspace_id", "kind", "id");
