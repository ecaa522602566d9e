import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type EndpointOperation,
  endpoints,
  headerPrefixes,
  type OperationId,
  operationIds,
  operations,
} from '@sluice/contracts';
import { createLogger } from '@sluice/telemetry';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApp } from './app.ts';
import type { Exchange } from './exchange/exchange.ts';
import type { Reply } from './exchange/reply.ts';
import { HeldBytes } from './http/held-bytes.ts';
import { OpenStreams } from './http/open-streams.ts';
import { RequestsUnderWay } from './http/requests-under-way.ts';
import { SlowBodies } from './http/slow-bodies.ts';

let server: Server;
let url: string;
/** The name each request was counted under. */
const counted: string[] = [];

/** Answers with the operation that the request was taken for. */
const answer =
  (pipeline: string) =>
  (exchange: Exchange): Promise<Reply> =>
    Promise.resolve({
      kind: 'body',
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ pipeline, operation: exchange.subject.operation.id })),
    });

beforeAll(async () => {
  const prefixes = headerPrefixes('x-service-', []);
  const app = createApp({
    logger: createLogger({ service: 'test', level: 'silent' }),
    metrics: { observeRequest: (_method, endpoint) => void counted.push(endpoint) },
    bodyBytesMax: { json: 1000, form: 1000 },
    slowBodies: new SlowBodies({ bytesPerSecondMin: 0, graceMs: 1000, timeoutMs: 1000 }),
    heldBytes: new HeldBytes(1_000_000),
    openStreams: new OpenStreams(),
    underWay: new RequestsUnderWay(),
    headerPrefixes: prefixes,
    requestLog: undefined,
    isDraining: () => false,
    readArrival: () => ({ address: '127.0.0.1', host: undefined, proto: 'http' }),
    pipelines: {
      unified: answer('unified'),
      model: answer('model'),
      models: answer('models'),
      proxy: answer('proxy'),
      explain: answer('explain'),
      estimate: answer('estimate'),
      tokenize: answer('tokenize'),
      explainMcp: answer('estimate'),
      explainAgent: answer('estimate'),
      prompt: answer('prompt'),
      renderPrompt: answer('renderPrompt'),
      realtime: {},
      agent: answer('agent'),
    },
    mcp: (req, res) => {
      const asked = operationIds.find((id) => operations[id].at === `${req.method} /:server/mcp`);
      counted.push(asked ?? '');
      res.end(JSON.stringify({ operation: asked }));
    },
    forwardAdmin: (_req, res) => void res.writeHead(418).end(),
    readiness: () => ({
      ready: true,
      draining: false,
      controlPlane: 'connected',
      keyPepper: 'same',
      ledger: 'taken',
    }),
  });
  server = createServer(app).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

describe('every operation is served at its address, and counted under its name', () => {
  // Sessions are opened by an upgrade, which is not for the application: test/realtime has them.
  const isSession = (id: OperationId) =>
    endpoints.some((endpoint) => endpoint.id === id && endpoint.reply === 'session');

  it.each(operationIds.filter((id) => !isSession(id)))('%s', async (id: OperationId) => {
    const { at, about } = operations[id];
    const [method = '', path = ''] = at.split(' ');
    counted.length = 0;
    const response = await fetch(url + path.replace(/:\w+/g, 'one').replace('*', 'some/path'), {
      method: method === 'ANY' ? 'PUT' : method,
      ...(method === 'GET' ? {} : { body: '{}' }),
    });
    const { operation } = (await response.json()) as { operation: EndpointOperation['id'] };
    expect(response.status).toBe(200);
    if (about === 'model') expect(operation).toBe(id);
    expect(counted).toEqual([id]);
  });
});
