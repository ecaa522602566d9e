/**
 * What every statement comes with, whatever the user's profile says. An insert must be stored when it is answered; a batch
 * with records of many months is odd but not an error; and names of counters, traces and organisations stand in texts.
 */
export const statementSettings = {
  async_insert: 0,
  max_partitions_per_insert_block: '0',
  max_query_size: '16777216',
} as const;
