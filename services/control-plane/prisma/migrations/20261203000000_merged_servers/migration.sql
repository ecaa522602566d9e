-- A merged MCP server has members in place of an integration.
ALTER TABLE "mcp_servers" ALTER COLUMN "integration_id" DROP NOT NULL;

-- Whoever deletes a server takes it out of what it is merged into.
CREATE FUNCTION "leave_merged_servers"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  UPDATE mcp_servers s SET members = COALESCE(
      (SELECT jsonb_agg(m.member ORDER BY m.place) FROM jsonb_array_elements(s.members) WITH ORDINALITY AS m (member, place)
        WHERE NOT EXISTS (SELECT FROM old_rows o WHERE o.id::text = m.member->>'server_id')), '[]')
    WHERE s.members <> '[]' AND s.workspace_id IN (SELECT workspace_id FROM old_rows)
      AND EXISTS (SELECT FROM old_rows o WHERE s.members @> jsonb_build_array(jsonb_build_object('server_id', o.id::text)));
  RETURN NULL;
END $$;
CREATE TRIGGER "merged_members" AFTER DELETE ON "mcp_servers" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "leave_merged_servers"();
