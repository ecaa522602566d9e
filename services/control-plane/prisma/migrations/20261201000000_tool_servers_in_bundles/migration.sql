-- MCP servers and agent servers are sections of bundles. What is noted is the server,
-- whichever of the tables changed that decide about it.

ALTER TABLE "mcp_integrations" ADD COLUMN "new_capabilities" TEXT NOT NULL DEFAULT 'enabled';
ALTER TABLE "mcp_integrations" ADD COLUMN "on_drift" TEXT NOT NULL DEFAULT 'alert';
ALTER TABLE "mcp_integrations" ADD COLUMN "policy" JSONB NOT NULL DEFAULT '{}';
ALTER TABLE "mcp_servers" ADD COLUMN "members" JSONB NOT NULL DEFAULT '[]';
ALTER TABLE "mcp_servers" ADD COLUMN "prefix" TEXT NOT NULL DEFAULT 'on_collision';
ALTER TABLE "mcp_servers" ADD COLUMN "exposure" TEXT NOT NULL DEFAULT 'all';
ALTER TABLE "mcp_servers" ADD COLUMN "policy" JSONB NOT NULL DEFAULT '{}';
-- How this server shows it: renamed, with another description, fixed and hidden arguments.
ALTER TABLE "mcp_server_capabilities" ADD COLUMN "shown" JSONB NOT NULL DEFAULT '{}';
ALTER TABLE "agent_integrations" ADD COLUMN "protocol" TEXT NOT NULL DEFAULT 'a2a';
ALTER TABLE "agent_integrations" ADD COLUMN "policy" JSONB NOT NULL DEFAULT '{}';
ALTER TABLE "agent_servers" ADD COLUMN "policy" JSONB NOT NULL DEFAULT '{}';

-- Definitions as they were first seen or approved, beside what was seen last.
CREATE TABLE "mcp_pins" (
  "integration_id" UUID NOT NULL,
  "type" TEXT NOT NULL,
  "name" TEXT NOT NULL,
  -- SHA-256 (hex) of the canonical JSON; null = nobody approved it.
  "pinned_hash" TEXT,
  "pinned_definition" JSONB,
  -- Null = the server's list does not have it any more.
  "seen_hash" TEXT,
  "seen_definition" JSONB,
  "findings" JSONB NOT NULL DEFAULT '[]',
  "pinned_by" UUID,
  "pinned_at" TIMESTAMPTZ(3),
  "seen_at" TIMESTAMPTZ(3) NOT NULL,
  "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT "mcp_pins_pkey" PRIMARY KEY ("integration_id", "type", "name")
);
ALTER TABLE "mcp_pins" ADD CONSTRAINT "mcp_pins_integration_id_fkey" FOREIGN KEY ("integration_id") REFERENCES "mcp_integrations" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Arguments: the section, the table of its servers, and which of them (s) a row (r) decides about.
CREATE FUNCTION "note_servers"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE
  "note" TEXT := 'SELECT note_bundle_changes(%L, array_agg(s.workspace_id), array_agg(s.id)) FROM %I r JOIN %I s ON %s';
BEGIN
  IF TG_OP <> 'DELETE' THEN EXECUTE format(note, TG_ARGV[0], 'new_rows', TG_ARGV[1], TG_ARGV[2]); END IF;
  IF TG_OP <> 'INSERT' THEN EXECUTE format(note, TG_ARGV[0], 'old_rows', TG_ARGV[1], TG_ARGV[2]); END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER "bundle_insert" AFTER INSERT ON "mcp_servers" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('mcpServers');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "mcp_servers" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('mcpServers');
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "mcp_servers" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('mcpServers');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "mcp_integrations" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.integration_id = r.id');
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "mcp_integration_workspaces" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.integration_id = r.integration_id AND s.workspace_id = r.workspace_id');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "mcp_integration_workspaces" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.integration_id = r.integration_id AND s.workspace_id = r.workspace_id');
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "mcp_integration_workspaces" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.integration_id = r.integration_id AND s.workspace_id = r.workspace_id');
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "mcp_capabilities" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.integration_id = r.integration_id');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "mcp_capabilities" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.integration_id = r.integration_id');
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "mcp_capabilities" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.integration_id = r.integration_id');
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "mcp_pins" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.integration_id = r.integration_id');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "mcp_pins" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.integration_id = r.integration_id');
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "mcp_pins" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.integration_id = r.integration_id');
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "mcp_server_capabilities" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.id = r.server_id');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "mcp_server_capabilities" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.id = r.server_id');
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "mcp_server_capabilities" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.id = r.server_id');
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "mcp_server_user_access" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.id = r.server_id');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "mcp_server_user_access" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.id = r.server_id');
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "mcp_server_user_access" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('mcpServers', 'mcp_servers', 's.id = r.server_id');
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "agent_servers" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('agentServers');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "agent_servers" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('agentServers');
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "agent_servers" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('agentServers');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "agent_integrations" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('agentServers', 'agent_servers', 's.integration_id = r.id');
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "agent_integration_workspaces" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('agentServers', 'agent_servers', 's.integration_id = r.integration_id AND s.workspace_id = r.workspace_id');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "agent_integration_workspaces" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('agentServers', 'agent_servers', 's.integration_id = r.integration_id AND s.workspace_id = r.workspace_id');
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "agent_integration_workspaces" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('agentServers', 'agent_servers', 's.integration_id = r.integration_id AND s.workspace_id = r.workspace_id');
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "agent_skills" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('agentServers', 'agent_servers', 's.integration_id = r.integration_id');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "agent_skills" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('agentServers', 'agent_servers', 's.integration_id = r.integration_id');
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "agent_skills" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('agentServers', 'agent_servers', 's.integration_id = r.integration_id');
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "agent_server_skills" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('agentServers', 'agent_servers', 's.id = r.server_id');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "agent_server_skills" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('agentServers', 'agent_servers', 's.id = r.server_id');
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "agent_server_skills" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('agentServers', 'agent_servers', 's.id = r.server_id');
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "agent_server_user_access" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('agentServers', 'agent_servers', 's.id = r.server_id');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "agent_server_user_access" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('agentServers', 'agent_servers', 's.id = r.server_id');
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "agent_server_user_access" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_servers"('agentServers', 'agent_servers', 's.id = r.server_id');
