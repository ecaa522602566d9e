import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { createDatabase, type SpawnedServer, startNats, startPostgres } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let postgres: Awaited<ReturnType<typeof startPostgres>>;
let nats: SpawnedServer;
beforeAll(async () => {
  [postgres, nats] = await Promise.all([startPostgres(), startNats()]);
});
afterAll(async () => {
  await nats.stop();
  await postgres.stop();
});

/** As whoever deploys runs it. */
function migrate(env: Record<string, string>, ...args: string[]) {
  return new Promise<{ code: number; out: string; told: string }>((resolve) => {
    const child = execFile(
      process.execPath,
      [join(import.meta.dirname, 'migrate.ts'), ...args],
      { env: { PATH: process.env.PATH, ...env } },
      (_error, out, told) => resolve({ code: child.exitCode ?? -1, out, told }),
    );
  });
}

describe('npm run migrate', () => {
  it('says what is missing, brings it in, and has nothing to do then', async () => {
    const env = { DATABASE_URL: await createDatabase(postgres.url), NATS_URL: nats.url };
    const before = await migrate(env, '--check');
    expect(before.out).toMatch(
      /^Postgres: lacks \d+.*\nNATS: lacks stream and consumer of usage records\n$/,
    );
    expect(before.code).toBe(1);
    const applied = await migrate(env);
    expect(applied.out).toMatch(
      /^Postgres: applied \d+.*\nNATS: applied stream and consumer of usage records\n$/,
    );
    expect(applied.code).toBe(0);
    expect(await migrate(env, '--check')).toEqual({
      code: 0,
      out: 'Postgres: up to date\nNATS: up to date\n',
      told: '',
    });
  });

  it('says how it is used where no store is named, and what failed without its password', async () => {
    const unnamed = await migrate({});
    expect(unnamed.code).toBe(2);
    expect(unnamed.told).toContain('Usage: npm run migrate');
    const away = await migrate({ DATABASE_URL: 'postgres://me:secret-password@127.0.0.1:1/db' });
    expect(away.code).toBe(2);
    expect(away.told).not.toContain('secret-password');
    expect(away.told).not.toBe('');
  });
});
