import { cp, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder, testDatabase } from '@sluice/testkit';
import { Client } from 'pg';
import { describe, expect, it } from 'vitest';
import { applyMigrations } from './apply.ts';

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
      names.map((name) => ({
        migration_name: name,
        checksum: expect.stringMatching(/^[0-9a-f]{64}$/),
        finished_at: expect.any(Date),
      })),
    );
  });

  it('leaves nothing behind of a migration that fails', async () => {
    const url = await testDatabase();
    const folder = await migrations({
      '1_good': 'CREATE TABLE a (id INT)',
      '2_bad': 'CREATE TABLE b (id INT); SELECT nonsense',
    });
    await expect(applyMigrations(url, folder)).rejects.toThrow('Migration 2_bad failed.');
    expect((await journal(url)).map((row) => row.migration_name)).toEqual(['1_good']);
    await writeFile(join(folder, '2_bad', 'migration.sql'), 'CREATE TABLE b (id INT)');
    expect(await applyMigrations(url, folder)).toEqual(['2_bad']);
  });

  it('refuses a database whose migrations were edited, or are newer than this release', async () => {
    const url = await testDatabase();
    const folder = await temporaryFolder('migrations');
    await cp(real, folder, { recursive: true });
    await applyMigrations(url, folder);
    await mkdir(join(folder, '99990101000000_future'));
    await writeFile(join(folder, '99990101000000_future', 'migration.sql'), 'SELECT 1');
    await applyMigrations(url, folder);
    await expect(applyMigrations(url, real)).rejects.toThrow('older than the database');
    await writeFile(join(folder, '99990101000000_future', 'migration.sql'), 'SELECT 2');
    await expect(applyMigrations(url, folder)).rejects.toThrow('edited after it was applied');
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

async function journal(url: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (
      await client.query(
        'SELECT * FROM "_prisma_migrations" WHERE finished_at IS NOT NULL ORDER BY migration_name',
      )
    ).rows;
  } finally {
    await client.end();
  }
}
