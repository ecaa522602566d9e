import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { get } from 'node:https';
import { createServiceKey } from '@sluice/contracts';
import {
  eventually,
  startService,
  testCertificate,
  testCertificatePath,
  testDatabase,
} from '@sluice/testkit';
import { expect, it } from 'vitest';
import { applyMigrations } from '../../src/kernel/migrations/apply.ts';
import { provisionFirstKeys } from '../../src/provisioning/first-keys.ts';

async function settings() {
  const env = {
    DATABASE_URL: await testDatabase(),
    MASTER_KEY: randomBytes(32).toString('hex'),
    KEY_PEPPER: randomBytes(32).toString('hex'),
    ADMIN_KEY: createServiceKey('sl_'),
    WORKSPACE_KEY: createServiceKey('sl_'),
  };
  await applyMigrations(env.DATABASE_URL);
  return env;
}

it('keys that the operator brings are the first organisation’s, once, and the service takes them over HTTPS', async () => {
  const env = await settings();
  expect(await provisionFirstKeys(env)).toBe('made');
  expect(await provisionFirstKeys(env)).toBe('known');
  expect(await provisionFirstKeys({ ...env, ADMIN_KEY: createServiceKey('sl_') })).toBe(
    'other-keys',
  );
  const service = await startService('control-plane', {
    ...env,
    SERVICE_CLIENT_AUTH: 'a-token-shared-by-the-services',
    HOST: '127.0.0.1',
    PORT: '0',
    GRPC_PORT: '0',
    METRICS_PORT: '0',
    HTTP_TLS_ENABLED: 'true',
    TLS_CERT_PATH: testCertificatePath('server'),
    TLS_KEY_PATH: testCertificatePath('server-key'),
    TLS_CA_PATH: testCertificatePath('authority'),
  });
  try {
    const ready = service
      .stderr()
      .split('\n')
      .find((line) => line.includes('"msg":"ready"'));
    const { port } = JSON.parse(ready ?? '{}') as { port: number };
    const ca = testCertificate('authority');
    const statusOf = async (path: string, key = '') => {
      const url = `https://localhost:${port}${path}`;
      const asked = get(url, { ca, headers: { 'x-service-api-key': key } });
      const [answer] = await once(asked, 'response');
      answer.resume();
      return answer.statusCode as number;
    };
    // A probe has no certificate to show, and no key.
    await eventually(async () => expect(await statusOf('/health/ready')).toBe(200));
    expect(await statusOf('/v1/integrations', env.ADMIN_KEY)).toBe(200);
    expect(await statusOf('/v1/integrations', createServiceKey('sl_'))).toBe(401);
    await expect(fetch(`http://127.0.0.1:${port}/health/live`)).rejects.toThrow();
  } finally {
    await service.stop();
  }
});

it('what is no key is refused by its name, and not shown', async () => {
  const env = await settings();
  const refused = provisionFirstKeys({ ...env, WORKSPACE_KEY: 'sl_mistyped-key-of-somebody' });
  await expect(refused).rejects.toThrow('WORKSPACE_KEY is no service key');
  await expect(refused).rejects.not.toThrow('mistyped');
  await expect(provisionFirstKeys({ ...env, ADMIN_KEY: '' })).rejects.toThrow(
    'ADMIN_KEY is required',
  );
});
