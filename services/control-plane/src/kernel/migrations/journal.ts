import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { protocol, type StoreVersion } from '@sluice/rpc';
import type { Client } from 'pg';

export const migrationsFolder = join(import.meta.dirname, '../../../prisma/migrations');

/**
 * Up to here migrations stand in the table of Prisma's own tools. Releases of before the handshake refuse to start when they find
 * one there that they do not know; so the later ones stand in a table of ours, and such a release can be rolled back to.
 */
const lastOfPrisma = '20261129000000_cache_generations';
const isOfPrisma = ({ name }: { name: string }) => name <= lastOfPrisma;

export const journals = [
  `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`,
  `CREATE TABLE IF NOT EXISTS "_sluice_migrations" (
  name TEXT PRIMARY KEY,
  checksum TEXT NOT NULL,
  release TEXT NOT NULL,
  applied_at TIMESTAMPTZ NOT NULL DEFAULT now()
)`,
  // A release has a row also when it brought nothing: what comes two releases later must know.
  `CREATE TABLE IF NOT EXISTS "_sluice_releases" (
  protocol INTEGER PRIMARY KEY,
  release TEXT NOT NULL,
  migrated_at TIMESTAMPTZ NOT NULL DEFAULT now()
)`,
];

export interface Migration {
  readonly name: string;
  readonly sql: string;
  readonly checksum: string;
}

/** What a database has of what this release brings. */
export interface SchemaState {
  /** In the order in which they are to be applied. */
  readonly missing: readonly Migration[];
  /** Names of those that this release does not know. */
  readonly unknown: readonly string[];
  /** Of the newest release that migrated it; undefined = none that said so. */
  readonly version: StoreVersion | undefined;
}

/** Changes nothing. @throws Error when a migration that was applied has been edited since */
export async function readSchemaState(
  client: Client,
  folder: string = migrationsFolder,
): Promise<SchemaState> {
  const migrations = await readMigrations(folder);
  const applied = await appliedMigrations(client);
  for (const { name, checksum } of migrations)
    if (applied.has(name) && applied.get(name) !== checksum)
      throw new Error(`Migration ${name} was edited after it was applied.`);
  const names = new Set(migrations.map(({ name }) => name));
  return {
    missing: migrations.filter(({ name }) => !applied.has(name)),
    unknown: [...applied.keys()].filter((name) => !names.has(name)).sort(),
    version: await newestRelease(client),
  };
}

/** Notes in the transaction of a migration that it is done. */
export async function noteMigration(
  client: Client,
  migration: Migration,
  release: string,
): Promise<void> {
  const { name, checksum } = migration;
  if (isOfPrisma(migration))
    await client.query(
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES (gen_random_uuid()::text, $1, $2, now(), clock_timestamp(), 1)`,
      [checksum, name],
    );
  else
    await client.query(
      'INSERT INTO "_sluice_migrations" (name, checksum, release) VALUES ($1, $2, $3)',
      [name, checksum, release],
    );
}

/** Notes that this release has brought all that it brings. */
export async function noteRelease(client: Client, release: string): Promise<void> {
  await client.query(
    'INSERT INTO "_sluice_releases" (protocol, release) VALUES ($1, $2) ON CONFLICT DO NOTHING',
    [protocol, release],
  );
}

async function appliedMigrations(client: Client): Promise<Map<string, string>> {
  const applied = new Map<string, string>();
  const read = async (table: string, query: string) => {
    if (!(await hasTable(client, table))) return;
    const { rows } = await client.query<{ name: string; checksum: string }>(query);
    for (const { name, checksum } of rows) applied.set(name, checksum);
  };
  await read(
    '_prisma_migrations',
    `SELECT migration_name AS name, checksum FROM "_prisma_migrations"
     WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
  );
  await read('_sluice_migrations', 'SELECT name, checksum FROM "_sluice_migrations"');
  return applied;
}

async function newestRelease(client: Client): Promise<StoreVersion | undefined> {
  if (!(await hasTable(client, '_sluice_releases'))) return undefined;
  const { rows } = await client.query<StoreVersion>(
    'SELECT protocol, release FROM "_sluice_releases" ORDER BY protocol DESC LIMIT 1',
  );
  return rows[0];
}

async function hasTable(client: Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ found: string | null }>(
    'SELECT to_regclass($1)::text AS found',
    [`"${name}"`],
  );
  return rows[0]?.found !== null;
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(folder, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    }),
  );
}
