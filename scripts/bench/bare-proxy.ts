import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Readable } from 'node:stream';
import { type Dispatcher, Pool } from 'undici';
import { relaySockets } from './relay-sockets.ts';

/**
 * The measure of what a proxy in Node costs at least: `node:http`, an undici
 * pool, JSON.parse of request and unary reply, a plain pipe for streams, and
 * nothing else. A child of `main.ts`; its arguments are the upstream's URL and a port.
 */
const pool = new Pool(new URL(process.argv[2]!).origin, {
  connections: 10_000,
  pipelining: 1,
  allowH2: false,
  headersTimeout: 0,
  bodyTimeout: 0,
});

function readAll(stream: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)));
    stream.on('error', reject);
  });
}

async function forward(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = await readAll(req);
  const request = (body.length === 0 ? {} : JSON.parse(body.toString())) as { stream?: boolean };
  const reply = await pool.request({
    method: req.method as Dispatcher.HttpMethod,
    path: req.url!,
    ...(body.length === 0 ? {} : { headers: { 'content-type': 'application/json' }, body }),
  });
  const contentType = String(reply.headers['content-type']);
  if (request.stream === true || contentType.startsWith('text/event-stream')) {
    res.writeHead(reply.statusCode, { 'content-type': contentType });
    reply.body.pipe(res);
    return;
  }
  const bytes = await readAll(reply.body);
  JSON.parse(bytes.toString());
  res.writeHead(reply.statusCode, { 'content-type': contentType, 'content-length': bytes.length });
  res.end(bytes);
}

const server = createServer((req, res) => {
  forward(req, res).catch((error: Error) => res.writeHead(502).end(error.message));
});
relaySockets(server, new URL(process.argv[2]!).origin);
server.keepAliveTimeout = 120_000;
// As many may wait to be taken as at the gateway, so that bursts measure the two and not their queues.
server.listen(Number(process.argv[3] ?? 0), '127.0.0.1', 4096, () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit(0));
