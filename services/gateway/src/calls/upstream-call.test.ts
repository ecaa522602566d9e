import { createServer, type Socket } from 'node:net';
import { GatewayError } from '@sluice/errors';
import { Pool } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CallOptions, UpstreamCall } from './upstream-call.ts';

/** How each test's upstream answers a connection that has asked for something. */
let answer: (socket: Socket, asked: string) => void;
let asked: string[];
const sockets = new Set<Socket>();
let pool: Pool;
let close: () => void;
beforeEach(async () => {
  asked = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (data) => {
      asked.push(data.toString());
      answer(socket, data.toString());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 });
  close = () => server.close();
});
afterEach(async () => {
  await pool.destroy();
  for (const socket of sockets) socket.destroy();
  close();
});

function start(over: Partial<CallOptions> = {}): UpstreamCall {
  return new UpstreamCall(pool, {
    path: '/',
    method: 'GET',
    headers: {},
    body: null,
    timeoutMs: 1000,
    idleTimeoutMs: 1000,
    signal: new AbortController().signal,
    ...over,
  });
}
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: GatewayError) => error.code,
  );
const ok = (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

describe('UpstreamCall', () => {
  it('tells who still waits for one of so many connections after the time for that, and is not made where the line is full', async () => {
    let first: Socket | undefined;
    answer = (socket) => {
      first ??= socket;
    };
    const place = { waitMs: 30, isTaken: () => pool.stats.queued > 0, isFull: () => false };
    const open = start({ place });
    await expect.poll(() => first).toBeDefined();
    const waiting = start({ place });
    expect(await codeOf(waiting.head)).toBe('upstream.saturated');
    const full = start({ place: { ...place, isFull: () => true } });
    expect(await codeOf(full.head)).toBe('upstream.saturated');
    first?.write(ok('x'));
    await open.head;
    expect((await open.readAll(10)).toString()).toBe('x');
    // The one in whose place nobody waits any more is asked for nothing.
    answer = (socket) => socket.write(ok('y'));
    const next = start({ place });
    await next.head;
    expect(asked).toHaveLength(2);
  });

  it('is not made for a caller who has already left', async () => {
    answer = (socket) => socket.write(ok('x'));
    expect(await codeOf(start({ signal: AbortSignal.abort() }).head)).toBe('request.aborted');
    const next = start();
    await next.head;
    expect((await next.readAll(10)).toString()).toBe('x');
    expect(asked).toHaveLength(1);
  });

  it('ends its connection when the caller leaves, also while paused', async () => {
    answer = (socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\n${'x'.repeat(500_000)}`);
    const abort = new AbortController();
    const call = start({ signal: abort.signal });
    await call.head;
    const ended = new Promise<string>((resolve) =>
      call.consume({
        data: () => false,
        end: () => resolve('end'),
        fail: (error) => resolve(error.code),
      }),
    );
    abort.abort();
    expect(await ended).toBe('request.aborted');
    await expect.poll(() => sockets.size).toBe(0);
  });

  it.each([
    ['is over', (body: string) => ok(body)],
    ['goes on', (body: string) => `HTTP/1.1 200 OK\r\ncontent-length: 999999\r\n\r\n${body}`],
  ])(
    'gives no further piece to who leaves in the middle of what is here, of one that %s',
    async (_name, reply) => {
      answer = (socket) => socket.write(reply('x'.repeat(200_000)));
      const call = start();
      await call.head;
      // All of it waits, in several pieces.
      await new Promise((resolve) => setTimeout(resolve, 50));
      const heard: string[] = [];
      call.consume({
        data: () => {
          heard.push('piece');
          call.abort(new GatewayError('upstream.invalid_response'));
          return true;
        },
        end: () => heard.push('end'),
        fail: ({ code }) => heard.push(code),
      });
      await new Promise((resolve) => setTimeout(resolve, 20));
      expect(heard).toEqual(['piece', 'upstream.invalid_response']);
    },
  );

  it('a late resume does not wake the next reply on the same connection', async () => {
    answer = (socket, text) =>
      socket.write(
        text.startsWith('GET /first')
          ? ok('first')
          : `HTTP/1.1 200 OK\r\ncontent-length: 3000000\r\n\r\n${'x'.repeat(3_000_000)}`,
      );
    const first = start({ path: '/first' });
    await first.head;
    await first.readAll(10);
    const second = start({ path: '/second' });
    await second.head;
    let received = 0;
    second.consume({
      data: (chunk) => {
        received += chunk.length;
        return false;
      },
      end: () => {},
      fail: () => {},
    });
    // What was read before the pause still comes; then it stands still.
    let paused = -1;
    while (paused !== received || received === 0) {
      paused = received;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    first.resume();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(received).toBe(paused);
  });

  it.each([
    ['all it can get', () => true],
    [
      'more in the same turn that it was full',
      (call: UpstreamCall) => {
        process.nextTick(() => call.resume());
        return false;
      },
    ],
  ])('an event stream gives others a turn, though its caller takes %s', async (_, take) => {
    const bytes = 4 * 1024 * 1024;
    answer = (socket) =>
      socket.write(
        `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${bytes}\r\n\r\n${'\n'.repeat(bytes)}`,
      );
    const call = start();
    await call.head;
    let received = 0;
    let thisTurn = 0;
    let mostInATurn = 0;
    const watch = () => {
      mostInATurn = Math.max(mostInATurn, thisTurn);
      thisTurn = 0;
      if (received < bytes) setImmediate(watch);
    };
    watch();
    await new Promise<void>((resolve, reject) =>
      call.consume({
        data: (chunk) => {
          received += chunk.length;
          thisTurn += chunk.length;
          // An upstream woken from a pause begins with an empty piece.
          return chunk.length === 0 || take(call);
        },
        end: resolve,
        fail: reject,
      }),
    );
    expect(received).toBe(bytes);
    // What is held from before it was consumed, and the last piece that ends a turn.
    expect(mostInATurn).toBeLessThanOrEqual(512 * 1024);
  });

  it('a reply that stays silent is given up, unless we asked it to wait', async () => {
    answer = (socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 999999\r\n\r\n${'x'.repeat(1000)}`);
    const silent = start({ idleTimeoutMs: 50 });
    await silent.head;
    expect(await codeOf(silent.readAll(10_000_000))).toBe('upstream.stream_stalled');

    const paused = start({ idleTimeoutMs: 50 });
    await paused.head;
    let failed = false;
    paused.consume({
      data: () => false,
      end: () => {},
      fail: () => {
        failed = true;
      },
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(failed).toBe(false);
    paused.resume();
    await expect.poll(() => failed).toBe(true);
  });

  it.each([
    ['no answer', () => {}, 'upstream.timeout'],
    ['a reset', (socket: Socket) => socket.resetAndDestroy(), 'upstream.reset'],
    ['no HTTP', (socket: Socket) => socket.end('\0\0\r\n\r\n'), 'upstream.invalid_response'],
  ] as const)('%s', async (_name, given, code) => {
    answer = given;
    expect(await codeOf(start({ timeoutMs: 200 }).head)).toBe(code);
  });

  it.each([
    ['a header', { headers: { authorization: 'Bearer a\r\nb' } }],
    ['a path', { path: '/a b' }],
  ])('%s that HTTP cannot carry is not the provider’s fault, and not told', async (_name, over) => {
    const error = await start(over).head.catch((caught: GatewayError) => caught);
    expect(error).toMatchObject({ code: 'request.invalid_header', status: 400 });
    expect(String((error as GatewayError).message)).not.toContain('Bearer');
    expect(asked).toHaveLength(0);
  });

  it('a reply larger than may be held is refused, and its connection ended', async () => {
    answer = (socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\n${'x'.repeat(2000)}`);
    const call = start();
    await call.head;
    expect(await codeOf(call.readAll(1000))).toBe('upstream.response_too_large');
    await expect.poll(() => sockets.size).toBe(0);
  });

  it.each([
    ['of a known length', ['content-length: 9\r\n\r\none', 'two', 'end']],
    ['in one chunk', ['transfer-encoding: chunked\r\n\r\n9\r\none', 'two', 'end\r\n0\r\n\r\n']],
  ])('what comes slowly is waited for by whoever takes it in pieces: %s', async (_how, parts) => {
    const waiting = [...parts];
    let sendNext = () => {};
    answer = (socket) => {
      sendNext = () => {
        const part = waiting.shift();
        // Whoever had the piece before has asked for this one by then.
        if (part !== undefined) setTimeout(() => socket.write(part), 20);
      };
      socket.write('HTTP/1.1 200 OK\r\n');
      sendNext();
    };
    const call = start();
    await call.head;
    const pieces: string[] = [];
    for await (const piece of call.pieces()) {
      pieces.push(piece.toString());
      // Whoever asks again and again for what is not there lets nothing come.
      if (pieces.length > 99) break;
      if (piece.length > 0) sendNext();
    }
    expect(pieces).toEqual(['one', 'two', 'end']);
  });
});
