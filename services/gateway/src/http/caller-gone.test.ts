import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { whenCallerGone } from './caller-gone.ts';

const server = createServer();
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

it('tells each of many pipelined requests once, with one listener at their connection', async () => {
  const count = 50;
  const asked: ServerResponse[] = [];
  const gone: string[] = [];
  const listeners: number[] = [];
  server.on('request', (req, res) => {
    asked.push(res);
    whenCallerGone(req, res, () => gone.push(req.url ?? ''));
    listeners.push(req.socket.listenerCount('close'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const caller = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const request = (path: number) => `GET /${path} HTTP/1.1\r\nhost: here\r\n\r\n`;
  caller.write(Array.from({ length: count }, (_, path) => request(path)).join(''));
  await expect.poll(() => asked.length).toBe(count);
  expect(Math.max(...listeners) - Math.min(...listeners)).toBe(1);
  // Who was answered is not told.
  for (const res of asked.slice(0, 3)) res.end();
  await new Promise<void>((resolve) => caller.once('data', () => resolve()));
  await expect.poll(() => asked.filter((res) => res.writableFinished).length).toBe(3);
  caller.destroy();
  const left = Array.from({ length: count - 3 }, (_, at) => `/${at + 3}`);
  await expect.poll(() => gone.toSorted()).toEqual(left.toSorted());
});
