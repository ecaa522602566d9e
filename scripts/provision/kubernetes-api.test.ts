import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testCertificate } from '@sluice/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { clusterPlace, secretsApi } from './kubernetes-api.ts';

/** What a pod finds, and an API server that knows its token. */
let server: Server;
let folder: string;
const asked: { line: string; type: string | undefined; body: unknown }[] = [];
let answer: [status: number, body: object] = [200, {}];

beforeAll(async () => {
  const tls = { cert: testCertificate('server'), key: testCertificate('server-key') };
  server = createServer(tls, async (req, res) => {
    let body = '';
    for await (const piece of req) body += piece;
    const isKnown = req.headers.authorization === 'Bearer the-pods-token';
    asked.push({
      line: `${req.method} ${req.url}`,
      type: req.headers['content-type'],
      body: body === '' ? undefined : JSON.parse(body),
    });
    const [status, sent] = isKnown ? answer : [401, { message: 'Unauthorized' }];
    res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(sent));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  folder = mkdtempSync(join(tmpdir(), 'service-account-'));
  writeFileSync(join(folder, 'namespace'), 'ai');
  writeFileSync(join(folder, 'token'), 'the-pods-token\n');
  writeFileSync(join(folder, 'ca.crt'), testCertificate('authority'));
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

const place = () =>
  clusterPlace(
    {
      KUBERNETES_SERVICE_HOST: 'localhost',
      KUBERNETES_SERVICE_PORT: String((server.address() as AddressInfo).port),
    },
    folder,
  );

it('reads, creates and changes Secrets of the pod’s namespace, with its token and authority', async () => {
  const api = secretsApi(place());
  answer = [404, { message: 'secrets "keys" not found' }];
  expect(await api.read('keys')).toBeUndefined();
  answer = [201, {}];
  const secret = { metadata: { name: 'keys' }, type: 'Opaque', data: { A: 'eA==' } };
  expect(await api.create(secret)).toBe(true);
  answer = [409, { message: 'exists' }];
  expect(await api.create(secret)).toBe(false);
  answer = [200, {}];
  await api.patch('keys', { B: 'eQ==' });
  expect(asked.splice(0)).toEqual([
    { line: 'GET /api/v1/namespaces/ai/secrets/keys', type: undefined, body: undefined },
    ...Array.from({ length: 2 }, () => ({
      line: 'POST /api/v1/namespaces/ai/secrets',
      type: 'application/json',
      body: { apiVersion: 'v1', kind: 'Secret', ...secret },
    })),
    {
      line: 'PATCH /api/v1/namespaces/ai/secrets/keys',
      type: 'application/merge-patch+json',
      body: { data: { B: 'eQ==' } },
    },
  ]);
});

it('tells what the account may not do, in Kubernetes’ words, and shows no token', async () => {
  answer = [403, { message: 'secrets is forbidden: User "ai:provision" cannot create' }];
  const failed = secretsApi(place()).create({ metadata: { name: 'keys' } });
  await expect(failed).rejects.toThrow('create Secret keys: 403 secrets is forbidden');
  await expect(failed).rejects.not.toThrow('the-pods-token');
});

it('speaks to no server that its authority does not know, and says so outside of a pod', async () => {
  const other = { ...place(), ca: testCertificate('stranger') };
  await expect(secretsApi(other).read('keys')).rejects.toThrow('certificate');
  expect(() => clusterPlace({}, folder)).toThrow('KUBERNETES_SERVICE_HOST is not set');
  const env = { KUBERNETES_SERVICE_HOST: 'localhost' };
  expect(() => clusterPlace(env, '/nowhere')).toThrow('no token of a service account');
});
