import type { Parameters } from '../queries/parameters.ts';
import type { Reader } from '../queries/questions.ts';

/** Of a reject that is no row yet. */
export const isWaiting = 'replayed_at = 0';

/** 64-bit numbers as text. */
export interface StoredReject {
  digest: string;
  reason: string;
  record_base64: string;
  received_at_ms: string;
  size: string;
}

/** Rejects, with what is asked for of their bytes. */
export async function selectRejects(
  client: Reader,
  asked: { columns: string; where: string; order: string; limit: string; parameters: Parameters },
): Promise<StoredReject[]> {
  const result = await client.query({
    query: `SELECT ${asked.columns}, digest, reason, toString(toUnixTimestamp64Milli(received_at)) AS received_at_ms,
        toString(intDiv(length(usage_rejects.record_base64) * 3, 4) - countSubstrings(usage_rejects.record_base64, '=')) AS size
      FROM usage_rejects FINAL
      WHERE ${asked.where}
      ORDER BY ${asked.order}
      LIMIT ${asked.limit}
      SETTINGS prefer_column_name_to_alias = 1`,
    query_params: asked.parameters.values,
    format: 'JSONEachRow',
  });
  return result.json<StoredReject>();
}
