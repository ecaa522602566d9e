import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { ChunkedBody } from './chunked-body.ts';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function answerOf(listener: RequestListener, version = '1.1', method = 'GET') {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write(`${method} / HTTP/${version}\r\nhost: a\r\nconnection: close\r\n\r\n`);
  const [head = '', ...rest] = (await text(socket)).split('\r\n\r\n');
  return { head: head.toLowerCase(), body: rest.join('\r\n\r\n') };
}

const writeAll =
  (...pieces: string[]): RequestListener =>
  (_req, res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const body = new ChunkedBody(res);
    for (const piece of pieces) body.write(Buffer.from(piece));
    body.end();
  };

describe('a body of unknown length', () => {
  it('is framed as HTTP/1.1 wants it, an empty piece ending nothing', async () => {
    const { head, body } = await answerOf(writeAll('data: a\n\n', '', 'é'.repeat(10)));
    expect(head).toContain('transfer-encoding: chunked');
    expect(body).toBe(`9\r\ndata: a\n\n\r\n14\r\n${'é'.repeat(10)}\r\n0\r\n\r\n`);
  });

  it('has large pieces too', async () => {
    const large = 'x'.repeat(100_000);
    const { body } = await answerOf(writeAll(large, 'end'));
    expect(body).toBe(`186a0\r\n${large}\r\n3\r\nend\r\n0\r\n\r\n`);
  });

  it('ends with the connection for HTTP/1.0', async () => {
    const { head, body } = await answerOf(writeAll('one', '', 'two'), '1.0');
    expect(head).not.toContain('transfer-encoding');
    expect(body).toBe('onetwo');
  });

  it('is left out where the method has none', async () => {
    const { body } = await answerOf(writeAll('one'), '1.1', 'HEAD');
    expect(body).toBe('');
  });

  it('has no last chunk when it is cut', async () => {
    const { body } = await answerOf((_req, res) => {
      res.writeHead(200);
      new ChunkedBody(res).write(Buffer.from('half'));
      setTimeout(() => res.destroy(), 50);
    });
    expect(body).toBe('4\r\nhalf\r\n');
  });

  it('tells a slow caller from a quick one, and when to go on', async () => {
    const drained = Promise.withResolvers<void>();
    const { body } = await answerOf((_req, res) => {
      res.writeHead(200);
      const chunks = new ChunkedBody(res);
      let more = true;
      while (more) more = chunks.write(Buffer.alloc(10_000, 'x'));
      res.once('drain', () => {
        drained.resolve();
        chunks.end();
      });
    });
    await drained.promise;
    expect(body.endsWith('0\r\n\r\n')).toBe(true);
  });
});
