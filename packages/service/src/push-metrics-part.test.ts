import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogger } from '@sluice/telemetry';
import { eventually } from '@sluice/testkit';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startService } from './start-service.ts';

/** A Pushgateway of ours: what it was sent, and how it answers. */
const sent: { method: string; path: string; auth: string | undefined; body: string }[] = [];
let status = 200;
const pushgateway = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = '', url: path = '', headers } = request;
  sent.push({ method, path, auth: headers.authorization, body: Buffer.concat(chunks).toString() });
  if (status !== 0) response.writeHead(status).end();
});
beforeAll(() => new Promise<void>((resolve) => pushgateway.listen(0, '127.0.0.1', resolve)));
afterAll(() => {
  pushgateway.closeAllConnections();
  pushgateway.close();
});
beforeEach(() => {
  sent.length = 0;
  status = 200;
});

const lines: string[] = [];
const logger = createLogger({ service: 'test', level: 'info', follow: (line) => lines.push(line) });

async function start(more: object = {}) {
  const { port } = pushgateway.address() as AddressInfo;
  const env = {
    SERVICE_NAME: 'a/test',
    LOG_LEVEL: 'info',
    NODE_ENV: 'test',
    DRAIN_TIMEOUT: 0,
    SHUTDOWN_DELAY: 0,
    HOST: '127.0.0.1',
    PROMETHEUS_PUSH_ENABLED: true,
    PROMETHEUS_GATEWAY_URL: `http://127.0.0.1:${port}/base/`,
    PROMETHEUS_GATEWAY_AUTH: 'operator:secret word'.replace(' ', '-'),
    PROMETHEUS_PUSH_INTERVAL: 20,
    ...more,
  };
  return startService({ env, logger, wire: () => [] });
}

it('sends metrics again and again, and takes them away at the end', async () => {
  const service = await start();
  await eventually(() => sent.length >= 3);
  await service.stop();
  const last = sent.at(-1);
  expect(last?.method).toBe('DELETE');
  const { method, path, auth, body } = sent[0]!;
  expect([method, auth]).toEqual([
    'PUT',
    `Basic ${Buffer.from('operator:secret-word').toString('base64')}`,
  ]);
  expect(path).toMatch(/^\/base\/metrics\/job\/a%2Ftest\/instance\/[^/]+$/);
  expect(body).toMatch(/^event_log_lines_dropped\{.*\} 0$/m);
  const count = sent.length;
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(sent).toHaveLength(count);
});

it('takes a whole header for its credentials', async () => {
  const service = await start({ PROMETHEUS_GATEWAY_AUTH: 'Bearer a' });
  await eventually(() => sent.length > 0);
  await service.stop();
  expect(sent[0]?.auth).toBe('Bearer a');
});

it('goes on where the Pushgateway refuses, and says so once', async () => {
  status = 503;
  lines.length = 0;
  const service = await start();
  await eventually(() => sent.length >= 4);
  status = 200;
  await eventually(() => lines.some((line) => line.includes('again')));
  await service.stop();
  expect(lines.filter((line) => line.includes('could not be sent'))).toHaveLength(1);
  expect(lines.join('')).not.toContain('secret-word');
});

it('keeps nobody from ending where it hangs', async () => {
  status = 0;
  const service = await start();
  await eventually(() => sent.length > 0);
  const before = performance.now();
  await service.stop();
  expect(performance.now() - before).toBeLessThan(6_000);
});

it('needs to be told where', async () => {
  await expect(start({ PROMETHEUS_GATEWAY_URL: undefined })).rejects.toThrow(
    'PROMETHEUS_GATEWAY_URL',
  );
});
