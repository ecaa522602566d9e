import { readdirSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Socket } from 'node:net';
import { isLongForm, json, sse, waitMs } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openRaw, type RawConnection } from './raw-http.ts';
import {
  chatBody,
  chatReply,
  ledgerHolds,
  type Scenario,
  settledTotal,
  startScenario,
} from './scenario.ts';

/** How requests end when callers are slow, leave, or the gateway itself goes. */

let scenario: Scenario;
let origin: string;
const open: RawConnection[] = [];
const closers: (() => void)[] = [];
const streamBody = JSON.stringify({ ...chatBody, stream: true });
const chunk = (text: string) => ({
  id: 'c',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content: text }, finish_reason: null }],
});
const mebibyte = 1024 * 1024;
/** Of a body that passes; far more than may be held. The suite goes with less than `npm run test:long`. */
const passingMb = isLongForm ? 300 : 120;
const aborted = { rounds: isLongForm ? 5 : 2, each: 100 };
/** Read when a part starts. */
const environment = { gateway: { DRAIN_TIMEOUT: '20000', SHUTDOWN_DELAY: '500' } };

beforeAll(async () => {
  scenario = await startScenario({
    promptLedger: true,
    processes: ['gateway'],
    environment,
  });
  origin = scenario.stack.gatewayUrls[0] ?? '';
});
afterEach(() => {
  for (const connection of open.splice(0)) connection.end();
  for (const close of closers.splice(0)) close();
});
afterAll(() => scenario.stop());

const gatewayPid = () => scenario.stack.part('gateway').pid as number;

/** Resident memory of the gateway, in bytes. */
function residentBytes(): number {
  const pages = readFileSync(`/proc/${gatewayPid()}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(pages)?.[1]) * 1024;
}

function openFiles(): number {
  return readdirSync(`/proc/${gatewayPid()}/fd`).length;
}

function requestText(line: string, host: string, headers: Record<string, string>): string {
  const all = {
    host: 'gateway',
    'x-service-api-key': scenario.stack.credentials.workspace_key,
    'x-service-provider': 'openai',
    'x-service-custom-host': host,
    authorization: 'Bearer sk-upstream',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

/** A TCP upstream that counts its connections. */
async function tcpUpstream(answer: (socket: Socket, first: Buffer) => void) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', (first) => answer(socket, first));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, sockets };
}

async function connectRaw(): Promise<RawConnection> {
  const connection = await openRaw(origin);
  open.push(connection);
  return connection;
}

/** Watches memory while work goes on; the most it grew by, in bytes. */
async function growthDuring(work: () => Promise<void>): Promise<number> {
  const before = residentBytes();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, residentBytes())), 20);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return Math.max(most, residentBytes()) - before;
}

describe('memory', () => {
  it.each([
    ['a pass-through', 'GET /v1/files/1/content', 'application/octet-stream', ''],
    ['a stream', 'POST /v1/chat/completions', 'text/event-stream', streamBody],
  ])(
    `a caller who reads slowly holds back %s of ${passingMb} MB instead of filling the gateway`,
    async (_name, line, type, body) => {
      const event = Buffer.from(`data: ${JSON.stringify(chunk('x'.repeat(10_000)))}\n\n`);
      const piece = Buffer.concat(Array.from({ length: 100 }, () => event));
      const total = passingMb * mebibyte;
      let sent = 0;
      const upstream = await tcpUpstream((socket) => {
        sent = 0;
        socket.write(`HTTP/1.1 200 OK\r\ncontent-type: ${type}\r\nconnection: close\r\n\r\n`);
        const push = () => {
          while (sent < total) {
            sent += piece.length;
            if (!socket.write(piece)) return void socket.once('drain', push);
          }
          socket.end('data: [DONE]\n\n');
        };
        push();
      });
      /** Node's own client; while it is paused the kernel's buffers fill and stay full. */
      const ask = async () => {
        const connection = await connectRaw();
        connection.socket.removeAllListeners('data');
        connection.socket.pause();
        await connection.write(
          requestText(line, upstream.url, {
            'content-type': 'application/json',
            ...(body === '' ? {} : { 'content-length': String(body.length) }),
          }) + body,
        );
        await expect.poll(() => sent).toBeGreaterThan(0);
        return connection.socket;
      };
      const readAll = async (socket: Socket) => {
        let received = 0;
        socket.on('data', (data) => (received += data.length));
        socket.resume();
        await expect.poll(() => received).toBeGreaterThanOrEqual(total);
      };
      // So many bytes leave garbage, whoever reads them; what counts is what a slow reader adds.
      await readAll(await ask());
      sent = 0;
      const growth = await growthDuring(async () => {
        const socket = await ask();
        // Until it stops: nothing moves while the caller does not read.
        let last = -1;
        while (last !== sent) {
          last = sent;
          await new Promise((resolve) => setTimeout(resolve, 300));
        }
        expect(sent).toBeLessThan(100 * mebibyte);
        await readAll(socket);
      });
      expect(growth).toBeLessThan(60 * mebibyte);
    },
  );

  it(`an upload of ${passingMb} MB passes through without being held`, async () => {
    let received = 0;
    const server = createHttpServer((req, res) => {
      req.on('data', (data: Buffer) => (received += data.length));
      req.on('end', () => res.end('{}'));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as { port: number };
    const piece = Buffer.alloc(mebibyte, 7);
    const growth = await growthDuring(async () => {
      const connection = await connectRaw();
      await connection.write(
        requestText('PUT /v1/uploads/1', `http://127.0.0.1:${port}/v1`, {
          'content-type': 'application/octet-stream',
          'content-length': String(passingMb * piece.length),
        }),
      );
      for (let sent = 0; sent < passingMb; sent++) await connection.write(piece);
      expect((await connection.reply({ timeoutMs: waitMs })).status).toBe(200);
    });
    expect(received).toBe(passingMb * mebibyte);
    expect(growth).toBeLessThan(60 * mebibyte);
  });
});

describe('callers who leave', () => {
  const count = aborted.rounds * aborted.each;

  it(`${count} aborted streams leave ${count} records, no connection to the upstream and no open file`, async () => {
    scenario.upstream.handle(json(200, chatReply));
    await (await scenario.chat()).arrayBuffer();
    const before = (await settledTotal(scenario)) + count;
    const files = openFiles();
    const upstream = await tcpUpstream((socket) => {
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: ${JSON.stringify(chunk('a'))}\n\n`,
      );
      const timer = setInterval(
        () => socket.write(`data: ${JSON.stringify(chunk('x'.repeat(5000)))}\n\n`),
        5,
      );
      socket.on('close', () => clearInterval(timer));
    });
    for (let round = 0; round < aborted.rounds; round++)
      await Promise.all(
        Array.from({ length: aborted.each }, async (_, index) => {
          const connection = await openRaw(origin);
          const isProxy = index % 2 === 0;
          // A third never reads: the stream is paused when its caller leaves.
          if (index % 3 === 0) connection.socket.pause();
          await connection.write(
            requestText(`POST /v1/${isProxy ? 'proxy/' : ''}chat/completions`, upstream.url, {
              'content-type': 'application/json',
              'content-length': String(streamBody.length),
            }) + streamBody,
          );
          // Some leave before the head, some in the middle.
          await new Promise((resolve) => setTimeout(resolve, (index % 10) * 30));
          connection.end();
        }),
      );
    await expect.poll(() => upstream.sockets.size).toBe(0);
    await ledgerHolds(scenario, before);
    await expect.poll(openFiles).toBeLessThan(files + 10);
  });

  it('an upload left half-way is a caller gone, not a fault of the provider', async () => {
    const upstream = await tcpUpstream(() => {});
    const before = await settledTotal(scenario);
    const connection = await connectRaw();
    await connection.write(
      requestText('POST /v1/files', upstream.url, {
        'content-type': 'application/octet-stream',
        'content-length': '1000000',
      }) + 'x'.repeat(1000),
    );
    await expect.poll(() => upstream.sockets.size).toBe(1);
    connection.end();
    await expect.poll(() => upstream.sockets.size).toBe(0);
    await ledgerHolds(scenario, before + 1);
    expect(scenario.stack.part('gateway').stderr()).toContain('"error_code":"request.aborted"');
  });
});

/** As autoscalers read it. */
async function openStreams(): Promise<number> {
  const metrics = await fetch(scenario.stack.gatewayMetricsUrl).then((answer) => answer.text());
  return Number(/^sluice_open_streams\{.*\} (\d+)$/m.exec(metrics)?.[1]);
}

describe('SIGTERM', () => {
  const longStream = (events: number, delayMs: number) =>
    sse([...Array.from({ length: events }, () => chunk('x')), '[DONE]'], { delayMs });

  it('lets open streams end, and ends soon after them', async () => {
    const before = await settledTotal(scenario);
    scenario.upstream.handle(longStream(10, 100));
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => scenario.chat({ body: { ...chatBody, stream: true } })),
    );
    await expect.poll(openStreams).toBe(5);
    const stopped = scenario.stack.part('gateway').stop();
    // Load balancers are told before the port closes, and what they still send is served.
    const readiness = () => fetch(`${origin}/health/ready`).then(({ status }) => status);
    await expect.poll(readiness, { interval: 10 }).toBe(503);
    const late = await scenario.chat({ body: { ...chatBody, stream: true } });
    expect(late.headers.get('connection')).toBe('close');
    expect(await late.text()).toContain('[DONE]');
    const texts = await Promise.all(responses.map((response) => response.text()));
    for (const text of texts) expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    const endedAt = performance.now();
    await stopped;
    // The drain's limit is far later: the callers' idle connections do not hold it up.
    expect(performance.now() - endedAt).toBeLessThan(10_000);
    await scenario.stack.part('gateway').start();
    await ledgerHolds(scenario, before + 6);
  });

  it('ends streams that do not end in time, and keeps their records', async () => {
    await scenario.stack.part('gateway').stop();
    environment.gateway.DRAIN_TIMEOUT = '1500';
    await scenario.stack.part('gateway').start();
    const before = await settledTotal(scenario);
    // A minute, if they were let.
    scenario.upstream.handle(longStream(600, 100));
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => scenario.chat({ body: { ...chatBody, stream: true } })),
    );
    const startedAt = performance.now();
    const stopped = scenario.stack.part('gateway').stop();
    const outcomes = await Promise.allSettled(responses.map((response) => response.text()));
    for (const outcome of outcomes)
      expect(outcome.status === 'fulfilled' && outcome.value.includes('[DONE]')).toBe(false);
    await stopped;
    expect(performance.now() - startedAt).toBeLessThan(20_000);
    await scenario.stack.part('gateway').start();
    await ledgerHolds(scenario, before + 5);
  });
});
