-- A first attempt has no id of its entry, which is its own: zeros take no room, and the few others are found fast.
ALTER TABLE usage_records MODIFY COLUMN entry_id UUID DEFAULT toUUID('00000000-0000-0000-0000-000000000000')
