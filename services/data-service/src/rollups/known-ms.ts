import type { ClickHouseClient } from '@clickhouse/client';

/** Up to when all changes are known, by the clock that marks them. */
export async function knownMs(client: ClickHouseClient, slackMs: number): Promise<number> {
  const result = await client.query({
    query: 'SELECT toUnixTimestamp64Milli(now64(3)) AS ms',
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ ms: string | number }>();
  return Number(row?.ms ?? 0) - slackMs;
}
