import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';

const migrationsFolder = join(import.meta.dirname, '../../../prisma/migrations');

/** Any number will do, as long as every replica uses the same. */
const lockId = 7_271_640_319;

/** The table Prisma's own tools keep, so that they agree about what has been applied. */
const journal = `CREATE TABLE IF NOT EXISTS "_prisma_migrations" (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;

/**
 * Brings the database up to date: each migration that the journal does not know
 * runs in a transaction of its own, in the order of names. Replicas that start
 * together wait for each other. Returns the names of those applied.
 * @throws when a migration that was applied has been edited since, or is not here.
 */
export async function applyMigrations(
  databaseUrl: string,
  folder: string = migrationsFolder,
): Promise<string[]> {
  return inDatabase(databaseUrl, async (client) => {
    // Another replica may be migrating; longer than this and something is wrong.
    await client.query("SET lock_timeout = '120s'");
    await client.query('SELECT pg_advisory_lock($1)', [lockId]);
    await client.query(journal);
    const migrations = await migrationsToApply(client, folder);
    for (const migration of migrations) await run(client, migration);
    return migrations.map(({ name }) => name);
  });
}

/** The migrations that the database lacks; changes nothing. @throws as applyMigrations does */
export async function missingMigrations(
  databaseUrl: string,
  folder: string = migrationsFolder,
): Promise<string[]> {
  return inDatabase(databaseUrl, async (client) => {
    const found = await client.query<{ journal: string | null }>(
      `SELECT to_regclass('"_prisma_migrations"')::text AS journal`,
    );
    const isNew = found.rows[0]?.journal === null;
    const migrations = isNew
      ? await readMigrations(folder)
      : await migrationsToApply(client, folder);
    return migrations.map(({ name }) => name);
  });
}

async function inDatabase<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    application_name: 'sluice-migrations',
  });
  await client.connect();
  try {
    return await work(client);
  } finally {
    // Ending the session releases the lock.
    await client.end();
  }
}

async function migrationsToApply(client: Client, folder: string): Promise<Migration[]> {
  const known = await client.query<{ migration_name: string; checksum: string }>(
    'SELECT migration_name, checksum FROM "_prisma_migrations" WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
  );
  const checksums = new Map(known.rows.map((row) => [row.migration_name, row.checksum]));
  const migrations = await readMigrations(folder);
  for (const name of checksums.keys())
    if (!migrations.some((migration) => migration.name === name))
      throw new Error(
        `The database knows migration ${name}, this release does not: it is older than the database.`,
      );
  return migrations.filter((migration) => {
    const checksum = checksums.get(migration.name);
    if (checksum !== undefined && checksum !== migration.checksum)
      throw new Error(`Migration ${migration.name} was edited after it was applied.`);
    return checksum === undefined;
  });
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
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

async function run(client: Client, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(migration.sql);
    await client.query(
      `INSERT INTO "_prisma_migrations" (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    );
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw new Error(`Migration ${migration.name} failed.`, { cause: error });
  }
}
