-- What a roll tells of entries, as a number that grows with each column: of rolls of releases before there were tools it is 0.
ALTER TABLE usage_rolls ADD COLUMN IF NOT EXISTS form SimpleAggregateFunction(max, UInt8) AFTER is_whole
