-- Which pepper a key's hash is of, so that it can be seen whether one that is rotated is still needed; null = made before
-- names were kept. The hash of before stays beside the new one: gateways hold the key by it until they ask again.
ALTER TABLE "api_key_secrets" ADD COLUMN "pepper" TEXT, ADD COLUMN "previous_hash" BYTEA;
CREATE INDEX "api_key_secrets_previous_hash_idx" ON "api_key_secrets" ("previous_hash") WHERE "previous_hash" IS NOT NULL;
CREATE INDEX "api_key_secrets_pepper_idx" ON "api_key_secrets" ("pepper");
