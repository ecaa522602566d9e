ALTER TABLE "organisations"
  ADD COLUMN "settings" JSONB NOT NULL DEFAULT '{}',
  ADD COLUMN "jwt_settings" JSONB,
  ADD COLUMN "sealed_jwt_secrets" BYTEA,
  ADD COLUMN "input_guardrails" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
  ADD COLUMN "output_guardrails" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[];

ALTER TABLE "workspaces"
  ADD COLUMN "settings" JSONB NOT NULL DEFAULT '{}',
  ADD COLUMN "skips_input_guardrails" BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN "skips_output_guardrails" BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE "api_keys"
  ADD COLUMN "next_rotation_at" TIMESTAMPTZ(3),
  ADD COLUMN "expiry_notice_at" TIMESTAMPTZ(3),
  ADD COLUMN "rotation_notice_at" TIMESTAMPTZ(3);
-- Rotation policies had no date of their own; theirs begin to count now.
UPDATE "api_keys" SET
  "expiry_notice_at" = "expires_at",
  "next_rotation_at" = COALESCE(
    ("rotation_policy" ->> 'next_rotation_at')::TIMESTAMPTZ,
    CASE "rotation_policy" ->> 'rotation_period'
      WHEN 'weekly' THEN (date_trunc('week', now() AT TIME ZONE 'UTC') + INTERVAL '7 days') AT TIME ZONE 'UTC'
      WHEN 'monthly' THEN (date_trunc('month', now() AT TIME ZONE 'UTC') + INTERVAL '1 month') AT TIME ZONE 'UTC'
    END,
    (date_trunc('day', now() AT TIME ZONE 'UTC')
      + make_interval(days => ("rotation_policy" ->> 'rotation_period_days')::INT)) AT TIME ZONE 'UTC'
  )
WHERE "rotation_policy" IS NOT NULL OR "expires_at" IS NOT NULL;
UPDATE "api_keys" SET "rotation_notice_at" = "next_rotation_at" WHERE "next_rotation_at" IS NOT NULL;

-- Lists are read in this order; what a prefix of another index can do needs no index of its own.
DROP INDEX "api_keys_organisation_id_created_at_idx";
DROP INDEX "api_keys_workspace_id_idx";
CREATE INDEX "api_keys_organisation_id_created_at_id_idx" ON "api_keys" ("organisation_id", "created_at", "id");
CREATE INDEX "api_keys_workspace_id_created_at_id_idx" ON "api_keys" ("workspace_id", "created_at", "id");
CREATE INDEX "api_keys_expiry_notice_at_idx" ON "api_keys" ("expiry_notice_at");
CREATE INDEX "api_keys_rotation_notice_at_idx" ON "api_keys" ("rotation_notice_at");
CREATE INDEX "api_key_secrets_expires_at_idx" ON "api_key_secrets" ("expires_at");
DROP INDEX "rate_limits_policies_workspace_id_status_idx";
DROP INDEX "rate_limits_policies_organisation_id_idx";
CREATE INDEX "rate_limits_policies_workspace_id_created_at_id_idx" ON "rate_limits_policies" ("workspace_id", "created_at", "id");
CREATE INDEX "rate_limits_policies_organisation_id_created_at_id_idx" ON "rate_limits_policies" ("organisation_id", "created_at", "id");

ALTER TABLE "config_versions"
  ADD COLUMN "sealed_body" BYTEA;

ALTER TABLE "integration_models"
  ADD COLUMN "sealed_configurations" BYTEA;

ALTER TABLE "integration_workspaces"
  ADD COLUMN "last_reset_at" TIMESTAMPTZ(3);

ALTER TABLE "providers"
  ADD COLUMN "owns_integration" BOOLEAN NOT NULL DEFAULT false;

ALTER TABLE "audit_entries"
  ADD COLUMN "before" TEXT,
  ADD COLUMN "after" TEXT;

CREATE TABLE "invites" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "email" TEXT NOT NULL,
  "role" TEXT NOT NULL,
  "workspaces" JSONB NOT NULL DEFAULT '[]',
  "api_key_scopes" JSONB,
  "token_hash" BYTEA NOT NULL,
  "status" TEXT NOT NULL DEFAULT 'pending',
  "expires_at" TIMESTAMPTZ(3) NOT NULL,
  "accepted_at" TIMESTAMPTZ(3),
  "invited_by" UUID,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "invites_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "invites_token_hash_key" ON "invites" ("token_hash");
CREATE INDEX "invites_organisation_id_created_at_idx" ON "invites" ("organisation_id", "created_at");

CREATE TABLE "scim_groups" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "name" TEXT NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "scim_groups_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "scim_groups_organisation_id_name_key" ON "scim_groups" ("organisation_id", "name");

CREATE TABLE "scim_workspace_groups" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "group_id" UUID NOT NULL,
  "role" TEXT NOT NULL,
  "status" TEXT NOT NULL DEFAULT 'active',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "scim_workspace_groups_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "scim_workspace_groups_group_id_workspace_id_key" ON "scim_workspace_groups" ("group_id", "workspace_id");
CREATE INDEX "scim_workspace_groups_organisation_id_created_at_idx" ON "scim_workspace_groups" ("organisation_id", "created_at");
CREATE INDEX "scim_workspace_groups_workspace_id_idx" ON "scim_workspace_groups" ("workspace_id");

CREATE TABLE "collections" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "slug" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "parent_id" UUID,
  "is_default" BOOLEAN NOT NULL DEFAULT false,
  "status" TEXT NOT NULL DEFAULT 'active',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "collections_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "collections_workspace_id_slug_key" ON "collections" ("workspace_id", "slug");
CREATE INDEX "collections_parent_id_idx" ON "collections" ("parent_id");
CREATE INDEX "collections_organisation_id_idx" ON "collections" ("organisation_id");

CREATE TABLE "labels" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID,
  "name" TEXT NOT NULL,
  "description" TEXT NOT NULL DEFAULT '',
  "color_code" TEXT NOT NULL DEFAULT '',
  "is_universal" BOOLEAN NOT NULL DEFAULT false,
  "status" TEXT NOT NULL DEFAULT 'active',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "labels_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "labels_workspace_id_name_key" ON "labels" ("workspace_id", "name");
CREATE INDEX "labels_organisation_id_created_at_idx" ON "labels" ("organisation_id", "created_at");

CREATE TABLE "prompts" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "collection_id" UUID NOT NULL,
  "slug" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "status" TEXT NOT NULL DEFAULT 'active',
  "latest_version" INTEGER NOT NULL DEFAULT 1,
  "published_version" INTEGER NOT NULL DEFAULT 1,
  "share" JSONB,
  "owner_id" UUID NOT NULL,
  "updated_by" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "prompts_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "prompts_workspace_id_slug_key" ON "prompts" ("workspace_id", "slug");
CREATE INDEX "prompts_collection_id_idx" ON "prompts" ("collection_id");
CREATE INDEX "prompts_organisation_id_idx" ON "prompts" ("organisation_id");

CREATE TABLE "prompt_versions" (
  "id" UUID NOT NULL,
  "prompt_id" UUID NOT NULL,
  "version" INTEGER NOT NULL,
  "template" TEXT NOT NULL,
  "parameters" JSONB NOT NULL DEFAULT '{}',
  "model" TEXT,
  "virtual_key" TEXT NOT NULL,
  "functions" JSONB,
  "tools" JSONB,
  "tool_choice" JSONB,
  "description" TEXT,
  "template_metadata" JSONB,
  "is_raw_template" BOOLEAN NOT NULL DEFAULT false,
  "status" TEXT NOT NULL DEFAULT 'active',
  "created_by" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "prompt_versions_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "prompt_versions_prompt_id_version_key" ON "prompt_versions" ("prompt_id", "version");

CREATE TABLE "prompt_version_labels" (
  "prompt_id" UUID NOT NULL,
  "label_id" UUID NOT NULL,
  "version_id" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "prompt_version_labels_pkey" PRIMARY KEY ("prompt_id", "label_id")
);
CREATE INDEX "prompt_version_labels_label_id_idx" ON "prompt_version_labels" ("label_id");
CREATE INDEX "prompt_version_labels_version_id_idx" ON "prompt_version_labels" ("version_id");

CREATE TABLE "prompt_partials" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "collection_id" UUID NOT NULL,
  "slug" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "status" TEXT NOT NULL DEFAULT 'active',
  "latest_version" INTEGER NOT NULL DEFAULT 1,
  "published_version" INTEGER NOT NULL DEFAULT 1,
  "share" JSONB,
  "owner_id" UUID NOT NULL,
  "updated_by" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "prompt_partials_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "prompt_partials_workspace_id_slug_key" ON "prompt_partials" ("workspace_id", "slug");
CREATE INDEX "prompt_partials_collection_id_idx" ON "prompt_partials" ("collection_id");
CREATE INDEX "prompt_partials_organisation_id_idx" ON "prompt_partials" ("organisation_id");

CREATE TABLE "prompt_partial_versions" (
  "id" UUID NOT NULL,
  "partial_id" UUID NOT NULL,
  "version" INTEGER NOT NULL,
  "template" TEXT NOT NULL,
  "description" TEXT,
  "status" TEXT NOT NULL DEFAULT 'active',
  "created_by" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "prompt_partial_versions_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "prompt_partial_versions_partial_id_version_key" ON "prompt_partial_versions" ("partial_id", "version");

CREATE TABLE "guardrails" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID,
  "slug" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "status" TEXT NOT NULL DEFAULT 'active',
  "version" INTEGER NOT NULL DEFAULT 1,
  "owner_id" UUID NOT NULL,
  "updated_by" UUID,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "guardrails_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "guardrails_organisation_id_slug_key" ON "guardrails" ("organisation_id", "slug");
CREATE INDEX "guardrails_workspace_id_idx" ON "guardrails" ("workspace_id");

CREATE TABLE "guardrail_versions" (
  "id" UUID NOT NULL,
  "guardrail_id" UUID NOT NULL,
  "version" INTEGER NOT NULL,
  "checks" JSONB NOT NULL,
  "sealed_checks" BYTEA NOT NULL,
  "actions" JSONB NOT NULL,
  "created_by" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "guardrail_versions_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "guardrail_versions_guardrail_id_version_key" ON "guardrail_versions" ("guardrail_id", "version");

CREATE TABLE "feedback" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "trace_id" TEXT NOT NULL,
  "value" INTEGER NOT NULL,
  "weight" DOUBLE PRECISION NOT NULL DEFAULT 1,
  "metadata" JSONB NOT NULL DEFAULT '{}',
  "api_key_id" UUID,
  "user_id" UUID,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "feedback_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "feedback_workspace_id_trace_id_idx" ON "feedback" ("workspace_id", "trace_id");
CREATE INDEX "feedback_organisation_id_idx" ON "feedback" ("organisation_id");

CREATE TABLE "usage_limits_policies" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "name" TEXT,
  "description" TEXT,
  "conditions" JSONB NOT NULL,
  "group_by" JSONB NOT NULL,
  "type" TEXT NOT NULL,
  "credit_limit" DOUBLE PRECISION NOT NULL,
  "alert_threshold" DOUBLE PRECISION,
  "periodic_reset" TEXT,
  "periodic_reset_days" INTEGER,
  "next_usage_reset_at" TIMESTAMPTZ(3),
  "last_reset_at" TIMESTAMPTZ(3),
  "status" TEXT NOT NULL DEFAULT 'active',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "usage_limits_policies_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "usage_limits_policies_workspace_id_created_at_id_idx" ON "usage_limits_policies" ("workspace_id", "created_at", "id");
CREATE INDEX "usage_limits_policies_organisation_id_created_at_id_idx" ON "usage_limits_policies" ("organisation_id", "created_at", "id");

CREATE TABLE "usage_limits_entities" (
  "id" UUID NOT NULL,
  "policy_id" UUID NOT NULL,
  "value_key" TEXT NOT NULL,
  "current_usage" DECIMAL(38,9) NOT NULL DEFAULT 0,
  "status" TEXT NOT NULL DEFAULT 'active',
  "threshold_alert_sent" BOOLEAN NOT NULL DEFAULT false,
  "exhausted_alert_sent" BOOLEAN NOT NULL DEFAULT false,
  "last_reset_at" TIMESTAMPTZ(3),
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "usage_limits_entities_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "usage_limits_entities_policy_id_value_key_key" ON "usage_limits_entities" ("policy_id", "value_key");
CREATE INDEX "usage_limits_entities_policy_id_created_at_id_idx" ON "usage_limits_entities" ("policy_id", "created_at", "id");

CREATE TABLE "secret_references" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "slug" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "description" TEXT,
  "manager_type" TEXT NOT NULL,
  "auth_config" JSONB NOT NULL,
  "sealed_auth_config" BYTEA NOT NULL,
  "secret_path" TEXT NOT NULL,
  "secret_key" TEXT,
  "allow_all_workspaces" BOOLEAN NOT NULL DEFAULT true,
  "tags" JSONB,
  "status" TEXT NOT NULL DEFAULT 'ACTIVE',
  "created_by" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "secret_references_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "secret_references_organisation_id_slug_key" ON "secret_references" ("organisation_id", "slug");

CREATE TABLE "secret_reference_workspaces" (
  "secret_reference_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "secret_reference_workspaces_pkey" PRIMARY KEY ("secret_reference_id", "workspace_id")
);
CREATE INDEX "secret_reference_workspaces_workspace_id_idx" ON "secret_reference_workspaces" ("workspace_id");

CREATE TABLE "mcp_integrations" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID,
  "slug" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "description" TEXT,
  "url" TEXT NOT NULL,
  "auth_type" TEXT NOT NULL,
  "transport" TEXT NOT NULL,
  "server_name" TEXT,
  "server_version" TEXT,
  "protocol_version" TEXT,
  "capability_flags" JSONB,
  "sync_status" TEXT,
  "last_synced_at" TIMESTAMPTZ(3),
  "sync_error" TEXT,
  "configurations" JSONB NOT NULL DEFAULT '{}',
  "sealed_configurations" BYTEA NOT NULL,
  "secret_mappings" JSONB NOT NULL DEFAULT '[]',
  "global_access" JSONB,
  "status" TEXT NOT NULL DEFAULT 'active',
  "owner_id" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "mcp_integrations_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "mcp_integrations_organisation_id_slug_key" ON "mcp_integrations" ("organisation_id", "slug");
CREATE INDEX "mcp_integrations_workspace_id_idx" ON "mcp_integrations" ("workspace_id");

CREATE TABLE "mcp_integration_workspaces" (
  "integration_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "enabled" BOOLEAN NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "mcp_integration_workspaces_pkey" PRIMARY KEY ("integration_id", "workspace_id")
);
CREATE INDEX "mcp_integration_workspaces_workspace_id_idx" ON "mcp_integration_workspaces" ("workspace_id");

CREATE TABLE "mcp_capabilities" (
  "integration_id" UUID NOT NULL,
  "type" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "enabled" BOOLEAN NOT NULL DEFAULT true,
  "detail" JSONB NOT NULL DEFAULT '{}',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "mcp_capabilities_pkey" PRIMARY KEY ("integration_id", "type", "name")
);

CREATE TABLE "mcp_servers" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "integration_id" UUID NOT NULL,
  "slug" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "description" TEXT,
  "status" TEXT NOT NULL DEFAULT 'active',
  "default_user_access" TEXT NOT NULL DEFAULT 'allow',
  "owner_id" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "mcp_servers_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "mcp_servers_organisation_id_slug_key" ON "mcp_servers" ("organisation_id", "slug");
CREATE INDEX "mcp_servers_workspace_id_idx" ON "mcp_servers" ("workspace_id");
CREATE INDEX "mcp_servers_integration_id_idx" ON "mcp_servers" ("integration_id");

CREATE TABLE "mcp_server_capabilities" (
  "server_id" UUID NOT NULL,
  "type" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "enabled" BOOLEAN NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "mcp_server_capabilities_pkey" PRIMARY KEY ("server_id", "type", "name")
);

CREATE TABLE "mcp_server_user_access" (
  "server_id" UUID NOT NULL,
  "user_id" UUID NOT NULL,
  "enabled" BOOLEAN NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "mcp_server_user_access_pkey" PRIMARY KEY ("server_id", "user_id")
);
CREATE INDEX "mcp_server_user_access_user_id_idx" ON "mcp_server_user_access" ("user_id");

CREATE TABLE "mcp_connections" (
  "server_id" UUID NOT NULL,
  "user_id" UUID NOT NULL,
  "sealed_tokens" BYTEA,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "mcp_connections_pkey" PRIMARY KEY ("server_id", "user_id")
);
CREATE INDEX "mcp_connections_user_id_idx" ON "mcp_connections" ("user_id");

CREATE TABLE "agent_integrations" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID,
  "slug" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "description" TEXT,
  "url" TEXT NOT NULL,
  "auth_type" TEXT NOT NULL,
  "agent_card" JSONB,
  "configurations" JSONB NOT NULL DEFAULT '{}',
  "sealed_configurations" BYTEA NOT NULL,
  "secret_mappings" JSONB NOT NULL DEFAULT '[]',
  "global_access" JSONB,
  "status" TEXT NOT NULL DEFAULT 'active',
  "owner_id" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "agent_integrations_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "agent_integrations_organisation_id_slug_key" ON "agent_integrations" ("organisation_id", "slug");
CREATE INDEX "agent_integrations_workspace_id_idx" ON "agent_integrations" ("workspace_id");

CREATE TABLE "agent_integration_workspaces" (
  "integration_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "enabled" BOOLEAN NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "agent_integration_workspaces_pkey" PRIMARY KEY ("integration_id", "workspace_id")
);
CREATE INDEX "agent_integration_workspaces_workspace_id_idx" ON "agent_integration_workspaces" ("workspace_id");

CREATE TABLE "agent_skills" (
  "integration_id" UUID NOT NULL,
  "type" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "enabled" BOOLEAN NOT NULL DEFAULT true,
  "detail" JSONB NOT NULL DEFAULT '{}',
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "agent_skills_pkey" PRIMARY KEY ("integration_id", "type", "name")
);

CREATE TABLE "agent_servers" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "integration_id" UUID NOT NULL,
  "slug" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "description" TEXT,
  "status" TEXT NOT NULL DEFAULT 'active',
  "default_user_access" TEXT NOT NULL DEFAULT 'allow',
  "owner_id" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "agent_servers_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "agent_servers_organisation_id_slug_key" ON "agent_servers" ("organisation_id", "slug");
CREATE INDEX "agent_servers_workspace_id_idx" ON "agent_servers" ("workspace_id");
CREATE INDEX "agent_servers_integration_id_idx" ON "agent_servers" ("integration_id");

CREATE TABLE "agent_server_skills" (
  "server_id" UUID NOT NULL,
  "type" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  "enabled" BOOLEAN NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "agent_server_skills_pkey" PRIMARY KEY ("server_id", "type", "name")
);

CREATE TABLE "agent_server_user_access" (
  "server_id" UUID NOT NULL,
  "user_id" UUID NOT NULL,
  "enabled" BOOLEAN NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "agent_server_user_access_pkey" PRIMARY KEY ("server_id", "user_id")
);
CREATE INDEX "agent_server_user_access_user_id_idx" ON "agent_server_user_access" ("user_id");

CREATE TABLE "log_exports" (
  "id" UUID NOT NULL,
  "organisation_id" UUID NOT NULL,
  "workspace_id" UUID NOT NULL,
  "filters" JSONB NOT NULL,
  "requested_data" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
  "status" TEXT NOT NULL DEFAULT 'draft',
  "description" TEXT NOT NULL DEFAULT '',
  "total" INTEGER NOT NULL DEFAULT 0,
  "error" TEXT,
  "object_key" TEXT,
  "created_by" UUID NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "log_exports_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "log_exports_workspace_id_created_at_idx" ON "log_exports" ("workspace_id", "created_at");
CREATE INDEX "log_exports_organisation_id_idx" ON "log_exports" ("organisation_id");

ALTER TABLE "invites" ADD CONSTRAINT "invites_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "scim_groups" ADD CONSTRAINT "scim_groups_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "scim_workspace_groups" ADD CONSTRAINT "scim_workspace_groups_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "scim_workspace_groups" ADD CONSTRAINT "scim_workspace_groups_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "scim_workspace_groups" ADD CONSTRAINT "scim_workspace_groups_group_id_fkey" FOREIGN KEY ("group_id") REFERENCES "scim_groups" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "collections" ADD CONSTRAINT "collections_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "collections" ADD CONSTRAINT "collections_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "collections" ADD CONSTRAINT "collections_parent_id_fkey" FOREIGN KEY ("parent_id") REFERENCES "collections" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "labels" ADD CONSTRAINT "labels_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "labels" ADD CONSTRAINT "labels_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "prompts" ADD CONSTRAINT "prompts_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "prompts" ADD CONSTRAINT "prompts_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "prompts" ADD CONSTRAINT "prompts_collection_id_fkey" FOREIGN KEY ("collection_id") REFERENCES "collections" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "prompt_versions" ADD CONSTRAINT "prompt_versions_prompt_id_fkey" FOREIGN KEY ("prompt_id") REFERENCES "prompts" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "prompt_version_labels" ADD CONSTRAINT "prompt_version_labels_prompt_id_fkey" FOREIGN KEY ("prompt_id") REFERENCES "prompts" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "prompt_version_labels" ADD CONSTRAINT "prompt_version_labels_label_id_fkey" FOREIGN KEY ("label_id") REFERENCES "labels" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "prompt_version_labels" ADD CONSTRAINT "prompt_version_labels_version_id_fkey" FOREIGN KEY ("version_id") REFERENCES "prompt_versions" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "prompt_partials" ADD CONSTRAINT "prompt_partials_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "prompt_partials" ADD CONSTRAINT "prompt_partials_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "prompt_partials" ADD CONSTRAINT "prompt_partials_collection_id_fkey" FOREIGN KEY ("collection_id") REFERENCES "collections" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "prompt_partial_versions" ADD CONSTRAINT "prompt_partial_versions_partial_id_fkey" FOREIGN KEY ("partial_id") REFERENCES "prompt_partials" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "guardrails" ADD CONSTRAINT "guardrails_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "guardrails" ADD CONSTRAINT "guardrails_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "guardrail_versions" ADD CONSTRAINT "guardrail_versions_guardrail_id_fkey" FOREIGN KEY ("guardrail_id") REFERENCES "guardrails" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "feedback" ADD CONSTRAINT "feedback_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "feedback" ADD CONSTRAINT "feedback_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "usage_limits_policies" ADD CONSTRAINT "usage_limits_policies_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "usage_limits_policies" ADD CONSTRAINT "usage_limits_policies_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "usage_limits_entities" ADD CONSTRAINT "usage_limits_entities_policy_id_fkey" FOREIGN KEY ("policy_id") REFERENCES "usage_limits_policies" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "secret_references" ADD CONSTRAINT "secret_references_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "secret_reference_workspaces" ADD CONSTRAINT "secret_reference_workspaces_secret_reference_id_fkey" FOREIGN KEY ("secret_reference_id") REFERENCES "secret_references" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "secret_reference_workspaces" ADD CONSTRAINT "secret_reference_workspaces_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_integrations" ADD CONSTRAINT "mcp_integrations_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_integrations" ADD CONSTRAINT "mcp_integrations_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_integration_workspaces" ADD CONSTRAINT "mcp_integration_workspaces_integration_id_fkey" FOREIGN KEY ("integration_id") REFERENCES "mcp_integrations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_integration_workspaces" ADD CONSTRAINT "mcp_integration_workspaces_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_capabilities" ADD CONSTRAINT "mcp_capabilities_integration_id_fkey" FOREIGN KEY ("integration_id") REFERENCES "mcp_integrations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_servers" ADD CONSTRAINT "mcp_servers_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_servers" ADD CONSTRAINT "mcp_servers_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_servers" ADD CONSTRAINT "mcp_servers_integration_id_fkey" FOREIGN KEY ("integration_id") REFERENCES "mcp_integrations" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "mcp_server_capabilities" ADD CONSTRAINT "mcp_server_capabilities_server_id_fkey" FOREIGN KEY ("server_id") REFERENCES "mcp_servers" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_server_user_access" ADD CONSTRAINT "mcp_server_user_access_server_id_fkey" FOREIGN KEY ("server_id") REFERENCES "mcp_servers" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_server_user_access" ADD CONSTRAINT "mcp_server_user_access_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_connections" ADD CONSTRAINT "mcp_connections_server_id_fkey" FOREIGN KEY ("server_id") REFERENCES "mcp_servers" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "mcp_connections" ADD CONSTRAINT "mcp_connections_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_integrations" ADD CONSTRAINT "agent_integrations_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_integrations" ADD CONSTRAINT "agent_integrations_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_integration_workspaces" ADD CONSTRAINT "agent_integration_workspaces_integration_id_fkey" FOREIGN KEY ("integration_id") REFERENCES "agent_integrations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_integration_workspaces" ADD CONSTRAINT "agent_integration_workspaces_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_skills" ADD CONSTRAINT "agent_skills_integration_id_fkey" FOREIGN KEY ("integration_id") REFERENCES "agent_integrations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_servers" ADD CONSTRAINT "agent_servers_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_servers" ADD CONSTRAINT "agent_servers_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_servers" ADD CONSTRAINT "agent_servers_integration_id_fkey" FOREIGN KEY ("integration_id") REFERENCES "agent_integrations" ("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "agent_server_skills" ADD CONSTRAINT "agent_server_skills_server_id_fkey" FOREIGN KEY ("server_id") REFERENCES "agent_servers" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_server_user_access" ADD CONSTRAINT "agent_server_user_access_server_id_fkey" FOREIGN KEY ("server_id") REFERENCES "agent_servers" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "agent_server_user_access" ADD CONSTRAINT "agent_server_user_access_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "users" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "log_exports" ADD CONSTRAINT "log_exports_organisation_id_fkey" FOREIGN KEY ("organisation_id") REFERENCES "organisations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;
ALTER TABLE "log_exports" ADD CONSTRAINT "log_exports_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- What every organisation and workspace made before now would have been made with.
INSERT INTO "labels" ("id", "organisation_id", "workspace_id", "name", "is_universal")
  SELECT gen_random_uuid(), o.id, NULL, l.name, true
  FROM "organisations" o CROSS JOIN (VALUES ('production'), ('staging'), ('development')) AS l (name);
INSERT INTO "collections" ("id", "organisation_id", "workspace_id", "slug", "name", "is_default")
  SELECT gen_random_uuid(), organisation_id, id, 'default', 'Default', true FROM "workspaces";

-- What was a column only is one of the settings now.
UPDATE "organisations" SET "settings" = '{"data_plane_security_settings": {"block_inline_config": true}}' WHERE "block_inline_config";
