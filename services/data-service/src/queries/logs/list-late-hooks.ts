import { create } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { uuidText } from '@sluice/usage';
import { Parameters } from '../parameters.ts';
import type { Reader } from '../questions.ts';
import { isAnyId } from './id-time.ts';

/** What hooks of the requests of these attempts came to after their records, in the order in which they ended. */
export async function listLateHooks(
  client: Reader,
  organisationId: string,
  attempts: readonly usage.UsageRecord[],
): Promise<usage.LateHook[]> {
  if (attempts.length === 0) return [];
  const ids = [...new Set(attempts.map(({ requestId }) => uuidText(requestId)))];
  const parameters = new Parameters();
  const result = await client.query({
    query: `SELECT toString(request_id) AS request, option_path, verdict_json, toUnixTimestamp64Milli(created_at) AS created_at_ms
      FROM late_hooks FINAL
      WHERE organisation_id = ${parameters.bind('String', organisationId)}
        AND ${isAnyId('request_id', ids, parameters)}
      ORDER BY created_at, id
      LIMIT 1000`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const rows = await result.json<Row>();
  return rows.map(({ request, option_path, verdict_json, created_at_ms }) =>
    create(usage.LateHookSchema, {
      organisationId,
      requestId: Buffer.from(request.replaceAll('-', ''), 'hex'),
      optionPath: option_path,
      verdictJson: verdict_json,
      createdAtMs: BigInt(created_at_ms),
    }),
  );
}

interface Row {
  request: string;
  option_path: string;
  verdict_json: string;
  created_at_ms: string;
}
