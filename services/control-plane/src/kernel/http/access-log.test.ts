import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '@sluice/telemetry';
import express from 'express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { accessLog } from './access-log.ts';

const lines: Record<string, unknown>[] = [];
const logger = createLogger({
  service: 'test',
  level: 'info',
  follow: (line) => lines.push(JSON.parse(line)),
});
const app = express();
app.use((_req, res, next) => {
  res.locals.requestId = 'r1';
  next();
});
app.use(accessLog(logger));
app.get('/v1/configs', (_req, res) => {
  Object.assign(res.locals, { operation: 'configs.list', keyId: 'k1', organisationId: 'o1' });
  res.status(403).end();
});
app.get('/health/ready', (_req, res) => void res.end());
const server = createServer(app);
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => void server.close());

it('tells each request once, with what came of it and without its query; probes not at all', async () => {
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const path of ['/health/ready', '/v1/configs?search=secret', '/other'])
    await fetch(origin + path);
  await expect.poll(() => lines.length).toBe(2);
  expect(lines[0]).toMatchObject({
    msg: 'request',
    request_id: 'r1',
    method: 'GET',
    path: '/v1/configs',
    operation: 'configs.list',
    status: 403,
    organisation_id: 'o1',
    api_key_id: 'k1',
    latency_ms: expect.any(Number),
  });
  expect(lines[1]).toMatchObject({ path: '/other', status: 404 });
  expect(JSON.stringify(lines)).not.toContain('secret');
});
