import { setTimeout as delay } from 'node:timers/promises';
import { release, storeMismatch } from '@sluice/rpc';
import { Client } from 'pg';
import { schemaOf } from '../names/schema-of.ts';
import {
  journals,
  type Migration,
  migrationsFolder,
  noteMigration,
  noteRelease,
  readSchemaState,
} from './journal.ts';
import { expectOwnSession } from './own-session.ts';

/** Any number will do, as long as every replica uses the same. */
const lockId = 7_271_640_319;
/** Another one may be migrating; longer than this and something is wrong. */
const lockWait = '120s';
/**
 * A change of a table waits for the transactions that use it, and everybody else waits behind the change: so it gives up soon, lets
 * them go on, and comes again.
 */
const tableWait = '2s';
const tableTries = 30;

export interface MigrateOptions {
  folder?: string;
  /** Told of each migration when it is done. */
  onApplied?: (name: string) => void;
  /** Told when another one has the lock. */
  onWaiting?: () => void;
  /** What is to be done with the lock held once the database is up to date: other stores have none. */
  meanwhile?: () => Promise<void>;
}

/**
 * Brings the database up to date: each migration that the journal does not know
 * runs in a transaction of its own, in the order of names. Several that start
 * together wait for each other. Returns the names of those applied.
 * @throws when a migration that was applied has been edited since, or the database is of a release that this one cannot know
 */
export async function applyMigrations(
  databaseUrl: string,
  options: MigrateOptions = {},
): Promise<string[]> {
  return inDatabase(databaseUrl, async (client) => {
    await takeLock(client, options.onWaiting);
    await makeSchema(client, schemaOf(databaseUrl));
    for (const journal of journals) await client.query(journal);
    const { missing, version } = await readSchemaState(client, options.folder ?? migrationsFolder);
    const refusal = version && storeMismatch('The database', version);
    if (refusal !== undefined) throw new Error(refusal);
    for (const migration of missing) {
      await run(client, migration);
      options.onApplied?.(migration.name);
    }
    await noteRelease(client, release);
    await options.meanwhile?.();
    return missing.map(({ name }) => name);
  });
}

/** The migrations that the database lacks; changes nothing. @throws as applyMigrations does */
export async function missingMigrations(
  databaseUrl: string,
  folder: string = migrationsFolder,
): Promise<string[]> {
  const { missing, version } = await inDatabase(databaseUrl, (client) =>
    readSchemaState(client, folder),
  );
  const refusal = version && storeMismatch('The database', version);
  if (refusal !== undefined) throw new Error(refusal);
  return missing.map(({ name }) => name);
}

/** @throws UnfitPooler, and what `work` throws */
export async function inDatabase<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
    application_name: 'sluice-migrations',
  });
  // One that is lost is the error of the statement under way, and must not end the process beside it.
  client.on('error', () => {});
  await client.connect();
  try {
    await expectOwnSession(client, url);
    await client.query(`SET search_path = "${schemaOf(url)}"`);
    return await work(client);
  } finally {
    // Ending the session releases the lock.
    await client.end();
  }
}

/** One that is there needs no right to make one. */
async function makeSchema(client: Client, schema: string): Promise<void> {
  const { rows } = await client.query<{ found: string | null }>(
    'SELECT to_regnamespace($1)::text AS found',
    [`"${schema}"`],
  );
  if (rows[0]?.found === null) await client.query(`CREATE SCHEMA "${schema}"`);
}

async function takeLock(client: Client, onWaiting: (() => void) | undefined): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>(
    'SELECT pg_try_advisory_lock($1) AS taken',
    [lockId],
  );
  if (rows[0]?.taken === true) return;
  onWaiting?.();
  await client.query(`SET lock_timeout = '${lockWait}'`);
  try {
    await client.query('SELECT pg_advisory_lock($1)', [lockId]);
  } catch (error) {
    if (!isLockTimeout(error)) throw error;
    throw new Error(
      `Another one has been migrating this database for ${lockWait}: run this again when it is done. It is the session with the application_name sluice-migrations in pg_stat_activity.`,
      { cause: error },
    );
  }
}

async function run(client: Client, migration: Migration): Promise<void> {
  for (let tries = 1; ; tries += 1)
    try {
      return await runOnce(client, migration);
    } catch (error) {
      if (!isLockTimeout(error) || tries === tableTries)
        throw new Error(`Migration ${migration.name} failed.`, { cause: error });
      await delay(500);
    }
}

async function runOnce(client: Client, migration: Migration): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = '${tableWait}'`);
    await client.query(migration.sql);
    await noteMigration(client, migration, release);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK').catch(() => {});
    throw error;
  }
}

function isLockTimeout(error: unknown): boolean {
  return (error as { code?: unknown }).code === '55P03';
}
