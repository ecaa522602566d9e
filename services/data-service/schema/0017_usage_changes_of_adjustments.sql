CREATE MATERIALIZED VIEW IF NOT EXISTS usage_changes_of_adjustments TO usage_changes AS
SELECT
    organisation_id,
    toUInt32(intDiv(toUnixTimestamp64Milli(attempt_created_at), 60000)) AS minute,
    max(now64(3, 'UTC')) AS changed_at
FROM usage_adjustments
GROUP BY organisation_id, minute
