CREATE TABLE "organisations" (
  "id" UUID NOT NULL,
  "name" TEXT NOT NULL,
  "block_inline_config" BOOLEAN NOT NULL DEFAULT false,
  "audit_sequence" BIGINT NOT NULL DEFAULT 0,
  "audit_hash" BYTEA NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "organisations_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "users" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "email" TEXT NOT NULL,
  "first_name" TEXT NOT NULL DEFAULT '',
  "last_name" TEXT NOT NULL DEFAULT '',
  "role" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "users_organisation_id_email_key" ON "users" ("organisation_id", "email");

CREATE TABLE "workspaces" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "slug" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "description" TEXT,
  "is_default" BOOLEAN NOT NULL DEFAULT false,
  "status" TEXT NOT NULL DEFAULT 'active',
  "metadata" JSONB NOT NULL DEFAULT '{}',
  "input_guardrails" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
  "output_guardrails" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
  "user_api_key_config_id" UUID,
  "usage_limits" JSONB NOT NULL DEFAULT '[]',
  "rate_limits" JSONB NOT NULL DEFAULT '[]',
  "revision" BIGINT NOT NULL DEFAULT 1,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "workspaces_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "workspaces_organisation_id_slug_key" ON "workspaces" ("organisation_id", "slug");

CREATE TABLE "workspace_members" (
  "workspace_id" UUID NOT NULL,
  "user_id" UUID NOT NULL,
  "role" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "workspace_members_pkey" PRIMARY KEY ("workspace_id", "user_id")
);
CREATE INDEX "workspace_members_user_id_idx" ON "workspace_members" ("user_id");

CREATE TABLE "configs" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "slug" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "is_default" BOOLEAN NOT NULL DEFAULT false,
  "status" TEXT NOT NULL DEFAULT 'active',
  "version" INTEGER NOT NULL,
  "owner_id" UUID NOT NULL,
  "updated_by" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "configs_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "configs_workspace_id_slug_key" ON "configs" ("workspace_id", "slug");
CREATE INDEX "configs_organisation_id_slug_idx" ON "configs" ("organisation_id", "slug");

CREATE TABLE "config_versions" (
  "id" UUID NOT NULL,
  "config_id" UUID NOT NULL,
  "version" INTEGER NOT NULL,
  "name" TEXT NOT NULL,
  "status" TEXT NOT NULL,
  "body" TEXT NOT NULL,
  "created_by" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "config_versions_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "config_versions_config_id_version_key" ON "config_versions" ("config_id", "version");

CREATE TABLE "api_keys" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID,
  "user_id" UUID,
  "created_by_user_id" UUID,
  "type" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "slug" TEXT NOT NULL,
  "description" TEXT,
  "scopes" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
  "rate_limits" JSONB NOT NULL DEFAULT '[]',
  "usage_limits" JSONB,
  "metadata" JSONB NOT NULL DEFAULT '{}',
  "config_id" UUID,
  "allow_config_override" BOOLEAN NOT NULL DEFAULT true,
  "alert_emails" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
  "expires_at" TIMESTAMPTZ(3),
  "rotation_policy" JSONB,
  "status" TEXT NOT NULL DEFAULT 'active',
  "creation_mode" TEXT NOT NULL DEFAULT 'api',
  "last_reset_at" TIMESTAMPTZ(3),
  "last_rotated_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "api_keys_organisation_id_created_at_idx" ON "api_keys" ("organisation_id", "created_at");
CREATE INDEX "api_keys_workspace_id_idx" ON "api_keys" ("workspace_id");
CREATE INDEX "api_keys_user_id_idx" ON "api_keys" ("user_id");
CREATE INDEX "api_keys_config_id_idx" ON "api_keys" ("config_id");

CREATE TABLE "api_key_secrets" (
  "id" UUID NOT NULL,
  "api_key_id" UUID NOT NULL,
  "hash" BYTEA NOT NULL,
  "masked" TEXT NOT NULL,
  "expires_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "api_key_secrets_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "api_key_secrets_hash_key" ON "api_key_secrets" ("hash");
CREATE INDEX "api_key_secrets_api_key_id_idx" ON "api_key_secrets" ("api_key_id");

CREATE TABLE "integrations" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID,
  "slug" TEXT NOT NULL,
  "ai_provider_id" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "description" TEXT,
  "status" TEXT NOT NULL DEFAULT 'active',
  "sealed_credentials" BYTEA NOT NULL,
  "masked_key" TEXT,
  "configurations" JSONB NOT NULL DEFAULT '{}',
  "secret_mappings" JSONB NOT NULL DEFAULT '[]',
  "pricing_adjustments" JSONB,
  "tags" JSONB,
  "allow_all_models" BOOLEAN NOT NULL DEFAULT true,
  "global_access" JSONB,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "integrations_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "integrations_organisation_id_slug_key" ON "integrations" ("organisation_id", "slug");
CREATE INDEX "integrations_workspace_id_idx" ON "integrations" ("workspace_id");

CREATE TABLE "integration_models" (
  "integration_id" UUID NOT NULL,
  "slug" TEXT NOT NULL,
  "enabled" BOOLEAN NOT NULL,
  "is_custom" BOOLEAN NOT NULL DEFAULT false,
  "is_finetune" BOOLEAN NOT NULL DEFAULT false,
  "base_model_slug" TEXT,
  "configurations" JSONB NOT NULL DEFAULT '{}',
  "pricing_config" JSONB,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "integration_models_pkey" PRIMARY KEY ("integration_id", "slug")
);

CREATE TABLE "integration_workspaces" (
  "integration_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "enabled" BOOLEAN NOT NULL,
  "usage_limits" JSONB,
  "rate_limits" JSONB,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "integration_workspaces_pkey" PRIMARY KEY ("integration_id", "workspace_id")
);
CREATE INDEX "integration_workspaces_workspace_id_idx" ON "integration_workspaces" ("workspace_id");

CREATE TABLE "providers" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "integration_id" UUID NOT NULL,
  "slug" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "note" TEXT,
  "status" TEXT NOT NULL DEFAULT 'active',
  "usage_limits" JSONB,
  "rate_limits" JSONB NOT NULL DEFAULT '[]',
  "expires_at" TIMESTAMPTZ(3),
  "last_reset_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "providers_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "providers_workspace_id_slug_key" ON "providers" ("workspace_id", "slug");
CREATE INDEX "providers_integration_id_idx" ON "providers" ("integration_id");
CREATE INDEX "providers_organisation_id_idx" ON "providers" ("organisation_id");

CREATE TABLE "rate_limits_policies" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "name" TEXT,
  "description" TEXT,
  "conditions" JSONB NOT NULL,
  "group_by" JSONB NOT NULL,
  "type" TEXT NOT NULL,
  "unit" TEXT NOT NULL,
  "value" DOUBLE PRECISION NOT NULL,
  "target" TEXT NOT NULL DEFAULT 'llm',
  "status" TEXT NOT NULL DEFAULT 'active',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "rate_limits_policies_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "rate_limits_policies_workspace_id_status_idx" ON "rate_limits_policies" ("workspace_id", "status");
CREATE INDEX "rate_limits_policies_organisation_id_idx" ON "rate_limits_policies" ("organisation_id");

CREATE TABLE "audit_entries" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "sequence" BIGINT NOT NULL,
  "timestamp" TIMESTAMPTZ(3) NOT NULL,
  "method" TEXT NOT NULL,
  "uri" TEXT NOT NULL,
  "request_id" TEXT NOT NULL,
  "request_body" TEXT NOT NULL,
  "query_params" TEXT NOT NULL,
  "request_headers" TEXT NOT NULL,
  "user_id" UUID,
  "user_type" TEXT NOT NULL,
  "api_key_id" UUID,
  "workspace_id" UUID,
  "response_status_code" INTEGER NOT NULL,
  "resource_type" TEXT NOT NULL,
  "resource_id" TEXT,
  "action" TEXT NOT NULL,
  "client_ip" TEXT NOT NULL,
  "country" TEXT,
  "detail" TEXT,
  "previous_hash" BYTEA NOT NULL,
  "hash" BYTEA NOT NULL,
  CONSTRAINT "audit_entries_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "audit_entries_organisation_id_sequence_key" ON "audit_entries" ("organisation_id", "sequence");
CREATE INDEX "audit_entries_organisation_id_timestamp_idx" ON "audit_entries" ("organisation_id", "timestamp");

ALTER TABLE "users" ADD CONSTRAINT "users_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "workspaces" ADD CONSTRAINT "workspaces_user_api_key_config_id_fkey" FOREIGN KEY ("user_api_key_config_id") REFERENCES "configs" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "workspace_members" ADD CONSTRAINT "workspace_members_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "workspace_members" ADD CONSTRAINT "workspace_members_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "configs" ADD CONSTRAINT "configs_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "configs" ADD CONSTRAINT "configs_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "config_versions" ADD CONSTRAINT "config_versions_config_id_fkey" FOREIGN KEY ("config_id") REFERENCES "configs" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_created_by_user_id_fkey" FOREIGN KEY ("created_by_user_id") REFERENCES "users" ("id") ON DELETE SET NULL ON UPDATE CASCADE;
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_config_id_fkey" FOREIGN KEY ("config_id") REFERENCES "configs" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "api_key_secrets" ADD CONSTRAINT "api_key_secrets_api_key_id_fkey" FOREIGN KEY ("api_key_id") REFERENCES "api_keys" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "integrations" ADD CONSTRAINT "integrations_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "integrations" ADD CONSTRAINT "integrations_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "integration_models" ADD CONSTRAINT "integration_models_integration_id_fkey" FOREIGN KEY ("integration_id") REFERENCES "integrations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "integration_workspaces" ADD CONSTRAINT "integration_workspaces_integration_id_fkey" FOREIGN KEY ("integration_id") REFERENCES "integrations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "integration_workspaces" ADD CONSTRAINT "integration_workspaces_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "providers" ADD CONSTRAINT "providers_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "providers" ADD CONSTRAINT "providers_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "providers" ADD CONSTRAINT "providers_integration_id_fkey" FOREIGN KEY ("integration_id") REFERENCES "integrations" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "rate_limits_policies" ADD CONSTRAINT "rate_limits_policies_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "rate_limits_policies" ADD CONSTRAINT "rate_limits_policies_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "audit_entries" ADD CONSTRAINT "audit_entries_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The audit log only grows: an entry is neither changed nor removed, by anyone.
CREATE FUNCTION "refuse_audit_change"() RETURNS TRIGGER AS $$
BEGIN
  RAISE EXCEPTION 'audit entries are never changed';
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER "audit_entries_append_only" BEFORE UPDATE OR DELETE ON "audit_entries" FOR EACH ROW EXECUTE FUNCTION "refuse_audit_change"();
