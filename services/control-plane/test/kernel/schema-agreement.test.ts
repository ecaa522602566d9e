import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { testDatabase } from '@sluice/testkit';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { applyMigrations } from '../../src/kernel/migrations/apply.ts';
import { byName, parseSchema, type SchemaTable } from '../support/parsed-schema.ts';

let client: Client;
beforeAll(async () => {
  const url = await testDatabase();
  await applyMigrations(url);
  client = new Client({ connectionString: url });
  await client.connect();
});
afterAll(() => client.end());

it('the Prisma schema and the migrated database describe the same tables', async () => {
  const folder = join(import.meta.dirname, '../../prisma/schema');
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  const expected = parseSchema(files.join('\n'));
  expect(expected.length).toBeGreaterThan(12);
  const named = (tables: SchemaTable[]) =>
    Object.fromEntries(tables.map((table) => [table.name, table]));
  expect(named(await readTables())).toEqual(named(expected));
});

async function readTables(): Promise<SchemaTable[]> {
  const names = await client.query<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables
     WHERE table_schema = 'public' AND table_name NOT LIKE '\\_%' ORDER BY 1`,
  );
  const tables: SchemaTable[] = [];
  for (const { name } of names.rows) tables.push(await readTable(name));
  return tables;
}

async function readTable(name: string): Promise<SchemaTable> {
  const columns = await client.query<SchemaTable['columns'][number]>(
    `SELECT attname AS name, format_type(atttypid, atttypmod) AS type, NOT attnotnull AS nullable, atthasdef AS "hasDefault"
     FROM pg_attribute WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped`,
    [name],
  );
  const indexes = await client.query<{ text: string }>(
    `SELECT CASE WHEN indisprimary THEN 'primary ' WHEN indisunique THEN 'unique ' ELSE 'index ' END ||
       (SELECT string_agg(attname, ',' ORDER BY place) FROM unnest(indkey) WITH ORDINALITY AS keys(number, place)
        JOIN pg_attribute ON attrelid = indrelid AND attnum = number) AS text
     FROM pg_index WHERE indrelid = $1::regclass`,
    [name],
  );
  const foreignKeys = await client.query<{ text: string }>(
    `SELECT (SELECT string_agg(attname, ',' ORDER BY place) FROM unnest(conkey) WITH ORDINALITY AS keys(number, place)
        JOIN pg_attribute ON attrelid = conrelid AND attnum = number) || ' -> ' || confrelid::regclass::text || ' on delete ' ||
        CASE confdeltype WHEN 'c' THEN 'cascade' WHEN 'r' THEN 'restrict' WHEN 'n' THEN 'set null' ELSE confdeltype::text END AS text
     FROM pg_constraint WHERE contype = 'f' AND conrelid = $1::regclass`,
    [name],
  );
  return {
    name,
    columns: byName(columns.rows),
    indexes: indexes.rows.map((row) => row.text).sort(),
    foreignKeys: foreignKeys.rows.map((row) => row.text).sort(),
  };
}
