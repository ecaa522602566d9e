import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { protocol, release } from '@sluice/rpc';
import { eventually, temporaryFolder, testDatabase } from '@sluice/testkit';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { applyMigrations, missingMigrations } from './apply.ts';

const real = join(import.meta.dirname, '..', '..', '..', 'prisma', 'migrations');

describe('applyMigrations', () => {
  it('applies each migration once, also when replicas start together', async () => {
    const url = await testDatabase();
    const names = (await readdir(real)).sort();
    const applied = await Promise.all([
      applyMigrations(url),
      applyMigrations(url),
      applyMigrations(url),
    ]);
    expect(applied.flat()).toEqual(names);
    expect(await applyMigrations(url)).toEqual([]);
    expect(await journal(url)).toMatchObject(
      names.map((name) => ({ name, checksum: expect.stringMatching(/^[0-9a-f]{64}$/) })),
    );
  });

  it('leaves nothing behind of a migration that fails', async () => {
    const url = await testDatabase();
    const folder = await migrations({
      '1_good': 'CREATE TABLE a (id INT)',
      '2_bad': 'CREATE TABLE b (id INT); SELECT nonsense',
    });
    await expect(applyMigrations(url, { folder })).rejects.toThrow('Migration 2_bad failed.');
    expect((await journal(url)).map(({ name }) => name)).toEqual(['1_good']);
    await writeFile(join(folder, '2_bad', 'migration.sql'), 'CREATE TABLE b (id INT)');
    expect(await applyMigrations(url, { folder })).toEqual(['2_bad']);
  });

  it('works with a database of the next release, and refuses one that is later or was edited', async () => {
    const url = await testDatabase();
    const folder = await temporaryFolder('migrations');
    await cp(real, folder, { recursive: true });
    await applyMigrations(url, { folder });
    await mkdir(join(folder, '99990101000000_future'));
    await writeFile(join(folder, '99990101000000_future', 'migration.sql'), 'SELECT 1');
    await applyMigrations(url, { folder });
    expect(await applyMigrations(url)).toEqual([]);
    expect(await missingMigrations(url)).toEqual([]);
    await writeFile(join(folder, '99990101000000_future', 'migration.sql'), 'SELECT 2');
    await expect(applyMigrations(url, { folder })).rejects.toThrow('edited after it was applied');

    await isOfRelease(url, protocol + 1, '0.9.0');
    expect(await applyMigrations(url)).toEqual([]);
    await isOfRelease(url, protocol + 2, '0.10.0');
    for (const refused of [applyMigrations, missingMigrations])
      await expect(refused(url)).rejects.toThrow(
        `was brought to release 0.10.0 (protocol ${protocol + 2}); this is release ${release}`,
      );
  });

  it('is not seen by a release of before the handshake, which starts with no migration that it does not know', async () => {
    const url = await testDatabase();
    const folder = await migrations({
      '20261129000000_cache_generations': 'CREATE TABLE a (id INT)',
      '20261130000000_later': 'CREATE TABLE b (id INT)',
    });
    await applyMigrations(url, { folder });
    expect(await journal(url)).toMatchObject([
      { name: '20261129000000_cache_generations', is_of_prisma: true },
      { name: '20261130000000_later', is_of_prisma: false },
    ]);
    expect(await applyMigrations(url, { folder })).toEqual([]);
  });

  it('lets go of a table that is in use, so that nobody waits behind it, and comes again', async () => {
    const url = await testDatabase();
    const folder = await migrations({
      '1_table': 'CREATE TABLE a (id INT)',
      '2_column': 'ALTER TABLE a ADD COLUMN more INT',
    });
    const first = await migrations({ '1_table': 'CREATE TABLE a (id INT)' });
    await applyMigrations(url, { folder: first });
    const [user, reader] = await Promise.all([connected(url), connected(url)]);
    await user.query('BEGIN; SELECT * FROM a');
    const applying = applyMigrations(url, { folder });
    await eventually(async () => {
      const { rows } = await reader.query(
        "SELECT 1 FROM pg_locks WHERE relation = 'a'::regclass AND NOT granted",
      );
      expect(rows).toHaveLength(1);
    });
    const askedAt = performance.now();
    await reader.query('SELECT * FROM a');
    expect(performance.now() - askedAt).toBeLessThan(4_000);
    await user.query('COMMIT');
    expect(await applying).toEqual(['2_column']);
    await Promise.all([user.end(), reader.end()]);
  });

  it('says whom it waited for, where another one goes on for too long', async () => {
    const url = await testDatabase();
    const other = await connected(url);
    await other.query('SELECT pg_advisory_lock(7271640319)');
    let waits = false;
    const applying = applyMigrations(url, {
      onWaiting: () => {
        waits = true;
      },
    });
    await eventually(() => expect(waits).toBe(true));
    await other.query('SELECT pg_advisory_unlock(7271640319)');
    expect(await applying).not.toEqual([]);
    await other.end();
  });
});

async function migrations(files: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder('migrations');
  for (const [name, sql] of Object.entries(files)) {
    await mkdir(join(folder, name));
    await writeFile(join(folder, name, 'migration.sql'), sql);
  }
  return folder;
}

async function connected(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

/** As that release's step leaves it. */
async function isOfRelease(url: string, protocol: number, release: string): Promise<void> {
  const client = await connected(url);
  await client.query('INSERT INTO "_sluice_releases" (protocol, release) VALUES ($1, $2)', [
    protocol,
    release,
  ]);
  await client.end();
}

/** What is noted as done, in the table of Prisma's tools and in ours. */
async function journal(
  url: string,
): Promise<{ name: string; checksum: string; is_of_prisma: boolean }[]> {
  const client = await connected(url);
  try {
    const { rows } = await client.query(`
      SELECT migration_name AS name, checksum, true AS is_of_prisma FROM "_prisma_migrations" WHERE finished_at IS NOT NULL
      UNION ALL SELECT name, checksum, false FROM "_sluice_migrations" ORDER BY name`);
    return rows;
  } finally {
    await client.end();
  }
}
