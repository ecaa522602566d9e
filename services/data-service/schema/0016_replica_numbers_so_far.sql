-- Of records that were stored before there were bitmaps. Done twice it adds nothing.
INSERT INTO replica_numbers
SELECT
    replica_id,
    intDiv(sequence, 65536) AS block,
    groupBitmapState(toUInt16(sequence % 65536)) AS numbers,
    max(usage_records.stored_at) AS stored_at
FROM usage_records
WHERE replica_id != '' AND sequence > 0
GROUP BY replica_id, block
