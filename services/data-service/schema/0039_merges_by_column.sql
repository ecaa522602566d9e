-- A merge of parts with a file for each column goes column by column, whatever their size: of all columns at once the buffers of a
-- hundred columns of six parts are held, some 400 MB for a few thousand rows.
ALTER TABLE usage_records MODIFY SETTING vertical_merge_algorithm_min_rows_to_activate = 1
