import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { inTurns, isLongForm, json } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatReply, type Scenario, startScenario } from './scenario.ts';

/** Bodies of any size flow through, both ways, in a gateway that stays as small as it was. */
let scenario: Scenario;
const closers: (() => void)[] = [];
const mebibyte = 1024 * 1024;
/** A gigabyte in the full form (`npm run abuse`); a twelfth of that is still far more than may be held. */
const pieces = isLongForm ? 1024 : 84;
const large = pieces * mebibyte;
const growthMax = 50 * mebibyte;
const timeoutMs = 1500;

beforeAll(async () => {
  scenario = await startScenario({
    processes: ['gateway'],
    environment: {
      gateway: { REQUEST_TIMEOUT: String(timeoutMs), STREAM_IDLE_TIMEOUT: String(timeoutMs) },
    },
  });
  await warmUp();
});
afterEach(() => {
  for (const close of closers.splice(0)) close();
});
afterAll(() => scenario.stop());

/** What the first requests compile and open is not the large body's doing. */
async function warmUp(): Promise<void> {
  scenario.upstream.handle(json(200, chatReply));
  for (let count = 0; count < 100; count++) await (await scenario.chat()).arrayBuffer();
}

/** Resident memory of the gateway, in bytes. */
function residentBytes(): number {
  const status = readFileSync(`/proc/${scenario.stack.part('gateway').pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}

/** The most that the gateway grew by while work went on. */
async function growthDuring(work: () => Promise<void>): Promise<number> {
  const before = residentBytes();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, residentBytes())), 10);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return Math.max(most, residentBytes()) - before;
}

/** An upstream that is told of a request before its body. */
async function upstreamThat(
  answer: (req: IncomingMessage, res: ServerResponse) => void,
): Promise<string> {
  const server = createServer((req, res) => {
    req.on('error', () => {});
    res.on('error', () => {});
    answer(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return `http://127.0.0.1:${port}/v1`;
}

/** A pass-through request whose body and answer are the test's to pace. */
function open(method: string, host: string, headers: Record<string, string | number> = {}) {
  const asked = request(`${scenario.stack.gatewayUrls[0]}/v1/files/1`, {
    method,
    agent: false,
    headers: {
      'x-service-api-key': scenario.stack.credentials.workspace_key,
      'x-service-provider': 'openai',
      'x-service-custom-host': host,
      authorization: 'Bearer sk-upstream',
      'content-type': 'application/octet-stream',
      ...headers,
    },
  });
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    asked.on('response', resolve);
    asked.on('error', reject);
  });
  // Whoever waits for the answer learns of its failure.
  response.catch(() => {});
  closers.push(() => asked.destroy());
  return { asked, response };
}

/** Written over and over, so that the test itself makes nothing. */
const piece = Buffer.alloc(mebibyte);
for (let at = 0; at < piece.length; at += 4)
  piece.writeUInt32LE(Math.imul(at, 2_654_435_761) >>> 0, at);

function checksumOfPieces(count: number): number {
  let sum = 0;
  for (let index = 0; index < count; index++) sum = crc32(piece, sum);
  return sum;
}

interface Writes {
  write(chunk: Buffer): boolean;
  once(event: 'drain' | 'close', listener: () => void): unknown;
  off(event: 'drain' | 'close', listener: () => void): unknown;
  destroyed: boolean;
}

/** Writes so many pieces as fast as they are taken; ends early when the other side has gone. */
async function pour(
  pieces: number,
  into: Writes,
  onSent: (bytes: number) => void = () => {},
): Promise<void> {
  for (let sent = 1; sent <= pieces && !into.destroyed; sent++) {
    const goesOn = into.write(piece);
    onSent(sent * piece.length);
    if (!goesOn) await drained(into);
  }
}

function drained(into: Writes): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      into.off('drain', done);
      into.off('close', done);
      resolve();
    };
    into.once('drain', done);
    into.once('close', done);
  });
}

/** Counts and sums up what arrives, without keeping it. */
function measured(from: IncomingMessage): { bytes: number; sum: number; end: Promise<void> } {
  const seen = { bytes: 0, sum: 0, end: Promise.resolve() };
  from.on('data', (chunk: Buffer) => {
    seen.bytes += chunk.length;
    seen.sum = crc32(chunk, seen.sum);
  });
  seen.end = new Promise((resolve, reject) => {
    from.once('end', resolve);
    from.once('error', reject);
  });
  return seen;
}

const lengths: [string, Record<string, string | number>][] = [
  ['with a content-length', { 'content-length': large }],
  ['in chunks', { 'transfer-encoding': 'chunked' }],
];

describe('a body far larger than what is held, through pass-through', () => {
  const sum = checksumOfPieces(pieces);
  // Each begins in a fresh process: what one has grown by would hide the growth of the next.
  beforeEach(async () => {
    await scenario.stack.part('gateway').stop();
    await scenario.stack.part('gateway').start();
    await warmUp();
  });

  // One of the two each in the suite.
  it.each(inTurns(lengths, 2, 0))('up, %s', async (_name, headers) => {
    let seen: ReturnType<typeof measured> | undefined;
    let declared: string | undefined;
    const host = await upstreamThat((req, res) => {
      declared = req.headers['content-length'];
      seen = measured(req);
      void seen.end.then(() => res.end('{}'));
    });
    const growth = await growthDuring(async () => {
      const { asked, response } = open('PUT', host, headers);
      await pour(pieces, asked);
      asked.end();
      const answer = await response;
      expect(answer.statusCode).toBe(200);
      await measured(answer).end;
    });
    expect(seen).toMatchObject({ bytes: large, sum });
    expect(declared).toBe(headers['content-length']?.toString());
    expect(growth).toBeLessThan(growthMax);
  });

  it.each(inTurns(lengths, 2, 1))('down, %s', async (_name, headers) => {
    const host = await upstreamThat((_req, res) => {
      res.writeHead(200, { 'content-type': 'application/octet-stream', ...headers });
      void pour(pieces, res).then(() => res.end());
    });
    const growth = await growthDuring(async () => {
      const { asked, response } = open('GET', host);
      asked.end();
      const answer = await response;
      expect(answer.headers['content-length']).toBe(headers['content-length']?.toString());
      const seen = measured(answer);
      await seen.end;
      expect(seen).toMatchObject({ bytes: large, sum });
    });
    expect(growth).toBeLessThan(growthMax);
  });
});

/** Far above what sockets and kernels hold on the way, and less than would be poured. */
const onTheWayMax = 64 * mebibyte;
const poured = isLongForm ? 256 : 96;

describe('a slow side', () => {
  it('a caller who does not read stops the provider, and is not cut for it', async () => {
    let sent = 0;
    const host = await upstreamThat((_req, res) => {
      void pour(poured, res, (bytes) => (sent = bytes)).then(() => res.end());
    });
    const growth = await growthDuring(async () => {
      const { asked, response } = open('GET', host);
      asked.end();
      const answer = await response;
      answer.pause();
      await delay(2 * timeoutMs);
      expect(sent).toBeLessThan(onTheWayMax);
      const seen = measured(answer);
      answer.resume();
      await seen.end;
      expect(seen).toMatchObject({ bytes: poured * mebibyte, sum: checksumOfPieces(poured) });
    });
    expect(growth).toBeLessThan(growthMax);
  });

  it('a provider that reads slowly stops the caller, and has longer than REQUEST_TIMEOUT', async () => {
    let received = 0;
    const startedAt = performance.now();
    const host = await upstreamThat((req, res) => {
      req.on('data', (chunk: Buffer) => {
        received += chunk.length;
        // In no hurry until the caller has filled what there is to fill on the way.
        if (performance.now() - startedAt > 2 * timeoutMs) return;
        req.pause();
        setTimeout(() => req.resume(), 4);
      });
      req.on('end', () => res.end('{}'));
    });
    let onTheWay = 0;
    const growth = await growthDuring(async () => {
      const { asked, response } = open('PUT', host, { 'transfer-encoding': 'chunked' });
      await pour(poured, asked, (bytes) => (onTheWay = Math.max(onTheWay, bytes - received)));
      asked.end();
      expect((await response).statusCode).toBe(200);
    });
    expect(performance.now() - startedAt).toBeGreaterThan(2 * timeoutMs);
    expect(received).toBe(poured * mebibyte);
    expect(onTheWay).toBeLessThan(onTheWayMax);
    expect(growth).toBeLessThan(growthMax);
  });

  it('a caller who pauses within an upload is not the provider’s fault', async () => {
    let seen: ReturnType<typeof measured> | undefined;
    const host = await upstreamThat((req, res) => {
      seen = measured(req);
      void seen.end.then(() => res.end('{}'));
    });
    const { asked, response } = open('PUT', host, { 'content-length': 2 * mebibyte });
    asked.write(piece);
    await delay(2 * timeoutMs);
    asked.end(piece);
    expect((await response).statusCode).toBe(200);
    expect(seen).toMatchObject({ bytes: 2 * mebibyte, sum: checksumOfPieces(2) });
  });

  it('a provider that stops reading has REQUEST_TIMEOUT from then on', async () => {
    const host = await upstreamThat((req) => void req.once('data', () => req.pause()));
    const { asked, response } = open('PUT', host, { 'content-length': large });
    const startedAt = performance.now();
    void pour(1024, asked);
    const answer = await response;
    expect(answer.statusCode).toBe(408);
    expect(performance.now() - startedAt).toBeGreaterThan(timeoutMs);
    const body = await new Response(answer as unknown as ReadableStream).json();
    expect(body).toMatchObject({ error: { code: 'upstream.timeout' } });
  });

  it('a provider that does not answer a whole upload has REQUEST_TIMEOUT from its end on', async () => {
    const host = await upstreamThat((req) => void req.resume());
    const { asked, response } = open('PUT', host, { 'content-length': mebibyte });
    asked.end(piece);
    expect((await response).statusCode).toBe(408);
  });
});

describe('an early end', () => {
  it.each(lengths)(
    'a provider that refuses an upload %s early is heard',
    async (_name, headers) => {
      const host = await upstreamThat((req, res) => {
        req.once('data', () => {
          res.writeHead(413, { 'content-type': 'text/plain' });
          res.end('too much');
          // Who closes with the rest unread resets the connection, and may take its own answer along.
          req.resume();
        });
      });
      const growth = await growthDuring(async () => {
        const { asked, response } = open('PUT', host, headers);
        void pour(1024, asked);
        const answer = await response;
        expect(answer.statusCode).toBe(413);
        expect(await new Response(answer as unknown as ReadableStream).text()).toBe('too much');
      });
      expect(growth).toBeLessThan(growthMax);
    },
  );

  it('a provider that begins to answer within the upload, and ends long after it, is heard whole', async () => {
    const host = await upstreamThat((req, res) => {
      req.once('data', () => res.write('begun, '));
      req.resume();
      req.once('end', () => setTimeout(() => res.end('and ended'), 300));
    });
    const { asked, response } = open('PUT', host, { 'transfer-encoding': 'chunked' });
    asked.write(piece);
    const answer = await response;
    asked.end(piece);
    expect(await new Response(answer as unknown as ReadableStream).text()).toBe('begun, and ended');
  });

  it('a caller who leaves an upload half-way takes the provider’s connection along', async () => {
    const gone = Promise.withResolvers<void>();
    let received = 0;
    const host = await upstreamThat((req) => {
      req.on('data', (chunk: Buffer) => (received += chunk.length));
      req.once('close', () => gone.resolve());
    });
    const { asked } = open('PUT', host, { 'content-length': large });
    await pour(100, asked);
    asked.destroy();
    await gone.promise;
    expect(received).toBeGreaterThan(0);
    expect(received).toBeLessThanOrEqual(100 * mebibyte);
    expect((await scenario.chat()).status).toBe(200);
  });

  it('a caller who leaves a download half-way ends it at the provider', async () => {
    const gone = Promise.withResolvers<void>();
    let sent = 0;
    const host = await upstreamThat((_req, res) => {
      res.once('close', () => gone.resolve());
      void pour(1024, res, (bytes) => (sent = bytes));
    });
    const { asked, response } = open('GET', host);
    asked.end();
    (await response).once('data', () => asked.destroy());
    await gone.promise;
    expect(sent).toBeLessThan(large);
    expect((await scenario.chat()).status).toBe(200);
  });
});
