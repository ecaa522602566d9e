import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createServiceKey, hashServiceKey } from '@sluice/contracts';
import { startService, temporaryFolder, testDatabase } from '@sluice/testkit';
import supertest from 'supertest';
import { expect, it } from 'vitest';
import { createDatabaseClient, type DatabaseClient } from '../../src/kernel/database/client.ts';
import { createMintKey } from '../../src/people/api-keys/secrets.ts';
import { findKeyByHash } from '../../src/people/authentication/store.ts';
import { makeAdminKey } from '../../src/provisioning/make-admin-key.ts';

const run = promisify(execFile);
const script = join(import.meta.dirname, '../../src', 'bootstrap.ts');

async function settings() {
  return {
    DATABASE_URL: await testDatabase(),
    MASTER_KEY: randomBytes(32).toString('hex'),
    KEY_PEPPER: randomBytes(32).toString('hex'),
    SERVICE_CLIENT_AUTH: 'a-token-shared-by-the-services',
    HOST: '127.0.0.1',
    PORT: '0',
    GRPC_PORT: '0',
    METRICS_PORT: '0',
  };
}

async function bootstrap(env: Record<string, string>, ...options: string[]) {
  const { stdout } = await run(process.execPath, [script, ...options], {
    env: { ...env, PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE },
  });
  expect(stdout.split('\n')).toHaveLength(2);
  return JSON.parse(stdout);
}

it('bootstrap takes a preset key or makes one, prints the first keys once, keeps the demo address up to date, and the service then accepts the keys', async () => {
  const env = await settings();
  const key = createServiceKey('sl_');
  const file = join(await temporaryFolder('admin-key'), 'key');
  writeFileSync(file, `${key}\n`);
  const given = { ADMIN_KEY: file, DEMO_UPSTREAM_URL: 'http://127.0.0.1:8799' };
  const first = await bootstrap({ ...env, ...given });
  expect(first).toEqual({
    admin_key: key,
    workspace_key: expect.stringMatching(/^sl_/),
    organisation_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    workspace_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    workspace_slug: expect.stringMatching(/^ws-defaul-[0-9a-f]{6}$/),
    demo_provider: 'demo',
  });
  expect(await bootstrap({ ...env, DEMO_UPSTREAM_URL: 'http://127.0.0.1:9999' })).toEqual({});
  const service = await startService('control-plane', env);
  try {
    const ready = service
      .stderr()
      .split('\n')
      .find((line) => line.includes('"msg":"ready"'));
    const { port } = JSON.parse(ready ?? '{}') as { port: number };
    const answer = await supertest(`http://127.0.0.1:${port}`)
      .get('/v1/integrations/demo')
      .set('x-service-api-key', first.workspace_key);
    expect(answer.body.configurations).toEqual({ custom_host: 'http://127.0.0.1:9999' });
  } finally {
    await service.stop();
  }
});

it('bootstrap makes a further organisation, with an owner and strict settings, and prints its keys', async () => {
  const env = await settings();
  const first = await bootstrap(env);
  const options = ['--organisation', 'Second', '--owner-email', 'Ann@example.org'];
  const second = await bootstrap(env, ...options);
  expect(second.organisation_id).not.toBe(first.organisation_id);
  await expect(bootstrap(env, '--organisation', 'Third')).rejects.toThrow();
  const db = createDatabaseClient({ url: env.DATABASE_URL, connectionsMax: 1 });
  try {
    await expectAdminKeyAnew(db, env.KEY_PEPPER, first);
    const organisations = await db.organisation.findMany({
      include: {
        users: true,
        labels: true,
        collections: true,
        auditEntries: true,
        workspaces: true,
      },
      orderBy: { createdAt: 'asc' },
    });
    expect(organisations.map((each) => [each.name, each.blockInlineConfig])).toEqual([
      ['Default organisation', false],
      ['Second', true],
    ]);
    expect(organisations[1]).toMatchObject({
      id: second.organisation_id,
      users: [{ email: 'ann@example.org', role: 'owner' }],
      collections: [{ isDefault: true, workspaceId: second.workspace_id }],
      auditEntries: [{ resourceType: 'organisation', action: 'create' }],
      workspaces: [{ isDefault: true }],
    });
    expect(organisations[1]?.labels.map((label) => label.name).sort()).toEqual([
      'development',
      'production',
      'staging',
    ]);
  } finally {
    await db.$disconnect();
  }
});

/** Whoever lost the first key has another one made. */
async function expectAdminKeyAnew(
  db: DatabaseClient,
  pepperText: string,
  first: { organisation_id: string; workspace_id: string },
): Promise<void> {
  const pepper = Buffer.from(pepperText, 'hex');
  const mint = createMintKey({ prefix: 'sl_', pepper });
  const now = new Date();
  const made = await makeAdminKey(db, mint, { organisationId: undefined, now });
  expect(made.organisation_id).toBe(first.organisation_id);
  const found = await findKeyByHash(db, hashServiceKey(made.admin_key, pepper));
  expect(found).toMatchObject({ type: 'organisation-service' });
  const unknown = { organisationId: first.workspace_id, now };
  await expect(makeAdminKey(db, mint, unknown)).rejects.toThrow('There is no organisation');
}
