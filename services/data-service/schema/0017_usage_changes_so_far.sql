-- Of records that were stored before there were marks.
INSERT INTO usage_changes
SELECT organisation_id, toUInt32(intDiv(toUnixTimestamp64Milli(created_at), 60000)) AS minute, max(now64(3, 'UTC')) AS changed_at
FROM usage_records
GROUP BY organisation_id, minute
