-- Guardrails are sections of bundles. One of an organisation is part of those of
-- all its workspaces; gateways hold the latest 100 versions of each.

CREATE FUNCTION "note_guardrails"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'DELETE' THEN
    PERFORM note_bundle_changes('guardrails', array_agg(w.id), array_agg(g.id))
      FROM new_rows g JOIN workspaces w ON w.organisation_id = g.organisation_id AND COALESCE(g.workspace_id, w.id) = w.id;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    PERFORM note_bundle_changes('guardrails', array_agg(w.id), array_agg(g.id))
      FROM old_rows g JOIN workspaces w ON w.organisation_id = g.organisation_id AND COALESCE(g.workspace_id, w.id) = w.id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "guardrails" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_guardrails"();
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "guardrails" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_guardrails"();
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "guardrails" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_guardrails"();

CREATE FUNCTION "note_guardrail_versions"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_bundle_changes('guardrailVersions', array_agg(w.id), array_agg(v.id))
    FROM new_rows v JOIN guardrails g ON g.id = v.guardrail_id
    JOIN workspaces w ON w.organisation_id = g.organisation_id AND COALESCE(g.workspace_id, w.id) = w.id;
  RETURN NULL;
END $$;
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "guardrail_versions" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_guardrail_versions"();
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "guardrail_versions" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_guardrail_versions"();

CREATE FUNCTION "note_moved_guardrail_versions"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_bundle_changes('guardrailVersions', array_agg(w.id), array_agg(v.id))
    FROM new_rows n JOIN old_rows o ON o.id = n.id JOIN guardrail_versions v ON v.guardrail_id = n.id
    JOIN workspaces w ON w.organisation_id = n.organisation_id AND COALESCE(n.workspace_id, w.id) = w.id
    WHERE n.status <> o.status OR (v.version > o.version - 100 AND v.version <= n.version - 100);
  RETURN NULL;
END $$;
CREATE TRIGGER "bundle_versions" AFTER UPDATE ON "guardrails" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_moved_guardrail_versions"();

-- Versions go with their guardrail, and could not say afterwards whose they were.
CREATE FUNCTION "note_lost_guardrail_versions"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_bundle_changes('guardrailVersions', array_agg(w.id), array_agg(v.id))
    FROM guardrail_versions v JOIN workspaces w ON w.organisation_id = OLD.organisation_id AND COALESCE(OLD.workspace_id, w.id) = w.id
    WHERE v.guardrail_id = OLD.id;
  RETURN OLD;
END $$;
CREATE TRIGGER "bundle_versions_lost" BEFORE DELETE ON "guardrails" FOR EACH ROW EXECUTE FUNCTION "note_lost_guardrail_versions"();
