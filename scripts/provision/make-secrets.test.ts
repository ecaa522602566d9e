import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:tls';
import { isWellFormedServiceKey } from '@sluice/contracts';
import { expect, it } from 'vitest';
import type { KubernetesSecret, SecretsApi } from './kubernetes-api.ts';
import { type MadeSecrets, makeSecrets } from './make-secrets.ts';

const now = new Date('2026-11-23T00:00:00Z');
const dayMs = 86_400_000;
const later = (days: number) => new Date(now.getTime() + days * dayMs);

const wanted: MadeSecrets = {
  labels: { 'app.kubernetes.io/name': 'sluice' },
  secrets: [
    {
      name: 'sluice',
      keys: {
        MASTER_KEY: 'hex:32',
        PASSWORD: 'hex:24',
        DATABASE_URL: 'text:postgres://sluice:{PASSWORD}@db:5432/sluice',
      },
    },
    { name: 'first-keys', keys: { ADMIN_KEY: 'key:sl_' } },
  ],
  certificates: {
    authority: 'ca',
    days: 365,
    of: [{ name: 'server', dnsNames: ['control-plane', 'localhost'] }],
  },
};

/** Secrets as an API server keeps them. */
function keeping(secrets = new Map<string, KubernetesSecret>()) {
  const api: SecretsApi = {
    read: async (name) => secrets.get(name),
    async create(secret) {
      if (secrets.has(secret.metadata.name)) return false;
      secrets.set(secret.metadata.name, secret);
      return true;
    },
    async patch(name, data) {
      const there = secrets.get(name) as KubernetesSecret;
      secrets.set(name, { ...there, data: { ...there.data, ...data } });
    },
  };
  const value = (name: string, key: string) =>
    Buffer.from(secrets.get(name)?.data?.[key] ?? '', 'base64').toString();
  return { api, secrets, value };
}

it('makes what is missing, and changes nothing that is there', async () => {
  const { api, secrets, value } = keeping();
  expect(await makeSecrets(api, wanted, now)).toEqual([
    'sluice: MASTER_KEY, PASSWORD, DATABASE_URL',
    'first-keys: ADMIN_KEY',
    'ca: ca.crt, ca.key',
    'server: tls.crt, tls.key, ca.crt',
  ]);
  expect(value('sluice', 'MASTER_KEY')).toMatch(/^[0-9a-f]{64}$/);
  expect(value('sluice', 'DATABASE_URL')).toBe(
    `postgres://sluice:${value('sluice', 'PASSWORD')}@db:5432/sluice`,
  );
  expect(isWellFormedServiceKey(value('first-keys', 'ADMIN_KEY'))).toBe(true);
  const before = structuredClone(secrets);
  expect(await makeSecrets(api, wanted, later(10))).toEqual([]);
  expect(secrets).toEqual(before);
});

it('adds what a later release needs to a Secret that the operator made, and keeps the rest', async () => {
  const own = { metadata: { name: 'sluice' }, data: { MASTER_KEY: 'b3du', OTHER: 'eA==' } };
  const { api, value, secrets } = keeping(new Map([['sluice', own]]));
  await makeSecrets(api, wanted, now);
  expect(value('sluice', 'MASTER_KEY')).toBe('own');
  expect(value('sluice', 'OTHER')).toBe('x');
  expect(Object.keys(secrets.get('sluice')?.data ?? {})).toContain('PASSWORD');
});

it('takes what another job made meanwhile', async () => {
  const { api, secrets } = keeping();
  const first = { metadata: { name: 'first-keys' }, data: { ADMIN_KEY: 'dGhlaXJz' } };
  const racing: SecretsApi = {
    ...api,
    create(secret) {
      if (secret.metadata.name === 'first-keys') secrets.set('first-keys', first);
      return api.create(secret);
    },
  };
  await makeSecrets(racing, wanted, now);
  expect(secrets.get('first-keys')).toEqual(first);
});

it('issues certificates anew before they end, and when names are added, by the same authority', async () => {
  const { api, value } = keeping();
  await makeSecrets(api, wanted, now);
  const [authority, first] = [value('ca', 'ca.crt'), value('server', 'tls.crt')];
  await makeSecrets(api, wanted, later(200));
  expect(value('server', 'tls.crt')).toBe(first);
  await makeSecrets(api, wanted, later(300));
  const second = value('server', 'tls.crt');
  expect(second).not.toBe(first);
  expect(new X509Certificate(second).validTo).toContain('2028');
  const of = [{ name: 'server', dnsNames: ['control-plane', 'localhost', 'another'] }];
  const more = { ...wanted, certificates: { authority: 'ca', days: 365, of } };
  await makeSecrets(api, more, later(300));
  expect(new X509Certificate(value('server', 'tls.crt')).subjectAltName).toContain('DNS:another');
  expect(value('ca', 'ca.crt')).toBe(authority);
});

it('makes certificates that TLS takes on both sides', async () => {
  const { api, value } = keeping();
  await makeSecrets(api, wanted, new Date());
  const tls = {
    cert: value('server', 'tls.crt'),
    key: value('server', 'tls.key'),
    ca: value('server', 'ca.crt'),
  };
  const server = createServer({ ...tls, requestCert: true, rejectUnauthorized: true }, (socket) =>
    socket.end('heard'),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket = connect({ ...tls, host: '127.0.0.1', port, servername: 'control-plane' });
  const [data] = (await once(socket, 'data')) as [Buffer];
  expect(data.toString()).toBe('heard');
  server.close();
});
