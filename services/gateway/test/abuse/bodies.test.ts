import { createServer, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { json } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chatBody, chatReply, errorOf, type Scenario, startScenario } from '../scenario.ts';
import { type Bystander, longestBusyDuring, startBystander } from './bystander.ts';

/** Large, slow and shredded bodies, of callers and of hosts that callers name. */
let scenario: Scenario;
let bystander: Bystander;
let pid: number | undefined;
const closers: (() => void)[] = [];
const mebibyte = 1024 * 1024;
/** What the gateway may work while another caller waits, ms; the attacks kept it for seconds. */
const stallMs = 250;

beforeAll(async () => {
  scenario = await startScenario({
    processes: ['gateway'],
    environment: {
      gateway: {
        // A crash is what would be seen here, were there one.
        NODE_OPTIONS: '--max-old-space-size=256',
        REQUEST_BODY_GRACE: '400',
        REQUEST_BODY_RATE_MIN: '1000',
        REQUEST_BODY_TIMEOUT: '3000',
        HELD_BODY_BYTES_MAX: String(24 * mebibyte),
      },
    },
  });
  pid = scenario.stack.part('gateway').pid;
  bystander = await startBystander(scenario);
});
beforeEach(() => scenario.upstream.handle(json(200, chatReply)));
afterEach(() => {
  for (const close of closers.splice(0)) close();
});
afterAll(async () => {
  expect(scenario.stack.part('gateway').pid).toBe(pid);
  await bystander.stop();
  await scenario.stop();
});

const worstWait = (work: () => Promise<unknown>) => longestBusyDuring(bystander, work);

/** An upstream of the caller's own. */
async function hostThat(answer: (res: ServerResponse) => void): Promise<string> {
  const server = createServer((req, res) => {
    req.resume();
    req.on('end', () => answer(res));
    res.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/v1`;
}

function replyOf(bytes: Buffer): (res: ServerResponse) => void {
  return (res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end(bytes);
  };
}

const objects = (bytes: number) =>
  Buffer.from(
    `{"id":"x","object":"list","data":[${'{},'.repeat(bytes / 3)}{}],"usage":{"prompt_tokens":1,"total_tokens":1}}`,
  );

describe('a reply of a host that the caller names', () => {
  it('of millions of values passes unread where the format is the caller’s', async () => {
    const bytes = objects(12 * mebibyte);
    const host = await hostThat(replyOf(bytes));
    let got: Buffer | undefined;
    const waited = await worstWait(async () => {
      const response = await scenario.call('/v1/embeddings', {
        host,
        body: { model: 'm', input: 'x' },
      });
      expect(response.status).toBe(200);
      got = Buffer.from(await response.arrayBuffer());
    });
    expect(got?.equals(bytes)).toBe(true);
    expect(waited).toBeLessThan(stallMs);
  });

  it('larger than what is read passes unread, byte for byte', async () => {
    const bytes = objects(40 * mebibyte);
    const host = await hostThat(replyOf(bytes));
    let got: Buffer | undefined;
    const waited = await worstWait(async () => {
      const response = await scenario.chat({ host });
      expect(response.status).toBe(200);
      got = Buffer.from(await response.arrayBuffer());
    });
    expect(got?.equals(bytes)).toBe(true);
    expect(waited).toBeLessThan(stallMs);
  });

  it('is refused where it has to be translated', async () => {
    const config = (bytes: Buffer) => hostThat(replyOf(bytes));
    for (const [bytes, what] of [
      [objects(12 * mebibyte), 'values'],
      [objects(20 * mebibyte), 'bytes'],
    ] as const) {
      const host = await config(bytes);
      const refused = await errorOf(
        await scenario.call('/v1/messages', {
          host,
          body: { model: 'm', max_tokens: 5, messages: chatBody.messages },
        }),
      );
      expect(refused.status, what).toBe(502);
      expect(refused.message, what).toContain(what);
    }
  });

  it('in pieces of one byte takes little more memory than it has bytes', async () => {
    const text = `{"id":"x","pad":"${'x'.repeat(mebibyte)}","choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`;
    const host = await hostThat((res) => {
      res.writeHead(200, { 'content-type': 'application/json' });
      shred(res, text);
    });
    const replies = await Promise.all([1, 2].map(() => scenario.chat({ host })));
    for (const reply of replies) expect((await reply.text()).length).toBe(text.length);
  });
});

/** As so many chunks of one byte, a thousand with each write. */
function shred(res: ServerResponse, text: string): void {
  const { socket } = res;
  if (socket === null) return;
  res.flushHeaders();
  let at = 0;
  const write = (): void => {
    while (at < text.length) {
      const piece = text.slice(at, at + 10_000);
      at += piece.length;
      if (!socket.write(piece.replace(/[\s\S]/g, '1\r\n$&\r\n')))
        return void socket.once('drain', write);
    }
    socket.write('0\r\n\r\n');
  };
  write();
}

describe('a request body', () => {
  /** Sends a head and what follows by hand. */
  function open(length: number) {
    const { hostname, port } = new URL(scenario.stack.gatewayUrls[0] ?? '');
    const socket = connect(Number(port), hostname);
    closers.push(() => socket.destroy());
    let text = '';
    socket.on('data', (chunk) => (text += chunk));
    socket.on('error', () => {});
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-service-api-key: ${scenario.stack.credentials.workspace_key}\r\n` +
        `x-service-provider: openai\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`,
    );
    return { socket, closed, answer: () => text };
  }

  it('that drips is refused with 408, and the connection let go', async () => {
    const { socket, closed, answer } = open(100_000);
    const timer = setInterval(() => socket.write('{'), 50);
    closers.push(() => clearInterval(timer));
    await expect.poll(answer).toContain('HTTP/1.1 408');
    expect(answer()).toContain('request.timeout');
    await closed;
  });

  it('that is fast enough but has no end is refused with 408', async () => {
    const { socket, answer } = open(9_000_000);
    const timer = setInterval(() => socket.write(' '.repeat(500)), 50);
    closers.push(() => clearInterval(timer));
    await delay(1500);
    expect(answer()).toBe('');
    await expect.poll(answer).toContain('HTTP/1.1 408');
  });

  it('that is slow but steady is taken', async () => {
    const text = JSON.stringify({ ...chatBody, pad: 'x'.repeat(3000) });
    const { socket, answer } = open(text.length);
    for (let at = 0; at < text.length; at += 100) {
      socket.write(text.slice(at, at + 100));
      await delay(20);
    }
    // Whom it is for is not known here: what matters is that it was read.
    await expect.poll(answer).toContain('HTTP/1.1');
    expect(answer()).not.toContain('HTTP/1.1 408');
  });

  it('in chunks of one byte takes little more memory than it has bytes', async () => {
    const text = JSON.stringify({ ...chatBody, pad: 'x'.repeat(mebibyte / 8) });
    const statuses = await Promise.all(
      [1, 2].map(
        () =>
          new Promise<number>((resolve, reject) => {
            const asked = request(`${scenario.stack.gatewayUrls[0]}/v1/chat/completions`, {
              method: 'POST',
              agent: false,
              headers: {
                'x-service-api-key': scenario.stack.credentials.workspace_key,
                'x-service-provider': 'openai',
                'x-service-custom-host': `${scenario.upstream.url}/v1`,
                authorization: 'Bearer sk-x',
                'content-type': 'application/json',
                'transfer-encoding': 'chunked',
              },
            });
            asked.on('response', (res) => {
              res.resume();
              resolve(res.statusCode ?? 0);
            });
            asked.on('error', reject);
            asked.flushHeaders();
            asked.once('socket', (socket) =>
              socket.once('connect', () =>
                socket.write(`${text.replace(/[\s\S]/g, '1\r\n$&\r\n')}0\r\n\r\n`),
              ),
            );
          }),
      ),
    );
    expect(statuses).toEqual([200, 200]);
  });

  it('is told to come again while too many bytes are held, and usual ones pass', async () => {
    let release = (): void => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const host = await hostThat((res) => {
      void released.then(() => replyOf(Buffer.from(JSON.stringify(chatReply)))(res));
    });
    const large = Buffer.from(JSON.stringify({ ...chatBody, pad: 'x'.repeat(8 * mebibyte) }));
    const waiting = [1, 2].map(() => scenario.chat({ host, rawBody: large }));
    await delay(500);
    const third = await scenario.chat({ rawBody: large });
    expect(third.headers.get('retry-after')).toBe('1');
    expect(await errorOf(third)).toMatchObject({ status: 503, code: 'overloaded' });
    expect((await scenario.chat()).status).toBe(200);
    release();
    for (const response of await Promise.all(waiting)) {
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    }
    expect((await scenario.chat({ rawBody: large })).status).toBe(200);
  });
});
