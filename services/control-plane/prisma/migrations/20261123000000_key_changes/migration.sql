-- Which keys changed when, so that a gateway that was away asks again for those
-- and for no others. Written by triggers, too: a replica of the release before,
-- and whatever else writes to these tables, cannot forget it.

-- The workspace of a key, or the organisation of one that has none, stands beside
-- it: gateways are told of the keys of what they hold, also of those that are gone.
CREATE TABLE "key_changes" (
  "key_id" UUID NOT NULL,
  "subject_id" UUID NOT NULL,
  "changed_at" TIMESTAMPTZ(6) NOT NULL,
  CONSTRAINT "key_changes_pkey" PRIMARY KEY ("key_id")
);
CREATE INDEX "key_changes_changed_at_idx" ON "key_changes" ("changed_at");

-- Drawn with each change. Whoever was told of one has all that changed a minute
-- before it: a change is committed within 20 seconds or not at all. In a database
-- that was restored marks drawn since are missing, and who names one asks for everything.
CREATE TABLE "key_marks" (
  "id" UUID NOT NULL,
  "since" TIMESTAMPTZ(6) NOT NULL,
  CONSTRAINT "key_marks_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "key_marks_since_idx" ON "key_marks" ("since");

INSERT INTO "key_marks" VALUES (gen_random_uuid(), clock_timestamp() - interval '1 minute');

-- Changes are remembered for a week, and for as long as there is a mark from before
-- them. A few at a time, past those that another change is just removing.
CREATE FUNCTION "forget_key_changes"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM key_marks WHERE id IN (
    SELECT id FROM key_marks WHERE since < NEW.since - interval '7 days' ORDER BY since LIMIT 1000 FOR UPDATE SKIP LOCKED);
  DELETE FROM key_changes WHERE key_id IN (
    SELECT key_id FROM key_changes WHERE changed_at < (SELECT min(since) FROM key_marks)
    ORDER BY changed_at LIMIT 1000 FOR UPDATE SKIP LOCKED);
  RETURN NULL;
END $$;
CREATE TRIGGER "key_changes_forgotten" AFTER INSERT ON "key_marks" FOR EACH ROW EXECUTE FUNCTION "forget_key_changes"();

CREATE FUNCTION "note_key_changes"("changed" UUID[]) RETURNS VOID LANGUAGE sql AS $$
  INSERT INTO key_changes (key_id, subject_id, changed_at)
    SELECT id, coalesce(workspace_id, organisation_id), clock_timestamp() FROM api_keys WHERE id = ANY(changed)
    ON CONFLICT (key_id) DO UPDATE SET changed_at = excluded.changed_at
$$;

-- Nobody holds a key that is new.
CREATE FUNCTION "note_changed_keys"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_key_changes(array_agg(id)) FROM new_rows;
  RETURN NULL;
END $$;
CREATE TRIGGER "key_changes_update" AFTER UPDATE ON "api_keys" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_changed_keys"();

CREATE FUNCTION "note_lost_keys"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO key_changes (key_id, subject_id, changed_at)
    SELECT id, coalesce(workspace_id, organisation_id), clock_timestamp() FROM old_rows
    ON CONFLICT (key_id) DO UPDATE SET changed_at = excluded.changed_at;
  RETURN NULL;
END $$;
CREATE TRIGGER "key_changes_delete" AFTER DELETE ON "api_keys" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_lost_keys"();

CREATE FUNCTION "note_keys_of_secrets"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_key_changes(array_agg(api_key_id)) FROM old_rows;
  RETURN NULL;
END $$;
CREATE TRIGGER "key_changes_update" AFTER UPDATE ON "api_key_secrets" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_keys_of_secrets"();
CREATE TRIGGER "key_changes_delete" AFTER DELETE ON "api_key_secrets" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_keys_of_secrets"();

-- A person's keys do what the person may do.
CREATE FUNCTION "note_keys_of_people"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  PERFORM note_key_changes(array_agg(k.id))
    FROM new_rows n JOIN old_rows o ON o.id = n.id JOIN api_keys k ON k.user_id = n.id WHERE n.role <> o.role;
  RETURN NULL;
END $$;
CREATE TRIGGER "key_changes_update" AFTER UPDATE ON "users" REFERENCING NEW TABLE AS new_rows OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_keys_of_people"();

CREATE FUNCTION "note_keys_of_members"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM note_key_changes(array_agg(k.id)) FROM new_rows m JOIN api_keys k ON k.user_id = m.user_id AND k.workspace_id = m.workspace_id;
  ELSE
    PERFORM note_key_changes(array_agg(k.id)) FROM old_rows m JOIN api_keys k ON k.user_id = m.user_id AND k.workspace_id = m.workspace_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER "key_changes_insert" AFTER INSERT ON "workspace_members" REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_keys_of_members"();
CREATE TRIGGER "key_changes_update" AFTER UPDATE ON "workspace_members" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_keys_of_members"();
CREATE TRIGGER "key_changes_delete" AFTER DELETE ON "workspace_members" REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION "note_keys_of_members"();
