import { Client } from 'pg';
import { expect, it } from 'vitest';
import { testDatabase } from './index.ts';

it('gives each caller an empty database of its own on the shared server', async () => {
  const [first, second] = await Promise.all([testDatabase(), testDatabase()]);
  expect(first).not.toBe(second);
  const client = new Client({ connectionString: first });
  await client.connect();
  const tables = await client.query("SELECT 1 FROM pg_tables WHERE schemaname = 'public'");
  const version = await client.query<{ server_version: string }>('SHOW server_version');
  await client.end();
  expect(tables.rowCount).toBe(0);
  expect(version.rows[0]?.server_version).toMatch(/^18\./);
});
