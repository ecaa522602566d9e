import { randomBytes } from 'node:crypto';
import { protocol } from '@sluice/rpc';
import { builtServices, eventually, freePort, startService, testDatabase } from '@sluice/testkit';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyMigrations, missingMigrations } from '../../src/kernel/migrations/apply.ts';

let url: string;
let database: Client;
beforeAll(async () => {
  url = await testDatabase();
  database = new Client({ connectionString: url });
  await database.connect();
  // Who starts one waits for nothing but the process then.
  await builtServices();
});
afterAll(() => database.end());

type Started = Awaited<ReturnType<typeof startService>>;

/** A control plane as a process, which may wait for its database. */
async function start(): Promise<{ origin: string; log: () => string; started: Promise<Started> }> {
  const port = await freePort();
  let log = '';
  const started = startService(
    'control-plane',
    {
      PORT: String(port),
      GRPC_PORT: '0',
      METRICS_PORT: '0',
      DATABASE_URL: url,
      MASTER_KEY: randomBytes(32).toString('hex'),
      KEY_PEPPER: randomBytes(32).toString('hex'),
      SERVICE_CLIENT_AUTH: 'a-token-shared-by-the-services',
    },
    (chunk) => {
      log += chunk.toString('utf8');
    },
  );
  return { origin: `http://127.0.0.1:${port}`, log: () => log, started };
}

const answer = async (path: string) => {
  const { status, headers, text } = await fetch(path).then(async (response) => ({
    status: response.status,
    headers: response.headers,
    text: await response.text(),
  }));
  return { status, after: headers.get('retry-after'), body: JSON.parse(text) };
};

describe('a control plane whose database was not migrated', () => {
  it('alters nothing, lives, is not ready and says what for; once it was it starts', async () => {
    const { origin, log, started } = await start();
    await eventually(async () => {
      const { status, body } = await answer(`${origin}/health/ready`);
      expect(status).toBe(503);
      expect(body.missing[0]).toMatch(/^the database lacks 2025.*: waiting for npm run migrate$/);
    });
    expect((await answer(`${origin}/health/live`)).status).toBe(200);
    expect(await answer(`${origin}/v1/configs`)).toMatchObject({
      status: 503,
      after: '2',
      body: { data: { code: 'admin.control_plane_unavailable' } },
    });
    expect(log().split('waiting for npm run migrate')).toHaveLength(2);
    const { rows } = await database.query(
      "SELECT count(*)::int AS tables FROM information_schema.tables WHERE table_schema = 'public'",
    );
    expect(rows).toEqual([{ tables: 0 }]);
    await applyMigrations(url);
    const service = await started;
    await eventually(async () =>
      expect((await answer(`${origin}/health/ready`)).body).toEqual({ status: 'ok', missing: [] }),
    );
    expect((await service.stop()).code).toBe(0);
  });

  it('refuses one of a release that it cannot know, and takes one of the next', async () => {
    await database.query('DELETE FROM "_sluice_releases"');
    await database.query(
      'INSERT INTO "_sluice_releases" (protocol, release) VALUES ($1, \'9.0.0\')',
      [protocol + 2],
    );
    const { origin, log, started } = await start();
    const fault = /was brought to release 9\.0\.0 \(protocol \d+\); this is release/;
    await eventually(async () =>
      expect((await answer(`${origin}/health/ready`)).body.missing[0]).toMatch(fault),
    );
    expect(log()).toMatch(fault);
    await expect(missingMigrations(url)).rejects.toThrow(fault);
    await database.query('DELETE FROM "_sluice_releases"');
    await database.query(
      'INSERT INTO "_sluice_releases" (protocol, release) VALUES ($1, \'0.2.0\')',
      [protocol + 1],
    );
    // Of the next release only: that one it works with.
    expect((await (await started).stop()).code).toBe(0);
  });
});
