import { create } from '@bufbuild/protobuf';
import type { ClickHouseClient } from '@clickhouse/client';
import { usage } from '@sluice/proto-stubs';
import { Parameters } from '../parameters.ts';
import { isId } from './id-time.ts';

/** What hooks of a request came to after its records, in the order in which they ended. Whether the request may be seen is decided by its attempts. */
export async function listLateHooks(
  client: ClickHouseClient,
  { organisationId, requestId }: { organisationId: string; requestId: string },
): Promise<usage.LateHook[]> {
  const parameters = new Parameters();
  const result = await client.query({
    query: `SELECT option_path, verdict_json, toUnixTimestamp64Milli(created_at) AS created_at_ms
      FROM late_hooks FINAL
      WHERE organisation_id = ${parameters.bind('String', organisationId)}
        AND ${isId('request_id', requestId, parameters)}
      ORDER BY created_at, id
      LIMIT 1000`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const rows = await result.json<Row>();
  return rows.map(({ option_path, verdict_json, created_at_ms }) =>
    create(usage.LateHookSchema, {
      organisationId,
      optionPath: option_path,
      verdictJson: verdict_json,
      createdAtMs: BigInt(created_at_ms),
    }),
  );
}

interface Row {
  option_path: string;
  verdict_json: string;
  created_at_ms: string;
}
