CREATE MATERIALIZED VIEW IF NOT EXISTS replica_numbers_of_records TO replica_numbers AS
SELECT
    replica_id,
    intDiv(sequence, 65536) AS block,
    groupBitmapState(toUInt16(sequence % 65536)) AS numbers,
    max(stored_at) AS stored_at
FROM usage_records
WHERE replica_id != '' AND sequence > 0
GROUP BY replica_id, block
