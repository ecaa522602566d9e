-- Log exports run. Rows of before are drafts, or were stopped as such: none has anything in a store.
ALTER TABLE "log_exports"
  ADD COLUMN "format" TEXT NOT NULL DEFAULT 'jsonl',
  ADD COLUMN "all" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "started_at" TIMESTAMPTZ(3),
  ADD COLUMN "reader" JSONB,
  ADD COLUMN "parts" JSONB NOT NULL DEFAULT '[]',
  ADD COLUMN "cursor" TEXT NOT NULL DEFAULT '',
  ADD COLUMN "passed" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "run" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "lease_until" TIMESTAMPTZ(3),
  ADD COLUMN "failures" INTEGER NOT NULL DEFAULT 0;

CREATE INDEX "log_exports_stored_idx" ON "log_exports" ("status", "updated_at") WHERE "object_key" IS NOT NULL;
