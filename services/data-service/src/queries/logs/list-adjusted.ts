import { create } from '@bufbuild/protobuf';
import { analytics, type usage } from '@sluice/proto-stubs';
import { uuidText } from '@sluice/usage';
import { Parameters } from '../parameters.ts';
import type { Reader } from '../questions.ts';

/** What was added later to the costs of attempts of an organisation, of those that anything was added to. */
export async function listAdjusted(
  client: Reader,
  organisationId: string,
  attempts: readonly usage.UsageRecord[],
): Promise<analytics.AdjustedCost[]> {
  if (attempts.length === 0) return [];
  const parameters = new Parameters();
  const times = new Set(
    attempts.map(({ createdAtMs }) => `fromUnixTimestamp64Milli(${createdAtMs}, 'UTC')`),
  );
  const result = await client.query({
    query: `SELECT record_id, toString(sum(cost_nano_usd)) AS cost, max(makes_known) AS is_known
      FROM usage_adjustments FINAL
      WHERE organisation_id = ${parameters.bind('String', organisationId)}
        AND workspace_id IN ${parameters.bindTexts([...new Set(attempts.map(({ workspaceId }) => workspaceId))])}
        AND attempt_created_at IN (${[...times].join(',')})
        AND record_id IN ${parameters.bindTexts(attempts.map(({ id }) => uuidText(id)))}
      GROUP BY record_id`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ record_id: string; cost: string; is_known: boolean }>();
  return rows.map(({ record_id, cost, is_known }) =>
    create(analytics.AdjustedCostSchema, {
      recordId: Buffer.from(record_id.replaceAll('-', ''), 'hex'),
      costNanoUsd: BigInt(cost),
      makesKnown: Boolean(is_known),
    }),
  );
}
