-- Users sign in at MCP servers themselves (oauth_auto).

-- What a user's tokens are worth, beside them. All are null for who has signed out, or was.
ALTER TABLE "mcp_connections"
  -- SHA-256 of the settings that they were given with: with others they are worth nothing.
  ADD COLUMN "fingerprint" BYTEA,
  -- From when on the access token is renewed, and until when it works.
  ADD COLUMN "renews_at" TIMESTAMPTZ(3),
  ADD COLUMN "expires_at" TIMESTAMPTZ(3),
  -- What the user let us do, with spaces between; and what the server wanted besides, which is asked for the next time.
  ADD COLUMN "scope" TEXT,
  ADD COLUMN "wanted_scope" TEXT;

-- New whenever the user of a key signs in or out somewhere: what gateways hold for that user is asked for anew.
ALTER TABLE "api_keys" ADD COLUMN "sign_in_mark" UUID;

-- What we are at the authorisation servers that let clients register themselves. By the SHA-256 of issuer, address for answers and settings.
CREATE TABLE "mcp_upstream_clients" (
  "integration_id" UUID NOT NULL,
  "name_hash" BYTEA NOT NULL,
  "sealed_client" BYTEA NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "mcp_upstream_clients_pkey" PRIMARY KEY ("integration_id", "name_hash"),
  CONSTRAINT "mcp_upstream_clients_integration_id_fkey" FOREIGN KEY ("integration_id")
    REFERENCES "mcp_integrations" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);

-- Sign-ins under way, by the SHA-256 of their state: of a person, at a server, in one browser. Each is used once.
CREATE TABLE "mcp_sign_ins" (
  "state_hash" BYTEA NOT NULL,
  "server_id" UUID NOT NULL,
  "user_id" UUID NOT NULL,
  -- Of the key that the person logged in with.
  "secret_id" UUID NOT NULL,
  "sealed_attempt" BYTEA NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "mcp_sign_ins_pkey" PRIMARY KEY ("state_hash"),
  CONSTRAINT "mcp_sign_ins_server_id_fkey" FOREIGN KEY ("server_id")
    REFERENCES "mcp_servers" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "mcp_sign_ins_user_id_fkey" FOREIGN KEY ("user_id")
    REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE,
  CONSTRAINT "mcp_sign_ins_secret_id_fkey" FOREIGN KEY ("secret_id")
    REFERENCES "api_key_secrets" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
CREATE INDEX "mcp_sign_ins_server_id_idx" ON "mcp_sign_ins" ("server_id");
CREATE INDEX "mcp_sign_ins_user_id_idx" ON "mcp_sign_ins" ("user_id");
CREATE INDEX "mcp_sign_ins_secret_id_idx" ON "mcp_sign_ins" ("secret_id");
CREATE INDEX "mcp_sign_ins_expires_at_idx" ON "mcp_sign_ins" ("expires_at");
