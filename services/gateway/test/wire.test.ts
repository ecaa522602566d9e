import { createServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { bytes, json, sse, startUpstream } from '@sluice/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openRaw, type RawConnection, type RawReply } from './raw-http.ts';
import {
  chatBody,
  chatReply,
  errorOf,
  ledgerHolds,
  type Scenario,
  settledTotal,
  startScenario,
} from './scenario.ts';

let scenario: Scenario;
let origin: string;
let key: string;
const open: RawConnection[] = [];

beforeAll(async () => {
  scenario = await startScenario({
    promptLedger: true,
    environment: { gateway: { REQUEST_TIMEOUT: '1500', STREAM_IDLE_TIMEOUT: '1500' } },
  });
  origin = scenario.stack.gatewayUrls[0] ?? '';
  key = scenario.stack.credentials.workspace_key;
});
afterEach(() => {
  for (const connection of open.splice(0)) connection.end();
});
afterAll(() => scenario.stop());

async function raw(): Promise<RawConnection> {
  const connection = await openRaw(origin);
  open.push(connection);
  return connection;
}

/** The head of a request that reaches our upstream, without its last blank line. */
function head(line: string, headers: object = {}): string {
  const all: Record<string, string> = {
    host: 'gateway',
    'x-service-api-key': key,
    'x-service-provider': 'openai',
    'x-service-custom-host': `${scenario.upstream.url}/v1`,
    authorization: 'Bearer sk-upstream',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}`;
}

function chat(body: string, headers: Record<string, string> = {}): string {
  return `${head('POST /v1/chat/completions', {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headers,
  })}\r\n${body}`;
}

function refusalOf({ status, body }: RawReply): [number, unknown, unknown] {
  const { error } = JSON.parse(String(body));
  return [status, error.code, error.param];
}

/** An upstream that answers every connection with these bytes, whatever it is asked. */
async function scripted(answer: (socket: Socket) => void): Promise<{ url: string; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.once('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe('connections of callers', () => {
  it('a refused upload gets its answer, with the rest of the body unread', async () => {
    const connection = await raw();
    await connection.write(
      `${head('POST /v1/chat/completions', {
        'content-type': 'application/json',
        'content-length': '60000000',
      })}\r\n`,
    );
    void connection.write(Buffer.alloc(60_000_000, 0x20));
    expect((await connection.reply()).status).toBe(413);
  });

  it('an upload to a provider that cannot be reached is answered, not reset', async () => {
    const gone = await startUpstream();
    await gone.close();
    const connection = await raw();
    await connection.write(
      `${head('POST /v1/files', {
        'x-service-custom-host': gone.url,
        'content-type': 'application/octet-stream',
        'content-length': '20000000',
      })}\r\n`,
    );
    void connection.write(Buffer.alloc(20_000_000));
    const reply = await connection.reply();
    expect(reply.status).toBe(503);
    expect(JSON.parse(reply.body.toString()).error.code).toBe('upstream.unreachable');
  });

  it('a provider that answers before it has the upload is heard', async () => {
    const early = await scripted((socket) =>
      socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 4\r\nconnection: close\r\n\r\nno!!'),
    );
    const connection = await raw();
    await connection.write(
      `${head('POST /v1/files', {
        'x-service-custom-host': early.url,
        'content-type': 'application/octet-stream',
        'content-length': '20000000',
      })}\r\n`,
    );
    void connection.write(Buffer.alloc(20_000_000));
    const reply = await connection.reply();
    early.close();
    expect([reply.status, reply.body.toString()]).toEqual([401, 'no!!']);
  });

  it('an admin call with a body is answered while the control plane is down', async () => {
    await scenario.stack.part('control-plane').stop();
    try {
      const response = await fetch(`${origin}/v1/configs`, {
        method: 'POST',
        headers: { 'x-service-api-key': key, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'x'.repeat(500_000) }),
      });
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({
        data: { code: 'admin.control_plane_unavailable' },
      });
    } finally {
      await scenario.stack.part('control-plane').start();
    }
  });

  it('is used again after an error whose body was read', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const connection = await raw();
    await connection.write(chat('{"model": 5}'));
    expect((await connection.reply()).status).toBe(400);
    await connection.write(chat(JSON.stringify(chatBody)));
    expect((await connection.reply()).status).toBe(200);
  });

  it('is used again after a refusal whose body nobody wanted', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const connection = await raw();
    const body = JSON.stringify({ ...chatBody, pad: 'x'.repeat(500_000) });
    await connection.write(chat(body, { 'x-service-api-key': 'wrong' }));
    expect((await connection.reply()).status).toBe(401);
    await connection.write(chat(JSON.stringify(chatBody)));
    expect((await connection.reply()).status).toBe(200);
  });

  it('pipelined requests are answered in order', async () => {
    scenario.upstream.handle((request) => json(200, { ...chatReply, id: request.path }));
    const connection = await raw();
    const lines = [1, 2, 3].map((n) => `${head(`GET /v1/things/${n}`)}\r\n`);
    await connection.write(lines.join(''));
    const ids = [];
    for (const _ of lines) ids.push(JSON.parse((await connection.reply()).body.toString()).id);
    expect(ids).toEqual(['/v1/things/1', '/v1/things/2', '/v1/things/3']);
  });

  it('a pipelined request ends with its connection, also while it waits for its turn', async () => {
    const before = await settledTotal(scenario);
    const chunk = { choices: [{ index: 0, delta: { content: 'x'.repeat(1000) } }] };
    scenario.upstream.handle(
      sse(
        Array.from({ length: 5000 }, () => chunk),
        { delayMs: 5 },
      ),
    );
    const seen = scenario.upstream.requests.length;
    const connection = await raw();
    const body = JSON.stringify({ ...chatBody, stream: true });
    await connection.write(chat(body) + chat(body));
    const second = await scenario.upstream.received(seen + 2);
    connection.end();
    await expect.poll(() => second.aborted).toBe(true);
    await ledgerHolds(scenario, before + 2);
  });

  it('Expect: 100-continue is answered, and not passed on', async () => {
    scenario.upstream.handle(json(200, {}));
    const seen = scenario.upstream.requests.length;
    const connection = await raw();
    await connection.write(
      `${head('POST /v1/files', { expect: '100-continue', 'content-length': '5' })}\r\n`,
    );
    await expect.poll(() => connection.received().toString()).toMatch(/^HTTP\/1\.1 100 /);
    await connection.write('hello');
    expect((await connection.reply()).status).toBe(200);
    const request = await scenario.upstream.received(seen + 1);
    expect(request.headers.expect).toBeUndefined();
    expect(request.body.toString()).toBe('hello');
  });

  it('chunked bodies are read and passed on', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const text = JSON.stringify(chatBody);
    for (const path of ['/v1/chat/completions', '/v1/proxy/chat/completions']) {
      const seen = scenario.upstream.requests.length;
      const connection = await raw();
      await connection.write(
        `${head(`POST ${path}`, { 'content-type': 'application/json', 'transfer-encoding': 'chunked' })}\r\n`,
      );
      for (const piece of [text.slice(0, 10), text.slice(10)])
        await connection.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
      await connection.write('0\r\ntrailer: ignored\r\n\r\n');
      expect((await connection.reply()).status).toBe(200);
      expect((await scenario.upstream.received(seen + 1)).body.toString()).toBe(text);
    }
  });

  it.each([
    ['a length and chunks at once', 'content-length: 5\r\ntransfer-encoding: chunked\r\n'],
    ['two lengths', 'content-length: 5\r\ncontent-length: 6\r\n'],
    ['a folded header', 'x-a: 1\r\n folded: 2\r\n'],
    ['a bare CR in a value', 'x-a: 1\rx-b: 2\r\n'],
    ['a space before the colon', 'content-length : 5\r\n'],
  ])('%s is refused before anything happens', async (_name, lines) => {
    const seen = scenario.upstream.requests.length;
    const connection = await raw();
    await connection.write(`${head('POST /v1/files')}${lines}\r\nhello`);
    expect(refusalOf(await connection.reply())).toEqual([400, 'request.unreadable', null]);
    await connection.closed();
    expect(scenario.upstream.requests).toHaveLength(seen);
  });

  it.each([
    ['bare line feeds', 'GET /v1/things HTTP/1.1\nhost: gateway\n\n'],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['no HTTP at all', '\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03'],
  ])('%s are told that they cannot be read', async (_name, text) => {
    const connection = await raw();
    await connection.write(Buffer.from(text, 'latin1'));
    const reply = await connection.reply();
    expect(refusalOf(reply)).toEqual([400, 'request.unreadable', null]);
    expect(reply.headers['x-service-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    await connection.closed();
  });

  it.each([
    ['headers that are too large', { 'x-large': 'x'.repeat(70_000) }],
    [
      'too many headers',
      Object.fromEntries(Array.from({ length: 2_500 }, (_, n) => [`h${n}`, 'v'])),
    ],
  ])('%s are 431', async (_name, headers) => {
    const connection = await raw();
    await connection.write(`${head('GET /v1/things', headers)}\r\n`);
    const reply = await connection.reply();
    expect(refusalOf(reply)).toEqual([431, 'request.headers_too_large', 'headers']);
    expect(String(reply.body)).toContain('65536 bytes');
  });

  it('chunks with megabytes of extensions are 413, and the answer is not lost', async () => {
    const connection = await raw();
    const type = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' };
    void connection.write(
      `${head('POST /v1/chat/completions', type)}\r\n1;${'x'.repeat(3_000_000)}\r\n{\r\n`,
    );
    expect(refusalOf(await connection.reply())).toEqual([413, 'request.too_large', 'body']);
    await connection.closed();
  });

  it('what cannot be read adds nothing to an answer that is being given', async () => {
    const chunk = { choices: [{ index: 0, delta: { content: 'x' } }] };
    scenario.upstream.handle(
      sse(
        Array.from({ length: 50 }, () => chunk),
        { delayMs: 20 },
      ),
    );
    const connection = await raw();
    await connection.write(chat(JSON.stringify({ ...chatBody, stream: true })));
    await expect.poll(() => connection.received().toString()).toContain('data: ');
    await connection.write('GET /v1/things HTTP/1.1\nhost: gateway\n\n');
    await connection.closed();
    expect(connection.received().toString()).not.toContain('HTTP/1.1 400');
  });

  it('an expectation that nobody meets is 417, and the connection is good for the next', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const text = JSON.stringify(chatBody);
    const connection = await raw();
    await connection.write(chat(text, { expect: '200-maybe' }));
    expect(refusalOf(await connection.reply())).toEqual([
      417,
      'request.expectation_failed',
      'expect',
    ]);
    await connection.write(chat(text));
    expect((await connection.reply()).status).toBe(200);
  });

  it('CONNECT is told that this is no proxy', async () => {
    const connection = await raw();
    await connection.write('CONNECT example.com:443 HTTP/1.1\r\nhost: example.com:443\r\n\r\n');
    expect(refusalOf(await connection.reply())).toEqual([405, 'request.method_not_allowed', null]);
    await connection.closed();
  });

  it('a POST that would be a WebSocket is the POST that it is', async () => {
    scenario.upstream.handle(json(200, chatReply));
    const connection = await raw();
    await connection.write(
      chat(JSON.stringify(chatBody), { connection: 'Upgrade', upgrade: 'websocket' }),
    );
    expect((await connection.reply()).status).toBe(200);
  });
});

describe('methods and paths', () => {
  const answerTo = async (line: string, headers: Record<string, string> = {}) => {
    const connection = await raw();
    await connection.write(`${head(line, headers)}\r\n`);
    return connection.reply({ to: line.split(' ')[0] });
  };

  it.each([
    ['OPTIONS /v1/things', 405],
    ['TRACE /v1/things', 405],
    ['OPTIONS *', 404],
    ['GET /', 404],
    ['GET //v1/things', 404],
    ['GET /V1/things', 404],
    ['GET /v1/%zz', 200],
    ['PATCH /v1/things', 200],
    ['GET /v1/things/', 200],
    ['GET /v1', 200],
    ['GET /v1/', 200],
    ['GET /v1/a//b', 200],
    ['GET /v1/a%2Fb', 200],
    ['GET /v1/a..b/...', 200],
    ['GET /v1/a/../b', 400],
    ['GET /v1/..', 400],
    ['GET /v1/a/./b', 400],
    ['GET /v1/proxy/../b', 400],
    ['GET /v1/a/%2e%2E/b', 400],
    ['GET /v1/a/..%2fb', 400],
    ['GET /v1/a%2f..%2fb', 400],
    ['GET /v1/a\\..\\b', 400],
    ['GET /v1/a/..;/b', 400],
    ['GET http://elsewhere/v1/things', 200],
    ['GET http://elsewhere/v1/../things', 400],
    ['GET ftp://elsewhere', 404],
  ])('%s is %i', async (line, status) => {
    scenario.upstream.handle(json(200, {}));
    expect((await answerTo(line)).status).toBe(status);
  });

  it.each([
    ['GET /v1', '/v1/'],
    ['GET /v1/things/?a=1&a=%2F', '/v1/things/?a=1&a=%2F'],
    ['GET /v1/a//b%2Fc', '/v1/a//b%2Fc'],
    ['GET http://elsewhere/v1/things?x=/v1/..', '/v1/things?x=/v1/..'],
    ['GET /v1/proxy', '/v1/'],
    ['GET /v1/proxyish', '/v1/proxyish'],
    ['GET /v1/v1/messages', '/v1/messages'],
  ])('%s asks the provider for %s', async (line, path) => {
    scenario.upstream.handle(json(200, {}));
    const seen = scenario.upstream.requests.length;
    await answerTo(line);
    expect((await scenario.upstream.received(seen + 1)).path).toBe(path);
  });

  it('HEAD is passed on and answered without a body', async () => {
    scenario.upstream.handle(json(200, { data: [] }));
    const reply = await answerTo('HEAD /v1/things');
    expect(reply.status).toBe(200);
    expect(reply.headers['content-length']).toBe('11');
    expect((await answerTo('HEAD /v1/models')).status).toBe(200);
  });

  it('an absolute path to the admin API is one to the admin API', async () => {
    const reply = await answerTo('GET http://gateway/v1/api-keys', {
      'x-service-api-key': 'wrong',
    });
    // Only the control plane answers in this envelope, and only without provider headers.
    expect(reply.status).toBe(401);
    const connection = await raw();
    await connection.write(
      `GET http://gateway/v1/configs HTTP/1.1\r\nhost: x\r\nx-service-api-key: ${scenario.stack.credentials.admin_key}\r\n\r\n`,
    );
    expect((await connection.reply()).status).not.toBe(403);
  });
});

describe('headers', () => {
  const seenBy = async (line: string, headers: object, body = '') => {
    scenario.upstream.handle(json(200, chatReply));
    const seen = scenario.upstream.requests.length;
    const connection = await raw();
    const length = body === '' ? {} : { 'content-length': String(body.length) };
    await connection.write(`${head(line, { ...headers, ...length })}\r\n${body}`);
    const reply = await connection.reply();
    expect(reply.status).toBe(200);
    return scenario.upstream.received(seen + 1);
  };
  const chatLine = 'POST /v1/chat/completions';
  const chatText = JSON.stringify(chatBody);

  it.each([
    ['forwarded on request', chatLine, { 'x-service-forward-headers': 'authorization,x-api-key' }],
    ['named as a hop’s', 'GET /v1/things', { connection: 'x-service-api-key, authorization' }],
    ['passed through', 'GET /v1/things', {}],
    ['unified', chatLine, {}],
  ])('the service key never reaches a provider: %s', async (_name, line, headers) => {
    const body = line === chatLine ? chatText : '';
    for (const sent of [
      { authorization: `Bearer ${key}` },
      { authorization: `bearer  ${key}`, 'x-api-key': key },
      { authorization: 'Bearer sk-upstream', 'x-api-key': key },
    ])
      for (const identity of [{}, { 'x-service-api-key': '' }]) {
        const request = await seenBy(line, { ...headers, ...sent, ...identity }, body);
        expect(JSON.stringify(request.rawHeaders)).not.toContain(key);
      }
  });

  it.each([
    ['chat/completions', chatText],
    ['things', ''],
    ['proxy/things', ''],
  ])('nor does it in a query: %s', async (path, body) => {
    const method = body === '' ? 'GET' : 'POST';
    const line = (query: string) => `${method} /v1/${path}?${query}`;
    const sent = { authorization: 'Bearer sk-upstream', 'x-service-api-key': key };
    const mixed = await seenBy(line(`a=%20b&key=${key}&key=sk-upstream`), sent, body);
    expect(mixed.path).toMatch(/\?a=%20b&key=sk-upstream$/);
    const alone = await seenBy(line(`api_key=${key}`), sent, body);
    expect(alone.path).not.toContain('?');
  });

  it('with the service key in x-api-key, Authorization is the provider’s', async () => {
    const request = await seenBy(
      'POST /v1/chat/completions',
      { 'x-service-api-key': '', 'x-api-key': key, authorization: 'Bearer sk-of-provider' },
      chatText,
    );
    expect(request.headers.authorization).toBe('Bearer sk-of-provider');
  });

  it('with the service key in Authorization, x-api-key is the provider’s', async () => {
    const request = await seenBy(
      'POST /v1/chat/completions',
      { 'x-service-api-key': '', authorization: `Bearer ${key}`, 'x-api-key': 'sk-of-provider' },
      chatText,
    );
    expect(request.headers.authorization).toBe('Bearer sk-of-provider');
  });

  it('headers of the connection, ours and those named by Connection stay here', async () => {
    const request = await seenBy('GET /v1/things', {
      connection: 'x-secret-hop, keep-alive',
      'x-secret-hop': '1',
      'x-kept': 'plain',
      te: 'trailers',
      'x-service-anything': '1',
    });
    expect(request.headers).toMatchObject({
      'x-kept': 'plain',
      authorization: 'Bearer sk-upstream',
    });
    for (const name of ['x-secret-hop', 'te', 'x-service-anything'])
      expect(request.headers[name]).toBeUndefined();
  });

  it('a forward list from a config is taken in any case, and cannot ask for compression', async () => {
    const config = JSON.stringify({
      provider: 'openai',
      api_key: 'sk-config',
      custom_host: `${scenario.upstream.url}/v1`,
      forward_headers: ['X-Wanted', 'Accept-Encoding'],
    });
    const request = await seenBy(
      'POST /v1/chat/completions',
      {
        'x-service-config': config,
        'x-wanted': 'yes',
        'accept-encoding': 'gzip',
      },
      chatText,
    );
    expect(request.headers['x-wanted']).toBe('yes');
    expect(request.headers['accept-encoding']).toBeUndefined();
  });

  it('a forward list from a config that names a header of metadata services is refused', async () => {
    const seen = scenario.upstream.requests.length;
    const config = JSON.stringify({ provider: 'openai', forward_headers: ['Metadata-Flavor'] });
    const response = await scenario.chat({
      headers: { 'x-service-config': config, 'metadata-flavor': 'Google' },
    });
    expect(await errorOf(response)).toMatchObject({ status: 400, code: 'config.invalid' });
    expect(scenario.upstream.requests).toHaveLength(seen);
  });

  it.each([
    ['a line break', 'sk-a\r\nx-injected: 1'],
    ['characters beyond Latin-1', 'ключ'],
    ['a control character', 'sk-\u0000'],
  ])('a credential with %s is refused, and nothing is sent', async (_name, apiKey) => {
    const seen = scenario.upstream.requests.length;
    const config = JSON.stringify({ provider: 'openai', api_key: apiKey }).replace(
      /[^\x20-\x7e]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );
    const response = await scenario.chat({ headers: { 'x-service-config': config } });
    expect(await errorOf(response)).toMatchObject({ status: 400, code: 'request.invalid_header' });
    expect(scenario.upstream.requests).toHaveLength(seen);
  });

  it('a config nested beyond reason is refused as such', async () => {
    const deep = `{"provider":"openai","override_params":{"a":${'['.repeat(25_000)}${']'.repeat(25_000)}}}`;
    const response = await scenario.chat({ headers: { 'x-service-config': deep } });
    expect(await errorOf(response)).toMatchObject({ status: 400, code: 'config.invalid' });
  });

  it('a host of slashes costs no time', async () => {
    // In turns with one that is shorter, whatever else the machine does.
    const msOf = async (slashes: number) => {
      const startedAt = performance.now();
      const response = await scenario.chat({ host: `http://a${'/'.repeat(slashes)}b` });
      expect(await errorOf(response)).toMatchObject({ status: 400, code: 'host.invalid' });
      return performance.now() - startedAt;
    };
    const more: number[] = [];
    for (let round = 0; round < 5; round++) more.push((await msOf(50_000)) - (await msOf(3_000)));
    expect(Math.min(...more)).toBeLessThan(300);
  });

  it('errors say which provider was asked and what the limits are', async () => {
    scenario.upstream.handle(bytes(200, Buffer.from('<html>')));
    const response = await scenario.chat();
    expect(response.status).toBe(502);
    expect(response.headers.get('x-service-provider')).toBe('openai');
    expect(response.headers.get('x-service-last-used-option-index')).toBe('config');
    expect(response.headers.get('x-service-gateway-exception')).toBeNull();
    await response.arrayBuffer();
  });
});

describe('answers of providers', () => {
  const answering = async (
    answer: string,
    init: { line?: string; stream?: boolean; provider?: string } = {},
  ) => {
    const upstream = await scripted((socket) => socket.end(Buffer.from(answer, 'latin1')));
    const line = init.line ?? 'POST /v1/chat/completions';
    const isPost = line.startsWith('POST');
    const body = isPost ? JSON.stringify({ ...chatBody, stream: init.stream === true }) : '';
    const connection = await raw();
    await connection.write(
      `${head(line, {
        'x-service-custom-host': upstream.url,
        'x-service-provider': init.provider ?? 'openai',
        ...(isPost
          ? { 'content-type': 'application/json', 'content-length': String(body.length) }
          : {}),
      })}\r\n${body}`,
    );
    try {
      return await connection.reply({ to: line.split(' ')[0] });
    } finally {
      upstream.close();
    }
  };
  const good = JSON.stringify(chatReply);
  const ok = (headers: string, body: string | Buffer = good) =>
    `HTTP/1.1 200 OK\r\n${headers}content-length: ${body.length}\r\nconnection: close\r\n\r\n${body.toString('latin1')}`;

  it.each([
    ['early hints first', `HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${ok('')}`, 200],
    // The HTTP client takes it for a fault when it was not asked for.
    ['100 Continue first', `HTTP/1.1 100 Continue\r\n\r\n${ok('')}`, 502],
    ['101 unasked', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\n\r\n', 502],
    ['a header in Latin-1', ok('x-name: caf\u00e9\r\n'), 200],
    ['two content types', ok('content-type: application/json\r\ncontent-type: a/b\r\n'), 200],
    ['an empty 200', ok('', ''), 502],
    ['a byte order mark', ok('', `\u00ef\u00bb\u00bf${good}`), 200],
    ['an error in a 200', ok('', '{"error":{"message":"no"}}'), 502],
    ['204', 'HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n', 502],
    ['304', 'HTTP/1.1 304 Not Modified\r\nconnection: close\r\n\r\n', 304],
    [
      'length and chunks',
      `HTTP/1.1 200 OK\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n${good.length.toString(16)}\r\n${good}\r\n0\r\n\r\n`,
      502,
    ],
    [
      'trailers',
      `HTTP/1.1 200 OK\r\ntrailer: x-t\r\ntransfer-encoding: chunked\r\n\r\n${good.length.toString(16)}\r\n${good}\r\n0\r\nx-t: 1\r\n\r\n`,
      200,
    ],
    ['a status beyond 599', 'HTTP/1.1 799 Odd\r\ncontent-length: 0\r\n\r\n', 799],
    ['a body shorter than said', `HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n${good}`, 502],
    ['no length at all', `HTTP/1.1 200 OK\r\n\r\n${good}`, 200],
    ['compressed unasked', ok('content-encoding: gzip\r\n', gzipSync(good)), 200],
    ['huge headers', ok(`x-large: ${'x'.repeat(40_000)}\r\n`), 502],
  ])('%s', async (_name, answer, status) => {
    expect((await answering(answer)).status).toBe(status);
  });

  it.each([
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n', 204],
    ['304', 'HTTP/1.1 304 Not Modified\r\netag: "1"\r\n\r\n', 304],
    [
      'a redirect',
      'HTTP/1.1 302 Found\r\nlocation: http://10.0.0.1/\r\ncontent-length: 0\r\n\r\n',
      302,
    ],
  ])('pass-through keeps %s as it is', async (_name, answer, status) => {
    expect((await answering(answer, { line: 'GET /v1/things' })).status).toBe(status);
  });

  it.each(['openai', 'anthropic'])(
    'a redirect of %s is seen, but leads no client with its key and its body elsewhere',
    async (provider) => {
      const answer =
        'HTTP/1.1 307 Temporary Redirect\r\nlocation: http://10.0.0.1/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';
      const reply = await answering(answer, { provider });
      expect(reply.status).toBe(307);
      expect(reply.headers.location).toBeUndefined();
      const passed = await answering(answer, { line: 'POST /v1/proxy/chat/completions', provider });
      expect(passed.headers.location).toBe('http://10.0.0.1/');
    },
  );

  const message = JSON.stringify({
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'c',
    content: [{ type: 'text', text: 'Hello' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 1, output_tokens: 1 },
  });
  it.each(['', ' ', 'Identity', 'identity'])(
    'a reply to translate may have the encoding %j, which is none',
    async (encoding) => {
      const answer = ok(`content-encoding: ${encoding}\r\n`, `\u00ef\u00bb\u00bf${message}`);
      const reply = await answering(answer, { provider: 'anthropic' });
      expect(reply.status).toBe(200);
      expect(JSON.parse(String(reply.body))).toMatchObject({
        choices: [{ message: { content: 'Hello' } }],
      });
    },
  );

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['what nobody knows', (text: string) => Buffer.from(text)],
  ])('an error to translate says what it says in %s, and when to come back', async (name, pack) => {
    const error = { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } };
    const packed = pack(JSON.stringify(error));
    const answer = `HTTP/1.1 429 Too Many\r\ncontent-encoding: ${name}\r\nretry-after: 3\r\ncontent-length: ${packed.length}\r\nconnection: close\r\n\r\n${packed.toString('latin1')}`;
    const reply = await answering(answer, { provider: 'anthropic' });
    expect(reply.status).toBe(429);
    expect(reply.headers['retry-after']).toBe('3');
    expect(reply.headers['content-encoding']).toBeUndefined();
    const told = name.includes(' ') ? 'The provider answered 429 without a body.' : 'slow down';
    expect(JSON.parse(String(reply.body)).error.message).toBe(`anthropic error: ${told}`);
  });

  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('a reply to translate is read in %s', async (name, pack) => {
    const reply = await answering(ok(`content-encoding: ${name}\r\n`, pack(message)), {
      provider: 'anthropic',
    });
    expect(reply.status).toBe(200);
    expect(reply.headers['content-encoding']).toBeUndefined();
    expect(JSON.parse(String(reply.body))).toMatchObject({
      choices: [{ message: { content: 'Hello' } }],
      usage: { prompt_tokens: 1 },
    });
  });

  it.each([
    ['cannot be opened', Buffer.from('no gzip'), 'upstream.invalid_response'],
    [
      'is far too large when it is open',
      gzipSync(Buffer.alloc(100 * 1024 * 1024)),
      'upstream.response_too_large',
    ],
  ])('a compressed reply that %s is no answer', async (_what, packed, code) => {
    const reply = await answering(ok('content-encoding: gzip\r\n', packed), {
      provider: 'anthropic',
    });
    expect(reply.status).toBe(502);
    expect(JSON.parse(String(reply.body)).error.code).toBe(code);
  });

  it('what an origin says about itself is not said in its name', async () => {
    const reply = await answering(
      ok(
        'alt-svc: h3=":443"\r\nstrict-transport-security: max-age=1\r\nx-service-spoofed: 1\r\nx-kept: 1\r\nconnection: close, x-hop\r\nx-hop: 1\r\n',
      ),
    );
    expect(reply.headers['x-kept']).toBe('1');
    for (const name of ['alt-svc', 'strict-transport-security', 'x-service-spoofed', 'x-hop'])
      expect(reply.headers[name]).toBeUndefined();
  });

  const event = (text: string) => `data: {"choices":[{"index":0,"delta":{"content":"${text}"}}]}`;
  const streams: [string, string][] = [
    ['no space after the colon', `${event('a').replace(': ', ':')}\n\ndata:[DONE]\n\n`],
    ['CRLF', `${event('a')}\r\n\r\ndata: [DONE]\r\n\r\n`],
    ['a BOM', `\u00ef\u00bb\u00bf${event('a')}\n\ndata: [DONE]\n\n`],
    ['a large first event', `${event('x'.repeat(600_000))}\n\ndata: [DONE]\n\n`],
    ['a very large event', `${event('x'.repeat(3_000_000))}\n\n${event('b')}\n\ndata: [DONE]\n\n`],
    ['many comments first', `${': ping\n\n'.repeat(60_000)}${event('a')}\n\ndata: [DONE]\n\n`],
  ];
  it.each(['', 'content-type: text/plain\r\n', 'content-type: application/octet-stream\r\n'])(
    'a stream that does not say what it is is one: %j',
    async (type) => {
      const body = `${event('a')}\n\ndata: [DONE]\n\n`;
      const reply = await answering(ok(type, body), { stream: true });
      expect(reply.status).toBe(200);
      expect(reply.headers['content-type']).toBe('text/event-stream');
      expect(String(reply.body)).toBe(body);
      const whole = await answering(ok(type), { stream: true });
      expect([whole.status, String(whole.body)]).toEqual([200, good]);
      for (const none of ['', '<html>', 'data'])
        expect((await answering(ok(type, none), { stream: true })).status).toBe(502);
    },
  );

  it('a stream that does not say what it is may be late, and is translated', async () => {
    const parts = [
      { type: 'message_start', message: { ...JSON.parse(message), content: [] } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ];
    const events = parts.map((part) => `event: ${part.type}\ndata: ${JSON.stringify(part)}\n\n`);
    const upstream = await scripted((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n');
      setTimeout(() => socket.end(events.join('')), 100);
    });
    const response = await scenario.chat({
      host: upstream.url,
      headers: { 'x-service-provider': 'anthropic' },
      body: { ...chatBody, stream: true },
    });
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const text = await response.text();
    expect(text).toContain('"content":"Hi"');
    expect(text).toContain('data: [DONE]');
    upstream.close();
  });

  it.each(streams)('a stream with %s passes byte for byte', async (_name, body) => {
    for (const stream of [true, false]) {
      const reply = await answering(ok('content-type: text/event-stream\r\n', body), { stream });
      expect(reply.status).toBe(200);
      expect(reply.body.equals(Buffer.from(body, 'latin1'))).toBe(true);
    }
  });

  it.each(['application/json', 'text/html; charset=utf-8'])(
    'a stream that says it is %s is one',
    async (type) => {
      const body = `${event('a')}\n\ndata: [DONE]\n\n`;
      const reply = await answering(ok(`content-type: ${type}\r\n`, body), { stream: true });
      expect([reply.status, reply.headers['content-type']]).toEqual([200, 'text/event-stream']);
      expect(String(reply.body)).toBe(body);
    },
  );

  it('JSON that says it is a stream, where none was asked for, is JSON', async () => {
    const says = 'content-type: text/event-stream\r\n';
    const reply = await answering(ok(says));
    expect([reply.status, reply.headers['content-type']]).toEqual([200, 'application/json']);
    expect(String(reply.body)).toBe(good);
    // 1000 tokens in and 500 out, as it says.
    expect(reply.headers['x-service-cost']).toBe('0.045');
    const translated = await answering(ok(says, message), { provider: 'anthropic' });
    expect(translated.status).toBe(200);
    expect(JSON.parse(String(translated.body))).toMatchObject({
      choices: [{ message: { content: 'Hello' } }],
      usage: { prompt_tokens: 1 },
    });
    const refused = await answering(ok(says, '{"error":{"message":"no quota"}}'));
    expect(refused.status).toBe(502);
    expect(String(refused.body)).toContain('an error in place of a reply: no quota');
  });

  it.each(['openai', 'anthropic'])(
    'JSON that says it is the stream that was asked for is no answer: %s',
    async (provider) => {
      const reply = await answering(ok('content-type: text/event-stream\r\n', message), {
        provider,
        stream: true,
      });
      expect(reply.status).toBe(502);
      expect(JSON.parse(String(reply.body)).error.code).toBe('upstream.invalid_response');
    },
  );

  it('an error before any content is an HTTP error, also without a blank line behind it', async () => {
    const body = 'data: {"error":{"message":"no quota","type":"insufficient_quota"}}\n';
    const reply = await answering(ok('content-type: text/event-stream\r\n', body), {
      stream: true,
    });
    expect(reply.status).toBe(429);
    expect(JSON.parse(String(reply.body)).error).toMatchObject({ message: 'no quota' });
  });

  it('a connection that is cut behind the end of a stream adds nothing to it', async () => {
    const body = `${event('a')}\n\ndata: [DONE]\n\n`;
    const answer = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n`;
    const reply = await answering(answer, { stream: true });
    expect([reply.status, String(reply.body)]).toEqual([200, body]);
  });

  it('JSON in answer to a request for a stream is passed on', async () => {
    const reply = await answering(ok('content-type: application/json\r\n'), { stream: true });
    expect([reply.status, reply.body.toString()]).toEqual([200, good]);
  });
});

describe('models', () => {
  it('a name of megabytes is refused', async () => {
    const connection = await raw();
    await connection.write(chat(`{"model":"${'m'.repeat(3_000_000)}","messages":[]}`));
    const reply = await connection.reply();
    expect(reply.status).toBe(400);
    expect(JSON.parse(reply.body.toString()).error.param).toBe('body.model');
  });

  it('names of any length, asked for or answered, leave a ledger that goes on', async () => {
    const before = await settledTotal(scenario);
    scenario.upstream.handle(json(200, { ...chatReply, model: 'm'.repeat(10_000_000) }));
    expect((await scenario.chat()).status).toBe(200);
    const config = JSON.stringify({
      provider: 'openai',
      override_params: { model: 'n'.repeat(30_000) },
    });
    expect((await scenario.chat({ headers: { 'x-service-config': config } })).status).toBe(200);
    scenario.upstream.handle(json(200, chatReply));
    expect(
      (await scenario.chat({ headers: { 'x-service-trace-id': 't'.repeat(60_000) } })).status,
    ).toBe(200);
    expect((await scenario.chat()).status).toBe(200);
    await ledgerHolds(scenario, before + 4);
  });
});
