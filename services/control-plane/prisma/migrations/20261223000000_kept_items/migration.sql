-- Items that kept responses answered: callers refer to them without saying whose they are.

ALTER TABLE "service_files" ADD COLUMN "item_ids" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];
CREATE INDEX "service_files_item_ids_idx" ON "service_files" USING GIN ("item_ids");
