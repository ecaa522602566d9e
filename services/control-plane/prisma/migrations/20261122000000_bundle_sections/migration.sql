-- What changed in a workspace since which revision, so that gateways are sent
-- that and nothing else. Written by triggers and not by the services: a replica
-- of the release before, and whatever else writes to these tables, cannot forget it.

-- Revisions that a gateway may hold and be told the difference to. The stamp
-- tells a revision from the one with its number in a database that was restored.
CREATE TABLE "bundle_revisions" (
  "workspace_id" UUID NOT NULL,
  "revision" BIGINT NOT NULL,
  "stamp" UUID NOT NULL,
  CONSTRAINT "bundle_revisions_pkey" PRIMARY KEY ("workspace_id", "revision")
);
ALTER TABLE "bundle_revisions" ADD CONSTRAINT "bundle_revisions_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The revision that last changed an item, whether there is such an item still or not.
CREATE TABLE "bundle_changes" (
  "workspace_id" UUID NOT NULL,
  "section" TEXT NOT NULL,
  "item_id" UUID NOT NULL,
  "revision" BIGINT NOT NULL,
  CONSTRAINT "bundle_changes_pkey" PRIMARY KEY ("workspace_id", "section", "item_id")
);
CREATE INDEX "bundle_changes_workspace_id_revision_idx" ON "bundle_changes" ("workspace_id", "revision");
ALTER TABLE "bundle_changes" ADD CONSTRAINT "bundle_changes_workspace_id_fkey" FOREIGN KEY ("workspace_id") REFERENCES "workspaces" ("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The default config of a workspace is part of every answer.
CREATE INDEX "configs_workspace_id_idx" ON "configs" ("workspace_id") WHERE "is_default";

INSERT INTO "bundle_revisions" SELECT "id", "revision", gen_random_uuid() FROM "workspaces";

-- Who holds a revision older than the last 10,000 is sent everything.
CREATE FUNCTION "note_bundle_revision"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO bundle_revisions VALUES (NEW.id, NEW.revision, gen_random_uuid())
    ON CONFLICT (workspace_id, revision) DO UPDATE SET stamp = excluded.stamp;
  IF NEW.revision % 100 = 0 THEN
    DELETE FROM bundle_revisions WHERE workspace_id = NEW.id AND revision < NEW.revision - 10000;
    DELETE FROM bundle_changes WHERE workspace_id = NEW.id AND revision < NEW.revision - 10000;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "bundle_revision" AFTER INSERT OR UPDATE OF "revision" ON "workspaces"
  FOR EACH ROW EXECUTE FUNCTION "note_bundle_revision"();

-- The revision is raised at the end of a change, when all of its rows are written:
-- they carry the next one. Of a workspace that is being deleted nothing is kept.
CREATE FUNCTION "note_bundle_changes"("changed" TEXT, "workspaces_of" UUID[], "items" UUID[]) RETURNS VOID LANGUAGE sql AS $$
  INSERT INTO bundle_changes (workspace_id, section, item_id, revision)
    SELECT DISTINCT w.id, changed, c.item_id, w.revision + 1
    FROM unnest(workspaces_of, items) AS c (workspace_id, item_id) JOIN workspaces w ON w.id = c.workspace_id
    ON CONFLICT (workspace_id, section, item_id) DO UPDATE SET revision = excluded.revision
$$;

-- For tables whose rows are items of the section that is the trigger's argument.
CREATE FUNCTION "note_changed_rows"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'DELETE' THEN
    PERFORM note_bundle_changes(TG_ARGV[0], array_agg(workspace_id), array_agg(id)) FROM new_rows;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    PERFORM note_bundle_changes(TG_ARGV[0], array_agg(workspace_id), array_agg(id)) FROM old_rows;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "configs" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('configs');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "configs" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('configs');
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "configs" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('configs');
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "prompts" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('prompts');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "prompts" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('prompts');
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "prompts" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('prompts');
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "prompt_partials" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('partials');
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "prompt_partials" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('partials');
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "prompt_partials" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_rows"('partials');

-- Versions, as they are written or get another provider.
CREATE FUNCTION "note_prompt_versions"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_bundle_changes('promptVersions', array_agg(p.workspace_id), array_agg(v.id))
    FROM new_rows v JOIN prompts p ON p.id = v.prompt_id;
  RETURN NULL;
END $$;
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "prompt_versions" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_prompt_versions"();
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "prompt_versions" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_prompt_versions"();

CREATE FUNCTION "note_partial_versions"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_bundle_changes('partialVersions', array_agg(p.workspace_id), array_agg(v.id))
    FROM new_rows v JOIN prompt_partials p ON p.id = v.partial_id;
  RETURN NULL;
END $$;
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "prompt_partial_versions" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_partial_versions"();
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "prompt_partial_versions" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_partial_versions"();

-- Gateways hold the latest 1,000 versions of a prompt, the published one and those
-- with a label: whatever of a prompt moves these moves versions in and out.
CREATE FUNCTION "note_moved_prompt_versions"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_bundle_changes('promptVersions', array_agg(n.workspace_id), array_agg(v.id))
    FROM new_rows n JOIN old_rows o ON o.id = n.id JOIN prompt_versions v ON v.prompt_id = n.id
    WHERE n.status <> o.status
      OR (n.published_version <> o.published_version AND v.version IN (o.published_version, n.published_version))
      OR (v.version > o.latest_version - 1000 AND v.version <= n.latest_version - 1000);
  RETURN NULL;
END $$;
CREATE TRIGGER "bundle_versions" AFTER UPDATE ON "prompts" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_moved_prompt_versions"();

CREATE FUNCTION "note_moved_partial_versions"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_bundle_changes('partialVersions', array_agg(n.workspace_id), array_agg(v.id))
    FROM new_rows n JOIN old_rows o ON o.id = n.id JOIN prompt_partial_versions v ON v.partial_id = n.id
    WHERE n.status <> o.status
      OR (n.published_version <> o.published_version AND v.version IN (o.published_version, n.published_version))
      OR (v.version > o.latest_version - 1000 AND v.version <= n.latest_version - 1000);
  RETURN NULL;
END $$;
CREATE TRIGGER "bundle_versions" AFTER UPDATE ON "prompt_partials" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_moved_partial_versions"();

-- Versions go with what they are of, and could not say afterwards whose they were.
CREATE FUNCTION "note_lost_prompt_versions"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_bundle_changes('promptVersions', array_agg(OLD.workspace_id), array_agg(id)) FROM prompt_versions WHERE prompt_id = OLD.id;
  RETURN OLD;
END $$;
CREATE TRIGGER "bundle_versions_lost" BEFORE DELETE ON "prompts" FOR EACH ROW EXECUTE FUNCTION "note_lost_prompt_versions"();

CREATE FUNCTION "note_lost_partial_versions"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_bundle_changes('partialVersions', array_agg(OLD.workspace_id), array_agg(id)) FROM prompt_partial_versions WHERE partial_id = OLD.id;
  RETURN OLD;
END $$;
CREATE TRIGGER "bundle_versions_lost" BEFORE DELETE ON "prompt_partials" FOR EACH ROW EXECUTE FUNCTION "note_lost_partial_versions"();

-- Labels are told with the prompt, and keep old versions within reach.
CREATE FUNCTION "note_labelled_versions"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'DELETE' THEN
    PERFORM note_bundle_changes('prompts', array_agg(p.workspace_id), array_agg(p.id)) FROM new_rows l JOIN prompts p ON p.id = l.prompt_id;
    PERFORM note_bundle_changes('promptVersions', array_agg(p.workspace_id), array_agg(l.version_id)) FROM new_rows l JOIN prompts p ON p.id = l.prompt_id;
  END IF;
  IF TG_OP <> 'INSERT' THEN
    PERFORM note_bundle_changes('prompts', array_agg(p.workspace_id), array_agg(p.id)) FROM old_rows l JOIN prompts p ON p.id = l.prompt_id;
    PERFORM note_bundle_changes('promptVersions', array_agg(p.workspace_id), array_agg(l.version_id)) FROM old_rows l JOIN prompts p ON p.id = l.prompt_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "bundle_insert" AFTER INSERT ON "prompt_version_labels" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_labelled_versions"();
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "prompt_version_labels" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_labelled_versions"();
CREATE TRIGGER "bundle_delete" AFTER DELETE ON "prompt_version_labels" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_labelled_versions"();

CREATE FUNCTION "note_renamed_labels"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_bundle_changes('prompts', array_agg(p.workspace_id), array_agg(p.id))
    FROM new_rows n JOIN prompt_version_labels l ON l.label_id = n.id JOIN prompts p ON p.id = l.prompt_id;
  RETURN NULL;
END $$;
CREATE TRIGGER "bundle_update" AFTER UPDATE ON "labels" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_renamed_labels"();
