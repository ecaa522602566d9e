import type { Reader } from './questions.ts';

/** In one question; a longer one is cut off by who asks. */
const countersMax = 10_000;

/** What the records of an organisation, from a time on, say that counters came to. */
export async function sumCounters(
  client: Reader,
  asked: { organisationId: string; counters: readonly string[]; fromMs: bigint },
): Promise<Record<string, bigint>> {
  const counters = asked.counters.slice(0, countersMax);
  if (counters.length === 0) return {};
  // In the text: parameters stand in the address, which would be too long.
  const names = counters.map(quoted).join(',');
  const result = await client.query({
    query: `
      SELECT counter, toString(sum(amount)) AS total
      FROM usage_records FINAL
      ARRAY JOIN mapKeys(counters_settled) AS counter, mapValues(counters_settled) AS amount
      WHERE organisation_id = {organisation_id:String}
        AND created_at >= fromUnixTimestamp64Milli({from_ms:Int64}, 'UTC')
        AND counter IN (${names})
      GROUP BY counter`,
    query_params: { organisation_id: asked.organisationId, from_ms: asked.fromMs.toString() },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ counter: string; total: string }>();
  return Object.fromEntries(rows.map(({ counter, total }) => [counter, BigInt(total)]));
}

/** As a text in a query; names hold what callers sent. */
function quoted(name: string): string {
  return `'${name.replace(/[\\']/g, '\\$&').replaceAll('\0', '')}'`;
}
