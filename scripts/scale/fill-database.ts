import { Client } from 'pg';

export interface Filling {
  readonly organisationId: string;
  readonly workspaces: number;
  readonly keys: number;
}

/** What each workspace of a filled database has. */
const configsEach = 1;

/**
 * Writes workspaces, each with a config and its share of the keys, into Postgres
 * directly: the admin API would take a day. Returns the ids of the workspaces in their order.
 */
export async function fillDatabase(databaseUrl: string, filling: Filling): Promise<string[]> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { organisationId, workspaces, keys } = filling;
    const made = await client.query<{ id: string }>(
      `INSERT INTO workspaces (id, organisation_id, slug, name)
       SELECT gen_random_uuid(), $1::uuid, 'scale-' || n, 'Scale ' || n FROM generate_series(1, $2::int) AS n
       RETURNING id::text`,
      [organisationId, workspaces],
    );
    const ids = made.rows.map((row) => row.id);
    await client.query(
      `WITH made AS (
         INSERT INTO configs (id, organisation_id, workspace_id, slug, name, version, owner_id, updated_by)
         SELECT gen_random_uuid(), $1::uuid, w.id, 'pc-scale-' || n, 'n', 1, gen_random_uuid(), gen_random_uuid()
         FROM unnest($2::uuid[]) AS w (id), generate_series(1, $3::int) AS n RETURNING id
       )
       INSERT INTO config_versions (id, config_id, version, name, status, body, created_by)
       SELECT gen_random_uuid(), id, 1, 'n', 'active', '{"provider":"@demo"}', gen_random_uuid() FROM made`,
      [organisationId, ids, configsEach],
    );
    // 100 workspaces at a time, so that no statement is a whole night's.
    for (let at = 0; at < ids.length; at += 100)
      await client.query(
        `WITH made AS (
           INSERT INTO api_keys (id, organisation_id, workspace_id, type, name, slug, scopes, rate_limits, metadata)
           SELECT gen_random_uuid(), $1::uuid, w.id, 'workspace-service', 'Scale ' || n, 'scale-' || n,
             ARRAY['completions.write', 'logs.view'], '[{"type": "requests", "unit": "rpm", "value": 100}]', '{"team": "scale"}'
           FROM unnest($2::uuid[]) AS w (id), generate_series(1, $3::int) AS n RETURNING id
         )
         INSERT INTO api_key_secrets (id, api_key_id, hash, masked)
         SELECT gen_random_uuid(), id, sha256(uuid_send(id)), 'sl*******xx' FROM made`,
        [organisationId, ids.slice(at, at + 100), Math.ceil(keys / workspaces)],
      );
    await client.query('VACUUM ANALYZE');
    return ids;
  } finally {
    await client.end();
  }
}

/** Of a workspace, as a gateway would know it that has just asked. */
export interface FilledWorkspace {
  readonly id: string;
  readonly revision: bigint;
  readonly stamp: string;
  readonly keys: readonly FilledKey[];
}

export interface FilledKey {
  readonly id: string;
  readonly hashHex: string;
  readonly name: string;
}

/** These workspaces with so many keys of each, and the mark that the keys are fresh of. */
export async function readFilled(
  databaseUrl: string,
  ids: readonly string[],
  keysEach: number,
): Promise<{ workspaces: FilledWorkspace[]; mark: string }> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const states = await client.query<{ id: string; revision: string; stamp: string }>(
      `SELECT w.id::text, w.revision::text, r.stamp::text FROM workspaces w
       JOIN bundle_revisions r ON r.workspace_id = w.id AND r.revision = w.revision WHERE w.id = ANY($1::uuid[])`,
      [ids],
    );
    const keys = await client.query<FilledKey & { workspaceId: string }>(
      `SELECT k.id::text, k.name, k.workspace_id::text AS "workspaceId", encode(s.hash, 'hex') AS "hashHex"
       FROM api_keys k JOIN api_key_secrets s ON s.api_key_id = k.id
       WHERE k.workspace_id = ANY($1::uuid[]) AND k.slug = ANY($2::text[])`,
      [ids, Array.from({ length: keysEach }, (_, index) => `scale-${index + 1}`)],
    );
    const marks = await client.query<{ id: string }>(
      'SELECT id::text FROM key_marks ORDER BY since DESC LIMIT 1',
    );
    const byWorkspace = Map.groupBy(keys.rows, (key) => key.workspaceId);
    return {
      workspaces: states.rows.map(({ id, revision, stamp }) => ({
        id,
        revision: BigInt(revision),
        stamp,
        keys: byWorkspace.get(id) ?? [],
      })),
      mark: marks.rows[0]?.id ?? '',
    };
  } finally {
    await client.end();
  }
}

/** What changed while nobody was there to tell it. */
export interface MissedChanges {
  /** Id of a workspace to the revision that it has now. */
  readonly revisions: Record<string, string>;
  /** The same to the one of its keys that changed. */
  readonly keys: Record<string, { id: string; name: string }>;
}

/** As another replica would have committed them. One of the first keys of each of these workspaces changes, too. */
export async function changeMeanwhile(
  databaseUrl: string,
  workspaceIds: readonly string[],
): Promise<MissedChanges> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query('UPDATE configs SET name = $2 WHERE workspace_id = ANY($1::uuid[])', [
      workspaceIds,
      'changed meanwhile',
    ]);
    const raised = await client.query<{ id: string; revision: string }>(
      'UPDATE workspaces SET revision = revision + 1 WHERE id = ANY($1::uuid[]) RETURNING id::text, revision::text',
      [workspaceIds],
    );
    const renamed = await client.query<{ id: string; name: string; workspaceId: string }>(
      `UPDATE api_keys SET name = 'Renamed meanwhile' WHERE workspace_id = ANY($1::uuid[]) AND slug = 'scale-1'
       RETURNING id::text, name, workspace_id::text AS "workspaceId"`,
      [workspaceIds],
    );
    return {
      revisions: Object.fromEntries(raised.rows.map(({ id, revision }) => [id, revision])),
      keys: Object.fromEntries(renamed.rows.map(({ workspaceId, ...key }) => [workspaceId, key])),
    };
  } finally {
    await client.end();
  }
}
