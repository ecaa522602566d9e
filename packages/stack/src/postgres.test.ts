import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import {
  freePort,
  type PostgresSettings,
  postgresSpec,
  postgresUrl,
  startProcess,
} from './index.ts';

// Closed to other users, as a checkout in a home directory is.
const folder = mkdtempSync(join(tmpdir(), 'sluice-postgres-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the embedded Postgres', () => {
  it('keeps its data when its watcher is killed, and starts again on the same port', async () => {
    const settings: PostgresSettings = {
      dataDir: join(folder, 'data'),
      port: await freePort(),
      user: 'sluice',
      password: 'it’s a secret/@',
      durable: true,
    };
    const first = await startProcess(postgresSpec(settings));
    await query(settings, 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.kill();
    const second = await startProcess(postgresSpec(settings));
    expect(await query(settings, 'SELECT answer FROM kept')).toEqual([{ answer: 42 }]);
    expect(await second.stop()).toEqual({ code: 0, signal: null });
    expect(existsSync(join(settings.dataDir, 'postmaster.pid'))).toBe(false);
  });

  it('starts although a dead server left its pid file, and that pid is somebody else’s now', async () => {
    const settings: PostgresSettings = {
      dataDir: join(folder, 'stale'),
      port: await freePort(),
      user: 'sluice',
      password: 'secret',
      durable: false,
    };
    const first = await startProcess(postgresSpec(settings));
    const pidFile = readFileSync(join(settings.dataDir, 'postmaster.pid'), 'utf8');
    await first.stop();
    writeFileSync(
      join(settings.dataDir, 'postmaster.pid'),
      pidFile.replace(/^\d+/, String(process.pid)),
    );
    const second = await startProcess(postgresSpec(settings));
    expect(await query(settings, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await second.stop();
  });
});

async function query(settings: PostgresSettings, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: postgresUrl(settings) });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
