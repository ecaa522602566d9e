-- The token by which all callers of an integration are known to its server (client credentials).
CREATE TABLE "mcp_integration_tokens" (
  "integration_id" UUID NOT NULL,
  "sealed_token" BYTEA NOT NULL,
  -- SHA-256 of the settings that it was asked for with: with others it is worth nothing.
  "fingerprint" BYTEA NOT NULL,
  -- From when on another one is asked for, and until when it works.
  "renews_at" TIMESTAMPTZ(3) NOT NULL,
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  CONSTRAINT "mcp_integration_tokens_pkey" PRIMARY KEY ("integration_id"),
  CONSTRAINT "mcp_integration_tokens_integration_id_fkey" FOREIGN KEY ("integration_id")
    REFERENCES "mcp_integrations" ("id") ON DELETE CASCADE ON UPDATE CASCADE
);
