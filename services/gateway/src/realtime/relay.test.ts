import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { Relay } from './relay.ts';

const bounds = { waitingBytesMax: 256 * 1024 };
const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

/** Both ends of a WebSocket: who dialled, and who answered. */
async function pair(): Promise<[WebSocket, WebSocket]> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  await once(server, 'listening');
  const dialled = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    perMessageDeflate: false,
  });
  const [[answered]] = await Promise.all([once(server, 'connection'), once(dialled, 'open')]);
  open.push(() => {
    dialled.terminate();
    answered.terminate();
    server.close();
  });
  return [dialled, answered as WebSocket];
}

it('takes no more of the caller than is on its way while a frame is judged', async () => {
  const [caller, callerHere] = await pair();
  const [upstreamHere, upstream] = await pair();
  const heard: string[] = [];
  upstream.on('message', (data) => heard.push(String(data).slice(0, 6)));
  const judging = Promise.withResolvers<boolean>();
  const relay = new Relay(callerHere, upstreamHere, bounds, {
    fromCaller: (frame) => (frame.includes('judged') ? judging.promise : true),
    fromUpstream() {},
    closed() {},
  });
  const count = 1000;
  // More than may wait: the caller is asked to pause, and to go on once it is sent.
  caller.send('large '.padEnd(bounds.waitingBytesMax + 1));
  caller.send('judged');
  for (let at = 0; at < count; at++) caller.send('after '.padEnd(16 * 1024));
  await expect.poll(() => heard).toEqual(['large ']);
  await delay(300);
  expect(relay.messages).toBeLessThan(count / 10);
  judging.resolve(true);
  await expect.poll(() => heard.length).toBe(count + 2);
  expect(heard.slice(0, 3)).toEqual(['large ', 'judged', 'after ']);
});
