-- Feedback goes on to the ledger. What was given before counts as not sent yet, and is sent as well; so is what a
-- replica of the release before writes.
ALTER TABLE "feedback" ADD COLUMN "is_sent" BOOLEAN NOT NULL DEFAULT false;
CREATE INDEX "feedback_unsent_idx" ON "feedback" ("updated_at") WHERE NOT "is_sent";

-- A change by whomever has to be sent again.
CREATE FUNCTION "unsend_changed_feedback"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.value, NEW.weight, NEW.metadata, NEW.updated_at) IS DISTINCT FROM (OLD.value, OLD.weight, OLD.metadata, OLD.updated_at) THEN
    NEW.is_sent := false;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "feedback_changed" BEFORE UPDATE ON "feedback" FOR EACH ROW EXECUTE FUNCTION "unsend_changed_feedback"();
