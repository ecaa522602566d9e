-- Files that come in parts. A part is a file of its own, seen by nobody, until the parts are put together or the upload has ended.

CREATE TABLE "service_uploads" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "filename" TEXT NOT NULL,
  "purpose" TEXT NOT NULL,
  -- Of the whole file.
  "bytes" BIGINT NOT NULL,
  -- pending, completing, completed or cancelled
  "status" TEXT NOT NULL DEFAULT 'pending',
  -- Seconds after which the file goes; 0 = as the installation has it.
  "kept_s" BIGINT NOT NULL DEFAULT 0,
  "file_id" UUID,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  -- Whoever puts it together took it then.
  "claimed_at" TIMESTAMPTZ(3),
  CONSTRAINT "service_uploads_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "service_uploads_workspace_id_status_idx" ON "service_uploads" ("workspace_id", "status");
CREATE INDEX "service_uploads_expires_at_idx" ON "service_uploads" ("expires_at");

ALTER TABLE "service_files" ADD COLUMN "upload_id" UUID;
CREATE INDEX "service_files_upload_id_idx" ON "service_files" ("upload_id");
