-- Which kept answers are to be forgotten: gateways keep them under what stands here.
ALTER TABLE "workspaces" ADD COLUMN "cache_generations" JSONB NOT NULL DEFAULT '[]';
