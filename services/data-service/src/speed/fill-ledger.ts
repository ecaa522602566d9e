import type { ClickHouseClient } from '@clickhouse/client';

/** The organisation whose records they are. */
export const filledOrganisation = 'org-speed';
export const filledDays = 30;

/** Rows an insert. */
const batch = 1_000_000;

/**
 * Attempts of the thirty days up to `endMs`, evenly spread, made inside the engine: twelve models of three providers,
 * 200 keys, 10,000 users, one in a hundred retried, four in a hundred failed, three in a hundred from the cache, and
 * feedback for one trace in a hundred.
 */
export async function fillLedger(
  client: ClickHouseClient,
  { rows, endMs }: { rows: number; endMs: number },
): Promise<void> {
  const stepMs = (filledDays * 86_400_000) / rows;
  for (let first = 0; first < rows; first += batch) {
    const count = Math.min(batch, rows - first);
    await client.command({
      query: `
        INSERT INTO usage_records (
          id, request_id, trace_id, replica_id, sequence, created_at, organisation_id, workspace_id, api_key_id,
          method, request_url, endpoint, provider, provider_slug, model, config_id, config_slug, retry_count,
          cache_status, cache_type, outcome, status_code, input_tokens, output_tokens, usage_reported,
          cost_nano_usd, cost_known, avoided_cost_nano_usd, latency_ms, attempt_ms, entry_ms, metadata, entry_id)
        WITH
          {first:UInt64} + number AS n,
          toInt64({end_ms:Int64} - ({rows:UInt64} - n) * {step_ms:Float64}) AS at,
          cityHash64(n) AS hash,
          cityHash64(n, 1) AS other,
          hash % 12 AS model_number,
          hash % 100 < 4 AS is_failed,
          hash % 100 > 96 AS is_hit,
          exp(4 + 4 * (other % 10000) / 10000) AS took,
          -- A UUIDv7.
          (seconds -> UUIDNumToString(toFixedString(concat(
            substring(reverse(reinterpretAsFixedString(toUInt64(at))), 3, 6),
            unhex('70'), reinterpretAsFixedString(toUInt8(seconds)), reinterpretAsFixedString(hash)), 16))) AS id_of
        SELECT
          toUUID(id_of(0)), toUUID(id_of(1)), lower(hex(other)), 'replica-1', n, fromUnixTimestamp64Milli(at, 'UTC'),
          '${filledOrganisation}', concat('ws-', toString(hash % 3)), concat('key-', toString(other % 200)),
          'POST', '/v1/chat/completions', 'chatComplete',
          ['openai', 'anthropic', 'google'][model_number % 3 + 1], concat('saved-', toString(model_number % 5)),
          concat('model-', toString(model_number)), '', concat('pc-', toString(hash % 20)), 0,
          if(is_hit, 'HIT', 'MISS'), if(is_hit, 'simple', ''),
          if(is_failed, 'upstream_error', 'success'), if(is_failed, 500 + hash % 4, 200),
          if(is_hit OR is_failed, 0, 200 + other % 4000), if(is_hit OR is_failed, 0, hash % 1000), NOT is_failed,
          if(is_hit OR is_failed, 0, other % 50000000), true, if(is_hit, other % 50000000, 0), took, took, took,
          map('_user', concat('user-', toString(hash % 10000)), 'team', concat('team-', toString(other % 40))),
          toUUID('00000000-0000-0000-0000-000000000000')
        FROM numbers({count:UInt64})`,
      query_params: { first, count, rows, end_ms: endMs, step_ms: stepMs },
    });
  }
  // The second attempts.
  await client.command({
    query: `
      INSERT INTO usage_records
      SELECT * REPLACE (generateUUIDv7(created_at) AS id, id AS entry_id, 1 AS retry_count, 200 AS status_code, 'success' AS outcome)
      FROM usage_records WHERE organisation_id = '${filledOrganisation}' AND status_code >= 500 AND sequence % 4 = 0`,
  });
  await client.command({
    query: `
      INSERT INTO feedbacks (id, organisation_id, workspace_id, trace_id, value, weight, created_at, changed_at)
      SELECT generateUUIDv7(), organisation_id, workspace_id, trace_id, toInt32(sequence % 21) - 10, 0.5, created_at, created_at
      FROM usage_records WHERE organisation_id = '${filledOrganisation}' AND sequence % 100 = 0`,
  });
}
