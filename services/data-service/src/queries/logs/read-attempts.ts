import type { usage } from '@sluice/proto-stubs';
import type { Parameters } from '../parameters.ts';
import type { Reader } from '../questions.ts';
import { recordOfRow, rowSettings, type StoredRow } from './record-of-row.ts';

export const attemptsMax = 1000;

interface Attempts {
  readonly attempts: usage.UsageRecord[];
  /** There are more. */
  readonly isCutOff: boolean;
}

/** The attempts that the conditions admit, in the order in which they began. */
export function readAttempts(
  client: Reader,
  conditions: readonly string[],
  parameters: Parameters,
): Promise<Attempts> {
  const where = conditions.join(' AND ');
  // Where they are is found without FINAL, by indexes that it would not look at.
  const found = `created_at IN (SELECT created_at FROM usage_records WHERE ${where})`;
  return readAttemptsAt(client, [where, found], parameters);
}

/** The same, where the conditions name the time of the attempts. */
export async function readAttemptsAt(
  client: Reader,
  conditions: readonly string[],
  parameters: Parameters,
): Promise<Attempts> {
  const result = await client.query({
    query: `SELECT * FROM usage_records FINAL
      WHERE ${conditions.join(' AND ')}
      ORDER BY UUIDv7ToDateTime(id, 'UTC'), replica_id, sequence
      LIMIT ${attemptsMax + 1}
      ${rowSettings}`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const rows = await result.json<StoredRow>();
  return {
    attempts: rows.slice(0, attemptsMax).map(recordOfRow),
    isCutOff: rows.length > attemptsMax,
  };
}
