import { createHash } from 'node:crypto';
import { Client } from 'pg';

/** Tables that a refused request may write: its own entry in the audit log. */
const written = new Set(['audit_entries', '_prisma_migrations']);

/**
 * A fingerprint of every row in the database, to see that a refused request
 * changed nothing: where each row lies and what wrote it, since reading all of
 * thousands of rows eight hundred times took longer than the requests.
 */
export async function openWorld(databaseUrl: string) {
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  const tables = await client.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1`,
  );
  const names = tables.rows.map((row) => row.name).filter((name) => !written.has(name));
  // The head of the audit chain moves with each refusal; the rest of an organisation must not.
  const rows = names.map((name) =>
    name === 'organisations'
      ? `SELECT 'organisations' AS t, (to_jsonb(r) - 'audit_sequence' - 'audit_hash')::text AS row FROM organisations r`
      : `SELECT '${name}' AS t, count(*) || ' ' || coalesce(sum(hashtextextended(r.ctid::text || r.xmin::text, 0)), 0) AS row FROM "${name}" r`,
  );
  // Named: to plan the question of sixty tables anew takes longer than to answer it.
  const query = `SELECT t, md5(string_agg(row, E'\\n' ORDER BY row)) AS sum FROM (${rows.join(' UNION ALL ')}) AS world GROUP BY t ORDER BY t`;
  return {
    async fingerprint(): Promise<string> {
      const sums = await client.query<{ t: string; sum: string }>({
        name: 'fingerprint',
        text: query,
      });
      const text = sums.rows.map((row) => `${row.t} ${row.sum}`).join('\n');
      return createHash('sha256').update(text).digest('hex');
    },
    /** Takes back what a call of the settings made of them; rows that have none stay as they lie. */
    async resetSettings(): Promise<void> {
      for (const table of ['organisations', 'workspaces'])
        await client.query(`UPDATE ${table} SET settings = '{}' WHERE settings <> '{}'`);
    },
    close: () => client.end(),
  };
}
