import type { MessageInitShape } from '@bufbuild/protobuf';
import { GatewayError } from '@sluice/errors';
import type { analytics } from '@sluice/proto-stubs';
import { tenancyOf } from './logs/allowed-rows.ts';
import { Parameters } from './parameters.ts';
import type { Reader } from './questions.ts';

const day = /^\d{4}-\d{2}-\d{2}$/;

/** What attempts at a provider came to, a model and day; the model is the one that answered. Costs are those of now, with adjustments. */
export async function listModelDays(
  client: Reader,
  { organisationId, provider, from, to }: analytics.ListModelDaysRequest,
): Promise<MessageInitShape<typeof analytics.ListModelDaysResponseSchema>> {
  if (!day.test(from) || !day.test(to))
    throw new GatewayError('admin.validation', { field: 'from', message: 'A day is 2026-03-10.' });
  const parameters = new Parameters();
  const tenancy = tenancyOf({ organisationId, workspaceIds: [] }, parameters).join(' AND ');
  const time = (column: string) => `${column} >= toDateTime64('${from} 00:00:00', 3, 'UTC')
    AND ${column} < toDateTime64('${to} 00:00:00', 3, 'UTC') + INTERVAL 1 DAY`;
  const result = await client.query({
    query: `
      SELECT toString(toDate(created_at)) AS on_day, if(response_model = '', model, response_model) AS of_model,
        toString(countIf(usage_reported)) AS requests_text,
        toString(sum(input_tokens)) AS input_text,
        toString(sum(output_tokens)) AS output_text,
        toString(sum(cost_nano_usd + adjusted_nano_usd)) AS cost_text
      FROM usage_records FINAL LEFT JOIN (
        SELECT record_id, sum(cost_nano_usd) AS adjusted_nano_usd
        FROM usage_adjustments FINAL
        WHERE ${tenancy} AND ${time('attempt_created_at')}
        GROUP BY record_id
      ) AS adjustment ON id = adjustment.record_id
      WHERE ${tenancy} AND ${time('created_at')} AND provider = ${parameters.bind('String', provider)}
        AND outcome != 'lost' AND cache_status NOT IN ('HIT', 'SEMANTIC HIT') AND source NOT IN ('custom', 'otel')
      GROUP BY on_day, of_model
      HAVING sum(input_tokens) + sum(output_tokens) > 0 OR sum(cost_nano_usd + adjusted_nano_usd) != 0
      ORDER BY on_day, of_model
      SETTINGS prefer_column_name_to_alias = 1`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const rows =
    await result.json<
      Record<
        'on_day' | 'of_model' | 'requests_text' | 'input_text' | 'output_text' | 'cost_text',
        string
      >
    >();
  return {
    modelDays: rows.map((row) => ({
      day: row.on_day,
      model: row.of_model,
      requests: BigInt(row.requests_text),
      inputTokens: BigInt(row.input_text),
      outputTokens: BigInt(row.output_text),
      costNanoUsd: BigInt(row.cost_text),
    })),
  };
}
