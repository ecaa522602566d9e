-- Which tool, prompt, skill or resource an entry called: empty of requests for models, and of what was settled before.
ALTER TABLE settled_entries ADD COLUMN IF NOT EXISTS capability_name LowCardinality(String) AFTER prompt_slug
