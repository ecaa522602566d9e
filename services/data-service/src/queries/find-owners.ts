import { create } from '@bufbuild/protobuf';
import { usage } from '@sluice/proto-stubs';
import { Parameters } from './parameters.ts';
import type { Reader } from './questions.ts';

const askedMax = 500;
/** Of one id: more than one is chance, or somebody's making. */
const ownersMax = 8;

/** Whose these objects are, those of one by their time. An id that several origins gave out has an owner at each. */
export async function findOwners(
  client: Reader,
  objects: readonly usage.ObjectKey[],
): Promise<usage.StoredObject[]> {
  const asked = objects.slice(0, askedMax);
  if (asked.length === 0) return [];
  const parameters = new Parameters();
  const keys = asked.map(
    ({ organisationId, objectKey }) =>
      `(${parameters.bind('String', organisationId)}, ${parameters.bind('String', objectKey)})`,
  );
  const result = await client.query({
    query: `SELECT organisation_id, object_key, origin, workspace_id,
        argMax(kind, noted_at) AS kind_, argMax(provider, noted_at) AS provider_, argMax(account, noted_at) AS account_,
        argMax(model, noted_at) AS model_, argMax(tier, noted_at) AS tier_,
        toUnixTimestamp64Milli(min(noted_at)) AS noted_at_ms
      FROM stored_objects
      WHERE (organisation_id, object_key) IN (${keys.join(', ')})
      GROUP BY organisation_id, object_key, origin, workspace_id
      ORDER BY noted_at_ms, workspace_id
      LIMIT ${ownersMax} BY organisation_id, object_key
      SETTINGS max_memory_usage = 500000000`,
    query_params: parameters.values,
    format: 'JSONEachRow',
  });
  const rows = await result.json<Row>();
  return rows.map((row) =>
    create(usage.StoredObjectSchema, {
      organisationId: row.organisation_id,
      objectKey: row.object_key,
      origin: row.origin,
      workspaceId: row.workspace_id,
      kind: row.kind_,
      provider: row.provider_,
      account: row.account_,
      model: row.model_,
      tier: row.tier_,
      notedAtMs: BigInt(row.noted_at_ms),
    }),
  );
}

interface Row {
  organisation_id: string;
  object_key: string;
  origin: string;
  workspace_id: string;
  kind_: string;
  provider_: string;
  account_: string;
  model_: string;
  tier_: string;
  noted_at_ms: string;
}
