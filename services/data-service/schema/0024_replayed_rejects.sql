-- When a reject was read again and became a row: its bytes are let go of then. The latest row of a digest stands.
ALTER TABLE usage_rejects ADD COLUMN IF NOT EXISTS replayed_at DateTime64(3, 'UTC') AFTER received_at
