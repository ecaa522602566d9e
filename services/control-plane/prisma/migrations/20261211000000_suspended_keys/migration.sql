-- Keys that work no more until somebody resumes them.
ALTER TABLE "api_keys" ADD COLUMN "suspended_at" TIMESTAMPTZ(3);
