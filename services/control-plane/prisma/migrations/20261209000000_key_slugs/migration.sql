-- Chosen slugs of keys are looked for when another is chosen, and by policies.
CREATE INDEX "api_keys_organisation_id_slug_idx" ON "api_keys"("organisation_id", "slug");
