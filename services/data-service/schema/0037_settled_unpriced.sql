-- Entries that used something without a price. Of what was settled before nothing is known of that, and false is told.
ALTER TABLE settled_entries ADD COLUMN IF NOT EXISTS lacks_price Bool AFTER cost_known
