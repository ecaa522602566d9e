import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  compileCacheDir,
  createDatabase,
  inTurns,
  type SpawnedServer,
  startNats,
  startPostgres,
} from '@sluice/testkit';
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
      { env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCacheDir(), ...env } },
      (_error, out, told) => resolve({ code: child.exitCode ?? -1, out, told }),
    );
  });
}

/** Runs it and kills it with SIGKILL when it has told of so many migrations; gives those it told of. */
async function killedAfter(steps: number, env: Record<string, string>): Promise<string[]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'migrate.ts')], {
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: compileCacheDir(), ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'close');
  const told: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    const name = /^Postgres: applied (\S+)$/.exec(line)?.[1];
    if (name !== undefined) told.push(name);
    if (told.length === steps) child.kill('SIGKILL');
  }
  await ended;
  expect(child.signalCode).toBe('SIGKILL');
  return told;
}

const migrationsFolder = join(import.meta.dirname, '../services/control-plane/prisma/migrations');

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
      /^(Postgres: applied \d+.*\n)+NATS: applied stream and consumer of usage records\n$/,
    );
    expect(applied.code).toBe(0);
    expect(await migrate(env, '--check')).toEqual({
      code: 0,
      out: 'Postgres: up to date\nNATS: up to date\n',
      told: '',
    });
  });

  it('goes on where it was killed, at whichever step, and several at once do each step once', async () => {
    const all = (await readdir(migrationsFolder)).sort();
    const env = { DATABASE_URL: await createDatabase(postgres.url), NATS_URL: nats.url };
    const seen: string[] = [];
    // Killed when it has told of so many.
    for (const steps of inTurns([1, 3], 2, 1)) seen.push(...(await killedAfter(steps, env)));
    const missing = await migrate(env, '--check');
    expect(missing.code).toBe(1);
    // One that was told of is there; one more may have been committed before the kill.
    for (const name of seen) expect(missing.out).not.toContain(name);
    const both = await Promise.all([migrate(env), migrate(env)]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    const told = both.flatMap(({ out }) => [...out.matchAll(/^Postgres: applied (\S+)$/gm)]);
    const rest = told.map(([, name]) => name as string);
    expect(new Set(rest).size).toBe(rest.length);
    expect(rest).toEqual(all.slice(all.length - rest.length));
    expect(await migrate(env, '--check')).toMatchObject({ code: 0 });
  });

  it('says how it is used where no store is named, and what failed without its password', async () => {
    const unnamed = await migrate({});
    expect(unnamed.code).toBe(2);
    expect(unnamed.told).toContain('Usage: npm run migrate');
    const away = await migrate({ DATABASE_URL: 'postgres://me:secret-password@127.0.0.1:1/db' });
    expect(away.code).toBe(2);
    expect(away.told).not.toContain('secret-password');
    expect(away.told).toContain('Postgres: connect ECONNREFUSED');
    const others = { CLICKHOUSE_URL: 'http://127.0.0.1:1', NATS_URL: 'nats://127.0.0.1:1' };
    // In the suite one of them with a check, the other without (`npm run test:long`: both with both).
    for (const [at, [name, url]] of Object.entries(others).entries())
      for (const args of inTurns([[], ['--check']], 2, at)) {
        const { told } = await migrate({ [name]: url }, ...args);
        expect(told).toMatch(name === 'NATS_URL' ? /^NATS: .*refused/m : /^ClickHouse: .*REFUSED/m);
      }
  });

  it('says which store is away, and nothing else', async () => {
    const away = { CLICKHOUSE_URL: 'http://127.0.0.1:9/db' };
    const fault = 'ClickHouse: connect ECONNREFUSED 127.0.0.1:9\n';
    expect(await migrate(away)).toEqual({ code: 2, out: '', told: fault });
    const both = await migrate({ DATABASE_URL: await createDatabase(postgres.url), ...away });
    expect([both.code, both.told]).toEqual([2, fault]);
  });
});
