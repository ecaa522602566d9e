import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpConnection, type ReplyFacts } from './http-connection.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** A server that writes exactly these bytes to each request, in pieces of a given size. */
async function serve(
  reply: string,
  pieceSize: number,
  then?: (socket: Socket) => void,
): Promise<HttpConnection> {
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('data', async () => {
      const bytes = Buffer.from(reply);
      for (let at = 0; at < bytes.length; at += pieceSize) {
        socket.write(bytes.subarray(at, at + pieceSize));
        await new Promise(setImmediate);
      }
      then?.(socket);
    });
    socket.on('error', () => undefined);
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const connection = new HttpConnection('127.0.0.1', (server.address() as AddressInfo).port);
  cleanups.push(() => new Promise((done) => server.close(done)));
  cleanups.push(() => connection.close());
  return connection;
}

const ask = (connection: HttpConnection): Promise<ReplyFacts | Error> =>
  new Promise((done) => connection.send(Buffer.from('x'), done));

const chunked =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n10\r\n, wonderful worl\r\n2;ext=1\r\nd!\r\n0\r\n\r\n';
const sized = 'HTTP/1.1 200 OK\r\nContent-Length: 25\r\n\r\nhello, wonderful world !!';

describe('HttpConnection', () => {
  for (const pieceSize of [1, 2, 3, 7, 1000]) {
    it(`reads chunked replies that arrive ${pieceSize} bytes at a time, one after another`, async () => {
      const connection = await serve(chunked, pieceSize);
      for (let i = 0; i < 2; i += 1)
        expect(await ask(connection)).toMatchObject({
          status: 200,
          bodyBytes: 23,
          tail: 'hello, wonderful world!',
        });
    });

    it(`reads sized replies that arrive ${pieceSize} bytes at a time, one after another`, async () => {
      const connection = await serve(sized, pieceSize);
      for (let i = 0; i < 2; i += 1)
        expect(await ask(connection)).toMatchObject({
          status: 200,
          bodyBytes: 25,
          tail: 'hello, wonderful world !!',
        });
    });
  }

  it('reads a reply without a length until the connection ends', async () => {
    const connection = await serve('HTTP/1.1 200 OK\r\n\r\nall of it', 100, (socket) =>
      socket.end(),
    );
    expect(await ask(connection)).toMatchObject({ status: 200, bodyBytes: 9 });
  });

  it('calls a cut reply a fault, and opens a new connection for the next', async () => {
    const connection = await serve(sized.slice(0, -3), 100, (socket) => socket.destroy());
    expect(await ask(connection)).toBeInstanceOf(Error);
    expect(await ask(connection)).toBeInstanceOf(Error);
  });

  it('reads an empty reply', async () => {
    const connection = await serve('HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\n\r\n', 100);
    expect(await ask(connection)).toMatchObject({ status: 429, bodyBytes: 0 });
  });
});
