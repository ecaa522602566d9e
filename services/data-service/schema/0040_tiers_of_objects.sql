-- The service tier that was asked for, where what tells of the object's end does not say: hours within which OpenAI may make a response.
ALTER TABLE stored_objects ADD COLUMN IF NOT EXISTS tier LowCardinality(String) AFTER model
