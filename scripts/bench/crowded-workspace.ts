import { Client } from 'pg';
import { adminCaller } from './admin-call.ts';

/** How many keys the workspace has. */
export const keyCount = 100_000;

export interface CrowdedWorkspace {
  /** Reads one page of its keys. @throws Error when it is not what it should be */
  readPage(page: number, size: number): Promise<void>;
}

/**
 * A workspace with 100,000 keys. They are written into Postgres directly, as
 * the admin API would take an hour; each has a secret that nobody knows.
 */
export async function openCrowdedWorkspace(options: {
  baseUrl: string;
  adminKey: string;
  databaseUrl: string;
}): Promise<CrowdedWorkspace> {
  const call = adminCaller(options);
  const workspace = await call<{ id: string }>('POST', '/admin/workspaces', {
    name: 'Crowded bench',
  });
  await insertKeys(options.databaseUrl, workspace.id);
  return {
    async readPage(page, size) {
      const query = `workspace_id=${workspace.id}&page_size=${size}&current_page=${page}`;
      const { total, data } = await call<{ total: number; data: object[] }>(
        'GET',
        `/api-keys?${query}`,
      );
      if (total !== keyCount || data.length !== size)
        throw new Error(`page ${page} has ${data.length} of ${total} keys`);
    },
  };
}

async function insertKeys(databaseUrl: string, workspaceSlug: string): Promise<void> {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    await client.query(
      `WITH made AS (
         INSERT INTO api_keys (id, organisation_id, workspace_id, type, name, slug, scopes, rate_limits, metadata, created_at)
         SELECT gen_random_uuid(), w.organisation_id, w.id, 'workspace-service', 'Bench ' || n, 'bench-' || n,
           ARRAY['completions.write', 'logs.view'], '[{"type": "requests", "unit": "rpm", "value": 100}]',
           '{"team": "bench"}', now() - (n / 3) * INTERVAL '1 second'
         FROM workspaces w, generate_series(0, $2::int - 1) AS n WHERE w.slug = $1
         RETURNING id
       )
       INSERT INTO api_key_secrets (id, api_key_id, hash, masked)
       SELECT gen_random_uuid(), id, sha256(uuid_send(id)), 'sl*******xx' FROM made`,
      [workspaceSlug, keyCount],
    );
    // In earnest this happens by itself, within a minute.
    await client.query('VACUUM ANALYZE api_keys, api_key_secrets');
  } finally {
    await client.end();
  }
}
