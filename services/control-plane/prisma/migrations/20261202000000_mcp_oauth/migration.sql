-- The control plane as authorisation server for clients of MCP.

-- What access tokens are signed with. The private half is sealed; a key that the operator gave has none here.
CREATE TABLE "oauth_signing_keys" (
  "id" TEXT NOT NULL,
  "sealed_private_key" BYTEA,
  "public_jwk" JSONB NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "oauth_signing_keys_pkey" PRIMARY KEY ("id")
);

-- Clients that registered themselves, each as it came. Those that nobody let in are forgotten after a while.
CREATE TABLE "oauth_clients" (
  "id" TEXT NOT NULL,
  "sealed_metadata" BYTEA NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "used_at" TIMESTAMPTZ(3),
  CONSTRAINT "oauth_clients_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "oauth_clients_used_at_created_at_idx" ON "oauth_clients" ("used_at", "created_at");

-- A person let a client use a server. It lasts no longer than the secret of the key that they logged in with, and than the server.
CREATE TABLE "oauth_grants" (
  "id" UUID NOT NULL,
  "secret_id" UUID NOT NULL,
  "api_key_id" UUID NOT NULL,
  "server_id" UUID NOT NULL,
  "client_id" TEXT NOT NULL,
  "client_name" TEXT NOT NULL,
  "resource" TEXT NOT NULL,
  "scope" TEXT NOT NULL,
  -- What gateways ask by, as for the secret of a key.
  "hash" BYTEA NOT NULL,
  -- What its last token was signed with: with another one gateways are told anew.
  "signing_key_id" TEXT,
  "created_at" TIMESTAMPTZ(3) NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "oauth_grants_pkey" PRIMARY KEY ("id"),
  CONSTRAINT "oauth_grants_secret_id_fkey" FOREIGN KEY ("secret_id")
    REFERENCES "api_key_secrets" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "oauth_grants_server_id_fkey" FOREIGN KEY ("server_id")
    REFERENCES "mcp_servers" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE UNIQUE INDEX "oauth_grants_hash_key" ON "oauth_grants" ("hash");
CREATE INDEX "oauth_grants_secret_id_created_at_idx" ON "oauth_grants" ("secret_id", "created_at");
CREATE INDEX "oauth_grants_server_id_idx" ON "oauth_grants" ("server_id");
CREATE INDEX "oauth_grants_expires_at_idx" ON "oauth_grants" ("expires_at");

-- Gateways hold what a grant stands for as one more secret of its key.
CREATE FUNCTION "note_keys_of_grants"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_key_changes(array_agg(DISTINCT api_key_id)) FROM old_rows;
  RETURN NULL;
END $$;
CREATE TRIGGER "key_changes_update" AFTER UPDATE ON "oauth_grants" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_keys_of_grants"();
CREATE TRIGGER "key_changes_delete" AFTER DELETE ON "oauth_grants" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_keys_of_grants"();

-- Codes, refresh tokens, sessions of the log-in page, requests under way: by the hash of what is sent, and sealed.
CREATE TABLE "oauth_records" (
  "model" TEXT NOT NULL,
  "id_hash" BYTEA NOT NULL,
  "grant_id" UUID,
  "uid_hash" BYTEA,
  "sealed_payload" BYTEA NOT NULL,
  "consumed_at" TIMESTAMPTZ(3),
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "oauth_records_pkey" PRIMARY KEY ("model", "id_hash"),
  CONSTRAINT "oauth_records_grant_id_fkey" FOREIGN KEY ("grant_id")
    REFERENCES "oauth_grants" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "oauth_records_grant_id_idx" ON "oauth_records" ("grant_id");
CREATE INDEX "oauth_records_uid_hash_idx" ON "oauth_records" ("uid_hash");
CREATE INDEX "oauth_records_expires_at_idx" ON "oauth_records" ("expires_at");

-- What a person let a client do, so that the same is not asked again: SHA-256 of client, server and where the answer goes.
CREATE TABLE "oauth_consents" (
  "user_id" UUID NOT NULL,
  "fingerprint" BYTEA NOT NULL,
  "scope" TEXT NOT NULL,
  "used_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "oauth_consents_pkey" PRIMARY KEY ("user_id", "fingerprint"),
  CONSTRAINT "oauth_consents_user_id_fkey" FOREIGN KEY ("user_id")
    REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "oauth_consents_used_at_idx" ON "oauth_consents" ("used_at");
