import { createHash, randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { usage } from '@sluice/proto-stubs';
import { eventually, freePort, startIssuer, testCertificate } from '@sluice/testkit';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { ResponsesWS } from 'openai/resources/responses/ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { type Lab, startLab } from '../lab.ts';
import { openRaw } from '../raw-http.ts';
import type { Records } from '../records.ts';
import { errorOf, type Scenario } from '../scenario.ts';
import { callCases } from './call-cases.ts';
import { clientCases } from './client-cases.ts';
import { type FakeVendor, responseUsage, startFakeVendor, vendorKey } from './fake-vendor.ts';
import { guardedCallCases } from './guarded-call-cases.ts';
import { handoverCases } from './handover-cases.ts';
import { tlsInFront } from './in-chromium.ts';
import { translationCases } from './translation-cases.ts';

/** Of one key: more than any test has open. */
const sessionsMax = 60;
/** Of one session; 10,000 is the long way. */
const responsesMade = Number(process.env.REALTIME_RESPONSES ?? 10);
const drainMs = 1000;
/** Who is silent for three of them is cut, on a busy machine too. */
const pingMs = 1500;
const canary = 'sk-canary-of-nobody';
let lab: Lab;
let scenario: Scenario;
let records: Records;
let vendor: FakeVendor;
let origin: string;
/** Nothing listens there. */
let nobody: number;
const open: WebSocket[] = [];

beforeAll(async () => {
  vendor = await startFakeVendor();
  nobody = await freePort();
  const bounds = {
    REALTIME_CONNECT_TIMEOUT: '3000',
    REALTIME_PING_INTERVAL: String(pingMs),
    REALTIME_IDLE_TIMEOUT: '60000',
    REALTIME_FRAME_BYTES_MAX: String(4 * 1024 * 1024),
    REALTIME_KEY_SESSIONS_MAX: String(sessionsMax),
    REALTIME_TRANSLATION_STRETCH: '2000',
  };
  lab = await startLab({
    // The second one is killed.
    gateways: 2,
    processes: ['gateway'],
    redis: true,
    logStore: true,
    environment: {
      gateway: { ...bounds, JWT_ENABLED: 'on', DRAIN_TIMEOUT: String(drainMs) },
      'gateway-2': { ...bounds, DRAIN_TIMEOUT: '30000' },
      'control-plane': { JWT_ENABLED: 'on' },
    },
  });
  ({ scenario, records } = lab);
  origin = scenario.stack.gatewayUrls[0] as string;
  // Two gateways with processes of their own: on a machine that is busy with others 60 s were not enough.
});
afterAll(async () => {
  for (const socket of open) socket.terminate();
  await lab?.stop();
  await vendor?.close();
});

interface Asked extends Omit<ClientOptions, 'host' | 'key'> {
  path?: string;
  query?: string;
  key?: string | null;
  host?: string | null;
  protocols?: string[];
  metadata?: string;
  /** Which one, in order. */
  gateway?: number;
}

/** A WebSocket at the gateway that goes on to our vendor. */
function dial(model: string | undefined, over: Asked = {}): WebSocket {
  const { path = '/v1/realtime', query, key, host, protocols = [], metadata, ...rest } = over;
  const { gateway = 0, ...options } = rest;
  const at = (scenario.stack.gatewayUrls[gateway] as string).replace('http', 'ws');
  const search = query ?? (model === undefined ? '' : `model=${model}`);
  const shown = key === undefined ? scenario.stack.credentials.workspace_key : key;
  const socket = new WebSocket(`${at}${path}?${search}`, protocols, {
    perMessageDeflate: false,
    skipUTF8Validation: true,
    ...options,
    headers: {
      ...(shown === null ? {} : { 'x-service-api-key': shown }),
      ...(host === null
        ? {}
        : {
            'x-service-provider': 'openai',
            'x-service-custom-host': host ?? vendor.base,
            ...(shown === null ? {} : { authorization: `Bearer ${vendorKey}` }),
          }),
      ...(metadata === undefined ? {} : { 'x-service-metadata': JSON.stringify({ metadata }) }),
      ...options.headers,
    },
  });
  open.push(socket);
  socket.on('error', () => {});
  return socket;
}

/** One that is open, and what it hears. */
async function session(model: string | undefined, over: Asked = {}) {
  const socket = dial(model, over);
  const heard: Record<string, unknown>[] = [];
  const frames: Buffer[] = [];
  socket.on('message', (data: Buffer) => {
    frames.push(data);
    try {
      heard.push(JSON.parse(String(data)));
    } catch {
      heard.push({ type: 'garbage' });
    }
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
  );
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('error', reject);
  });
  const types = () => heard.map(({ type }) => type);
  const say = (event: object) => socket.send(JSON.stringify(event));
  const hears = (type: string, count = 1) =>
    eventually(() => expect(types().filter((each) => each === type)).toHaveLength(count));
  return { socket, heard, frames, closed, types, say, hears };
}

interface Refusal {
  status: number;
  code: string | undefined;
  message: string;
  headers: Record<string, unknown>;
}

/** What a handshake is answered that fails. */
function refusal(model: string | undefined, over: Asked = {}): Promise<Refusal> {
  const socket = dial(model, over);
  return new Promise((resolve, reject) => {
    socket.on('open', () => reject(new Error('it was opened')));
    socket.on('unexpected-response', (_req, res) => {
      const pieces: Buffer[] = [];
      res.on('data', (piece: Buffer) => pieces.push(piece));
      res.on('end', () => {
        const { error } = JSON.parse(String(Buffer.concat(pieces)));
        resolve({
          status: res.statusCode ?? 0,
          code: error.code,
          message: error.message,
          headers: res.headers,
        });
      });
    });
  });
}

/** A go that failed has left records of the same names. */
let goBeganAtMs = 0;
beforeEach(() => {
  goBeganAtMs = Date.now();
});

const named = (name: string) =>
  records
    .all()
    .filter(
      ({ metadata, createdAtMs }) =>
        [metadata.metadata, metadata.name].includes(name) && Number(createdAtMs) >= goBeganAtMs,
    );

/** The records of a session by its metadata, once there are so many of this type. */
async function recordsOf(name: string, type: string, count: number) {
  const found = () => named(name).filter(({ metadata }) => metadata._realtime_event_type === type);
  await eventually(() => expect(found()).toHaveLength(count));
  return found();
}

const newKey = async (body: object) =>
  scenario.admin<{ key: string; id: string }>('POST', '/api-keys/workspace/service', {
    name: `key ${Math.random()}`,
    scopes: ['completions.write'],
    workspace_id: scenario.stack.credentials.workspace_slug,
    ...body,
  });

describe('a handshake', () => {
  it.each<[string, () => Promise<Refusal>, number, string]>([
    ['without a key', () => refusal('m', { key: null }), 401, 'auth.missing_key'],
    ['with a key of nobody', () => refusal('m', { key: canary }), 401, 'auth.invalid_key'],
    [
      'with a key of nobody as a sub-protocol',
      () =>
        refusal('m', { key: null, protocols: ['realtime', `openai-insecure-api-key.${canary}`] }),
      401,
      'auth.invalid_key',
    ],
    [
      'at an unknown path',
      () => refusal('m', { path: '/v1/unknown' }),
      404,
      'request.route_not_found',
    ],
    ['without a provider', () => refusal('m', { host: null }), 400, 'provider.missing'],
    [
      'for a provider without sessions',
      () => refusal('m', { headers: { 'x-service-provider': 'anthropic' } }),
      400,
      'provider.endpoint_unsupported',
    ],
    [
      'to a host that must not be called',
      () => refusal('m', { host: 'http://169.254.169.254/v1' }),
      400,
      'host.invalid',
    ],
    [
      'with two models',
      () => refusal('', { query: 'model=a&model=b' }),
      400,
      'request.invalid_field',
    ],
    ['that the vendor refuses', () => refusal('refuse-429'), 429, 'upstream.error'],
    ['that the vendor fails', () => refusal('refuse-500'), 500, 'upstream.error'],
    [
      'that the vendor refuses for its key',
      () => refusal('m', { headers: { authorization: 'Bearer wrong' } }),
      401,
      'upstream.error',
    ],
    ['that the vendor redirects', () => refusal('redirect'), 502, 'upstream.error'],
    ['that the vendor answers plainly', () => refusal('plain'), 502, 'upstream.error'],
    [
      'that is answered by something else',
      () => refusal('garbage'),
      502,
      'upstream.invalid_response',
    ],
    ['that hangs', () => refusal('hang'), 408, 'upstream.timeout'],
    [
      'to where nobody listens',
      () => refusal('m', { host: `http://127.0.0.1:${nobody}/v1` }),
      503,
      'upstream.unreachable',
    ],
  ])('%s', async (_name, ask, status, code) => {
    const told = await ask();
    expect(told).toMatchObject({ status, code });
    expect(told.headers['x-service-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('tells what the vendor said, and when to come again', async () => {
    const { message, headers } = await refusal('refuse-429');
    expect(message).toContain('refused with 429');
    expect(headers['retry-after']).toBe('7');
  });

  it('that is none is told that it should be', async () => {
    const plain = await scenario.call('/v1/realtime?model=m', { method: 'GET' });
    expect(plain.headers.get('upgrade')).toBe('websocket');
    expect(await errorOf(plain)).toMatchObject({ status: 426, code: 'request.upgrade_required' });
    const asked = vendor.handshakes.length;
    const raw = await openRaw(origin);
    const key = scenario.stack.credentials.workspace_key;
    const head = (method: string, path: string, upgrade: string) =>
      `${method} ${path} HTTP/1.1\r\nhost: x\r\nx-service-api-key: ${key}\r\nconnection: upgrade\r\nupgrade: ${upgrade}\r\n\r\n`;
    // Other upgrades, as some clients offer with every request, are not taken.
    await raw.write(head('GET', '/v1/health', 'h2c'));
    expect((await raw.reply()).status).toBe(200);
    await raw.write(head('POST', '/v1/realtime', 'websocket'));
    expect((await raw.reply()).status).toBe(405);
    await raw.closed();
    const second = await openRaw(origin);
    await second.write(head('GET', '/v1/realtime?model=m', 'websocket'));
    expect((await second.reply()).status).toBe(400);
    await second.closed();
    expect(vendor.handshakes.length).toBe(asked);
  });

  it('takes the key as a header, as a bearer, and as a sub-protocol that goes nowhere', async () => {
    const { workspace_key: key } = scenario.stack.credentials;
    const config = JSON.stringify({
      provider: 'openai',
      api_key: vendorKey,
      custom_host: vendor.base,
    });
    const bearer = await session('m', {
      key: null,
      host: null,
      headers: { authorization: `Bearer ${key}`, 'x-service-config': config },
    });
    await bearer.hears('session.created');
    const shown = await session('m', {
      key: null,
      host: null,
      headers: { 'x-service-config': config },
      protocols: ['realtime', `openai-insecure-api-key.${key}`, 'openai-beta.realtime-v1'],
    });
    expect(shown.socket.protocol).toBe('realtime');
    await shown.hears('session.created');
    const { headers, url } = vendor.handshakes.at(-1)!;
    expect(headers.authorization).toBe(`Bearer ${vendorKey}`);
    expect(headers['sec-websocket-protocol']).toBe('realtime,openai-beta.realtime-v1');
    expect(JSON.stringify([headers, url])).not.toContain(key);
  });

  it('passes other parameters as they came, and tells how it came about', async () => {
    const socket = dial(undefined, {
      query: 'a=%20b&model=gpt%2Drealtime&intent=x&c',
      metadata: 'params',
    });
    const headers = await new Promise<Record<string, unknown>>((resolve) =>
      socket.on('upgrade', (res) => resolve(res.headers)),
    );
    expect(headers).toMatchObject({ 'x-service-provider': 'openai' });
    expect(vendor.handshakes.at(-1)?.url).toBe('/v1/realtime?a=%20b&model=gpt-realtime&intent=x&c');
  });

  it.each([
    ['v1', 'model=voice'],
    ['2025-04-01-preview', 'api-version=2025-04-01-preview&deployment=voice'],
  ])('asks Azure for the deployment, whatever the caller calls it: %s', async (version, query) => {
    const { socket } = await session('gpt-realtime', {
      headers: {
        'x-service-provider': 'azure-openai',
        'x-service-azure-deployment-id': 'voice',
        'x-service-azure-api-version': version,
      },
    });
    socket.close();
    expect(vendor.handshakes.at(-1)?.url?.split('?')[1]).toBe(query);
  });

  it('goes on to the next target until one opens', async () => {
    const target = (port: number | string, over: object = {}) => ({
      provider: 'openai',
      api_key: vendorKey,
      custom_host: `http://127.0.0.1:${port}/v1`,
      ...over,
    });
    const targets = [
      target(nobody),
      target(vendor.port, { override_params: { model: 'refuse-500' } }),
      target(vendor.port),
    ];
    const config = JSON.stringify({ strategy: { mode: 'fallback' }, targets });
    const found = await session('m', {
      host: null,
      headers: { 'x-service-config': config },
      metadata: 'fallback',
    });
    await found.hears('session.created');
    await recordsOf('fallback', 'session.created', 1);
    const refused = named('fallback').filter(({ errorCode }) => errorCode !== '');
    expect(refused.map(({ errorCode }) => errorCode).sort()).toEqual([
      'upstream.error',
      'upstream.unreachable',
    ]);
  });
});

describe('frames', () => {
  it('go on as they came: text, bytes, pieces, in order, whatever they are', async () => {
    const { socket, frames } = await session('echo');
    const sent: Buffer[] = [];
    const sizes = [0, 1, 125, 126, 65_535, 65_536, 1_000_000];
    for (const [at, size] of sizes.entries()) {
      const data = at % 2 === 0 ? randomBytes(size) : Buffer.from('ü'.repeat(size / 2));
      sent.push(data);
      socket.send(data, { binary: at % 2 === 0 });
      const pieces = randomBytes(999);
      sent.push(pieces);
      for (let from = 0; from < 999; from += 333)
        socket.send(pieces.subarray(from, from + 333), { binary: true, fin: from === 666 });
    }
    // Text that is no text, and JSON that is none.
    for (const odd of ['{"type":', '\ud800', '{"type":"response.done"}', '[]', '']) {
      sent.push(Buffer.from(odd));
      socket.send(odd);
    }
    sent.push(Buffer.from([0xff, 0xfe]));
    socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
    await eventually(() => expect(frames).toHaveLength(sent.length));
    const hash = (all: Buffer[]) => createHash('sha256').update(Buffer.concat(all)).digest('hex');
    expect(hash(frames)).toBe(hash(sent));
  });

  it('larger than the setting end the session', async () => {
    const { socket, closed } = await session('echo');
    socket.send(Buffer.alloc(4 * 1024 * 1024 + 1));
    expect((await closed).code).toBe(1009);
    await eventually(() => expect(socket.readyState).toBe(socket.CLOSED));
  });

  it.each(['caller', 'vendor'] as const)(
    'that the %s does not read are not taken in',
    async (who) => {
      const opening = vendor.next();
      const { socket } = await session('silent');
      const upstream = await opening;
      const [from, to] = who === 'caller' ? [upstream, socket] : [socket, upstream];
      to.pause();
      const piece = randomBytes(64 * 1024);
      const count = 512;
      let taken = 0;
      let read = 0;
      to.on('message', (data: Buffer) => {
        if (data.equals(piece)) read++;
      });
      // 32 MB, of which only what fits between the two is taken.
      for (let at = 0; at < count; at++) from.send(piece, () => void taken++);
      let before = -1;
      while (taken !== before) {
        before = taken;
        await delay(250);
      }
      expect(taken).toBeLessThan(count / 2);
      to.resume();
      await eventually(() => expect(read).toBe(count));
    },
  );

  it('sent ahead of the answer are kept, and a caller who leaves by then is left', async () => {
    const raw = await openRaw(origin);
    const key = scenario.stack.credentials.workspace_key;
    const head = `GET /v1/realtime?model=hang HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${randomBytes(16).toString('base64')}\r\nx-service-api-key: ${key}\r\nx-service-provider: openai\r\nx-service-custom-host: ${vendor.base}\r\nauthorization: Bearer ${vendorKey}\r\n\r\n`;
    const asked = vendor.handshakes.length;
    await raw.write(
      Buffer.concat([Buffer.from(head), Buffer.alloc(3 * 1024 * 1024)]).subarray(
        0,
        head.length + 10,
      ),
    );
    await eventually(() => expect(vendor.handshakes).toHaveLength(asked + 1));
    raw.end();
    const early = await openRaw(origin);
    const frame = Buffer.from([0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]);
    await early.write(Buffer.concat([Buffer.from(head.replace('hang', 'echo')), frame]));
    await eventually(() => expect(early.received().subarray(-2).toString()).toBe('hi'));
    early.end();
  });
});

describe('a close', () => {
  it.each<[string, number, string]>([
    ['close-1000', 1000, 'as asked'],
    ['close-1011', 1011, 'as asked'],
    ['close-3000', 3000, 'as asked'],
    ['close-4999', 4999, 'as asked'],
    ['close-plain', 1005, ''],
    ['gone', 1011, ''],
  ])('of the vendor, %s, is told', async (model, code, reason) => {
    const { closed } = await session(model);
    expect(await closed).toEqual({ code, reason });
  });

  it.each<[string, (socket: WebSocket) => void, number]>([
    ['1000', (socket) => socket.close(1000, 'enough'), 1000],
    ['4321', (socket) => socket.close(4321, 'enough'), 4321],
    ['nothing', (socket) => socket.close(), 1005],
    ['a cut', (socket) => socket.terminate(), 1011],
  ])('of the caller, %s, is told to the vendor', async (_name, close, code) => {
    const opening = vendor.next();
    const { socket } = await session('silent');
    const upstream = await opening;
    const told = new Promise((resolve) => upstream.once('close', resolve));
    close(socket);
    expect(await told).toBe(code);
  });

  it('of who is not there any more is found by pings', async () => {
    const opening = vendor.next();
    const { closed } = await session('silent', { autoPong: false });
    const upstream = await opening;
    const told = new Promise((resolve) => upstream.once('close', resolve));
    expect((await closed).code).toBe(1006);
    expect(await told).toBe(1011);
  });
});

describe('what a session costs', () => {
  it('is a record for each response and transcript, with its kinds of tokens, under one trace', async () => {
    const live = await session('gpt-realtime', {
      metadata: 'costs',
      headers: { 'x-service-trace-id': 'trace-of-costs' },
    });
    live.say({
      type: 'session.update',
      session: { audio: { input: { transcription: { model: 'gpt-4o-transcribe' } } } },
    });
    for (let at = 10; at < responsesMade; at++) {
      live.say({ type: 'response.create' });
      if (at % 100 === 99) await live.hears('response.done', at - 9);
    }
    for (let at = 0; at < 10; at++) live.say({ type: 'response.create' });
    live.socket.send('garbage');
    live.say({ type: 'input_audio_buffer.commit' });
    await live.hears('response.done', responsesMade);
    const done = await recordsOf('costs', 'response.done', responsesMade);
    expect(new Set(done.map(({ requestId }) => String(requestId))).size).toBe(responsesMade);
    expect(new Set(named('costs').map(({ traceId }) => traceId))).toEqual(
      new Set(['trace-of-costs']),
    );
    expect(done[0]).toMatchObject({
      endpoint: 'realtime',
      provider: 'openai',
      model: 'gpt-realtime',
      spanName: 'response.done',
      outcome: usage.Outcome.SUCCESS,
      inputTokens: 1000n,
      outputTokens: 300n,
      cacheReadTokens: 100n,
      cacheReadAudioTokens: 60n,
      inputAudioTokens: 600n,
      outputAudioTokens: 200n,
      usageReported: true,
      costKnown: true,
    });
    // $4 and $32 a million in, $0.40 of either read from the cache, $16 and $64 out.
    const dollars = (360 * 4 + 540 * 32 + 100 * 0.4 + 100 * 16 + 200 * 64) / 1e6;
    expect(Number(done[0]?.costNanoUsd)).toBe(Math.round(dollars * 1e9));
    const [transcript] = await recordsOf(
      'costs',
      'conversation.item.input_audio_transcription.completed',
      1,
    );
    expect(transcript).toMatchObject({
      inputTokens: 50n,
      outputTokens: 5n,
      responseModel: 'gpt-4o-transcribe',
    });
    await recordsOf('costs', 'session.created', 1);
    await recordsOf('costs', 'session.updated', 1);
    const [failed] = await recordsOf('costs', 'error', 1);
    expect(failed).toMatchObject({ statusCode: 500, outcome: usage.Outcome.UPSTREAM_ERROR });
    live.say({ type: 'response.create' });
    await live.hears('response.done', responsesMade + 1);
    live.socket.close();
  });

  it('is in the logs with what was said, where bodies are kept', async () => {
    const key = scenario.stack.credentials.workspace_key;
    const over = { key: null, protocols: ['realtime', `openai-insecure-api-key.${key}`] };
    const at = (trace: string, headers = {}) => ({
      ...over,
      headers: {
        'x-service-provider': 'openai',
        'x-service-custom-host': vendor.base,
        'x-service-config': JSON.stringify({ provider: 'openai', api_key: vendorKey }),
        'x-service-trace-id': trace,
        ...headers,
      },
    });
    const live = await session('talks', at('of-bodies'));
    const unwanted = await session('talks', at('of-no-bodies', { 'x-service-debug': 'false' }));
    const responses = await session('gpt', { ...at('of-responses'), path: '/v1/responses' });
    const item = (id: string) => ({
      type: 'conversation.item.create',
      item: { id, type: 'message', role: 'user', content: [{ type: 'input_text', text: id }] },
    });
    for (const each of [live, unwanted]) {
      each.say(item('first'));
      each.say({ type: 'response.create' });
      each.say(item('second'));
      each.say({ type: 'response.create' });
      each.socket.send('garbage');
      await each.hears('error');
      each.socket.close();
    }
    responses.say({ type: 'response.create', model: 'gpt-4o-mini', input: 'asked' });
    await responses.hears('response.completed');
    responses.socket.close();

    interface Shown {
      _id: string;
      content: string;
      request: { url: string; body: { items?: { id: string }[] } };
      response: { status: number; body: { type: string } };
    }
    const logs = async (trace: string, count: number) => {
      const range = {
        time_of_generation_min: new Date(Date.now() - 3_600_000).toISOString(),
        time_of_generation_max: new Date(Date.now() + 60_000).toISOString(),
        workspace_slug: scenario.stack.credentials.workspace_slug,
      };
      const query = new URLSearchParams({ ...range, trace_id: trace });
      const found = await eventually(
        async () => {
          const { data } = await scenario.admin<{ data: Shown[] }>('GET', `/logs?${query}`);
          expect(data).toHaveLength(count);
          const read = ({ _id }: Shown) => scenario.admin<Shown>('GET', `/logs/${_id}`);
          const shown = await Promise.all(data.map(read));
          for (const { content } of shown) expect(['shown', 'not-kept']).toContain(content);
          return shown;
        },
        { intervalMs: 200 },
      );
      for (const secret of [key, vendorKey]) expect(JSON.stringify(found)).not.toContain(secret);
      return found;
    };
    const told = await logs('of-bodies', 4);
    // Of one millisecond there may be several.
    const of = (type: string) => told.filter(({ response }) => response.body.type === type);
    expect(of('session.created')).toHaveLength(1);
    expect(of('error')).toMatchObject([{ response: { status: 500 } }]);
    const said = of('response.done').map(({ request }) => request.body.items?.map(({ id }) => id));
    expect(said.sort()).toEqual([['first'], ['first', 'answer_1', 'second']]);
    for (const { content } of await logs('of-no-bodies', 4)) expect(content).toBe('not-kept');
    const [asked] = await logs('of-responses', 1);
    expect(asked).toMatchObject({
      request: { url: '/v1/responses', body: { input: 'asked' } },
      response: { body: { type: 'response.completed' } },
    });
  });

  it('is told of seconds as well, of responses over WebSocket, and of what is cut', async () => {
    const spoken = await session('by-duration', { metadata: 'seconds' });
    spoken.say({ type: 'input_audio_buffer.commit' });
    const [transcript] = await recordsOf(
      'seconds',
      'conversation.item.input_audio_transcription.completed',
      1,
    );
    expect(transcript).toMatchObject({ audioSeconds: 12 });

    const asked = await session(undefined, { path: '/v1/responses', metadata: 'responses' });
    asked.say({ type: 'response.create', model: 'gpt-4o-mini', input: 'hi' });
    const [completed] = await recordsOf('responses', 'response.completed', 1);
    expect(completed).toMatchObject({
      endpoint: 'responseSession',
      inputTokens: 10n,
      outputTokens: 20n,
      costKnown: true,
    });

    const cut = await session('gpt-realtime', { metadata: 'cut' });
    cut.say({ type: 'response.create', cut: true });
    await cut.hears('response.created');
    cut.socket.terminate();
    const [left] = await recordsOf('cut', 'response.done', 1);
    expect(left).toMatchObject({
      outcome: usage.Outcome.CALLER_GONE,
      errorCode: 'request.aborted',
      usageEstimated: true,
    });
    const heard = await session('gpt-realtime', { metadata: 'cut after one' });
    heard.say({ type: 'response.create' });
    await heard.hears('response.done');
    heard.say({ type: 'response.create', cut: true, sounds: 32_000 });
    await heard.hears('response.output_audio.delta', 2);
    heard.socket.terminate();
    await recordsOf('cut after one', 'response.done', 2);
    const estimated = named('cut after one').find(({ usageEstimated }) => usageEstimated);
    // What the one before read and said, and ten tokens of sound.
    expect(estimated).toMatchObject({ inputTokens: 1300n, costKnown: true });
    expect(Number(estimated?.outputAudioTokens)).toBeGreaterThanOrEqual(10);
    expect(Number(estimated?.outputAudioTokens)).toBeLessThanOrEqual(11);
  });

  it('is what a caller said, too, who leaves before anybody counted it', async () => {
    const secondsOfSound = (seconds: number) =>
      Buffer.alloc(24_000 * 2 * seconds).toString('base64');
    const words = (text: string) => ({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    });
    const live = await session('gpt-realtime', { metadata: 'said' });
    live.say({
      type: 'session.update',
      session: { audio: { input: { transcription: { model: 'gpt-4o-transcribe' } } } },
    });
    live.say(words('A question of some length. '.repeat(300)));
    live.say({ type: 'input_audio_buffer.append', audio: secondsOfSound(9) });
    live.say({ type: 'input_audio_buffer.clear' });
    for (let second = 0; second < 20; second++)
      live.say({ type: 'input_audio_buffer.append', audio: secondsOfSound(1) });
    live.say({ type: 'input_audio_buffer.commit', cut: true });
    await live.hears('conversation.item.input_audio_transcription.delta');
    live.say({ type: 'response.create', cut: true });
    await live.hears('response.created');
    live.socket.terminate();
    const type = 'conversation.item.input_audio_transcription.completed';
    const [transcript] = await recordsOf('said', type, 1);
    expect(transcript).toMatchObject({
      outcome: usage.Outcome.CALLER_GONE,
      responseModel: 'gpt-4o-transcribe',
      inputTokens: 200n,
      inputAudioTokens: 200n,
      usageEstimated: true,
    });
    const written = Number(transcript?.outputTokens);
    expect(written).toBeGreaterThanOrEqual(80);
    expect(written).toBeLessThan(120);
    expect(Number(transcript?.costNanoUsd)).toBe(200 * 6000 + written * 10_000);
    const [response] = await recordsOf('said', 'response.done', 1);
    expect(response).toMatchObject({
      outcome: usage.Outcome.CALLER_GONE,
      inputAudioTokens: 200n,
      outputTokens: 0n,
      usageEstimated: true,
    });
    const read = Number(response?.inputTokens) - 200;
    // 8,100 letters, and what the session was told.
    expect(read).toBeGreaterThan(1500);
    expect(read).toBeLessThan(2500);
    expect(Number(response?.costNanoUsd)).toBe(read * 4000 + 200 * 32_000);

    const counted = await session('gpt-realtime', { metadata: 'said before' });
    counted.say(words('Once more. '.repeat(1000)));
    counted.say({ type: 'response.create' });
    await counted.hears('response.done');
    counted.say(words('And then? '.repeat(40)));
    counted.say({ type: 'response.create', cut: true });
    await counted.hears('response.created', 2);
    counted.socket.terminate();
    await recordsOf('said before', 'response.done', 2);
    const cut = named('said before').find(({ usageEstimated }) => usageEstimated);
    // What the one before read and said, and what was said since.
    expect(Number(cut?.inputTokens)).toBeGreaterThan(1300 + 90);
    expect(Number(cut?.inputTokens)).toBeLessThan(1300 + 160);

    const asked = await session(undefined, { path: '/v1/responses', metadata: 'asked and left' });
    asked.say({
      type: 'response.create',
      model: 'gpt-4o-mini',
      input: 'A question of some length. '.repeat(2000),
      cut: true,
    });
    await asked.hears('response.created');
    asked.socket.terminate();
    const [left] = await recordsOf('asked and left', 'response.done', 1);
    expect(Number(left?.inputTokens)).toBeGreaterThan(10_000);
    expect(Number(left?.inputTokens)).toBeLessThan(20_000);
  });

  it('is limited at the handshake and after each event', async () => {
    const { key } = await newKey({
      rate_limits: [{ type: 'requests', unit: 'rpd', value: 3 }],
    });
    const live = await session('gpt-realtime', { key, metadata: 'limited' });
    for (let at = 0; at < 3; at++) {
      live.say({ type: 'response.create' });
      await live.hears('response.done', at + 1);
    }
    expect(await live.closed).toEqual({ code: 1008, reason: 'limit.rate_exceeded' });
    expect(live.heard.at(-1)).toMatchObject({
      type: 'error',
      error: { code: 'limit.rate_exceeded', type: 'rate_limit_error' },
    });
    await recordsOf('limited', 'response.done', 3);
    expect(await refusal('gpt-realtime', { key })).toMatchObject({
      status: 429,
      code: 'limit.rate_exceeded',
    });

    const budget = await newKey({ usage_limits: { type: 'tokens', credit_limit: 2000 } });
    // At a host of the caller's own choice no more counts than is estimated: this one is an admin's.
    const saved = await lab.saveProvider({
      aiProviderId: 'openai',
      key: vendorKey,
      customHost: vendor.base,
    });
    const way = { key: budget.key, host: null, metadata: 'budget' };
    const spending = await session(`${saved}/gpt-realtime`, way);
    expect(vendor.handshakes.at(-1)?.url).toBe('/v1/realtime?model=gpt-realtime');
    spending.say({ type: 'response.create' });
    await spending.hears('response.done');
    expect(spending.socket.readyState).toBe(WebSocket.OPEN);
    spending.say({ type: 'response.create' });
    expect(await spending.closed).toEqual({ code: 1008, reason: 'limit.budget_exhausted' });
    await recordsOf('budget', 'response.done', 2);
    expect(await refusal(`${saved}/gpt-realtime`, way)).toMatchObject({ status: 412 });
  });

  it('ends with the key, and while that is suspended', async () => {
    const [{ key, id }, stopped, other] = await Promise.all([newKey({}), newKey({}), newKey({})]);
    const live = await session('silent', { key });
    const held = await session('silent', { key: stopped.key });
    const theirs = await session('silent', { key: other.key });
    await scenario.admin('DELETE', `/api-keys/${id}`).catch(() => undefined);
    await scenario.admin('POST', `/api-keys/${stopped.id}/suspend`);
    expect(await live.closed).toEqual({ code: 1008, reason: 'auth.invalid_key' });
    expect(await held.closed).toEqual({ code: 1008, reason: 'auth.suspended_key' });
    // And with no other: the next look at all of them is a ping later.
    await delay(pingMs + 100);
    expect(theirs.socket.readyState).toBe(WebSocket.OPEN);
  });

  it('of a token goes on as long as its issuer vouches for it', async () => {
    const issuer = await startIssuer();
    onTestFinished(() => issuer.close());
    const answered = new Map<string, number>();
    issuer.answer = async (req, res) => {
      const asked = new URLSearchParams(await text(req)).get('token') ?? '';
      answered.set(asked, (answered.get(asked) ?? 0) + 1);
      res.end(JSON.stringify({ active: issuer.active.has(asked) }));
    };
    const { organisation_id, workspace_slug } = scenario.stack.credentials;
    // What it says holds for less than the time between two looks at a session.
    const introspection = { url: issuer.introspectionUrl, cache_max_age_s: 1 };
    await scenario.admin('PUT', '/admin/organisation/auth-settings', { jwt: { introspection } });
    const [kept, taken] = await Promise.all(
      ['ann', 'bob'].map((sub) =>
        issuer.sign({
          service_oid: organisation_id,
          service_workspace: workspace_slug,
          scope: 'completions.write',
          sub,
        }),
      ),
    );
    for (const token of [kept, taken]) issuer.active.set(token ?? '', {});
    const theirs = await session('silent', { key: kept });
    const live = await session('silent', { key: taken });
    issuer.active.delete(taken ?? '');
    expect(await live.closed).toMatchObject({ code: 1008 });
    await eventually(() => expect(answered.get(kept ?? '')).toBeGreaterThan(1));
    await delay(100);
    expect(theirs.socket.readyState).toBe(WebSocket.OPEN);
    await scenario.admin('PUT', '/admin/organisation/auth-settings', { jwt: null });
  });
});

describe('no way round', () => {
  it('the list of models of a provider: query, session, frames, frames that cannot be read', async () => {
    const few = await lab.saveProvider({
      aiProviderId: 'openai',
      key: vendorKey,
      customHost: vendor.base,
    });
    await lab.manage('PUT', `/integrations/${few.slice(1)}/models`, {
      models: [{ slug: 'echo', enabled: true, is_custom: true }],
      allow_all_models: false,
    });
    const way = { host: null, headers: { 'x-service-provider': few } };
    const refused = { status: 403, code: 'provider.model_not_allowed' };
    await eventually(async () => expect(await refusal('other', way)).toMatchObject(refused));
    expect(await refusal('', { ...way, query: 'call_id=rtc_1' })).toMatchObject({
      code: 'provider.model_unreadable',
    });
    const live = await session('echo', way);
    const passes = [
      { type: 'input_audio_buffer.append', audio: 'AAAA' },
      { type: 'session.update', session: { model: 'echo' } },
    ];
    const stopped = [
      '{"type":"session.update","session":{"model":"other"}}',
      '{"type":"session.update","session":{"m\\u006fdel":"other"}}',
      '{"type":"session.update","session":{"audio":{"input":{"transcription":{"model":"x"}}}}}',
      '{"type":"response.create","response":{"model":"echo","model":"other"}}',
      '{"type":"session.update","session":{"model":"other"',
    ];
    for (const frame of stopped) live.socket.send(frame);
    live.socket.send(Buffer.from(stopped[0] ?? ''), { binary: true });
    for (const event of passes) live.say(event);
    await eventually(() => expect(live.heard).toHaveLength(stopped.length + 1 + passes.length));
    expect(live.types().slice(0, -2)).toEqual(Array(stopped.length + 1).fill('error'));
    expect(live.heard.slice(-2)).toEqual(passes);
    // Whose address names no model must name one that is allowed before anything else.
    const later = await session(undefined, { ...way, query: 'intent=transcription' });
    later.say({ type: 'input_audio_buffer.append', audio: 'AAAA' });
    await later.hears('error');
    expect(later.heard.at(-1)).toMatchObject({ error: { code: 'provider.model_unreadable' } });
  });

  it('guardrails that are enforced: of texts, of what is heard, of what is said', async () => {
    const { workspace_id, workspace_slug } = scenario.stack.credentials;
    const made = await scenario.admin<{ slug: string }>('POST', '/guardrails', {
      name: 'Words',
      workspace_id,
      checks: [{ id: 'default.regexMatch', parameters: { rule: 'forbidden', not: true } }],
      actions: { deny: true },
    });
    const enforce = (slugs: string[]) =>
      scenario.admin('PUT', `/admin/workspaces/${workspace_slug}`, {
        defaults: { input_guardrails: slugs, output_guardrails: slugs },
      });
    onTestFinished(async () => {
      await enforce([]);
    });
    await enforce([made.slug]);
    const denied = { type: 'error', error: { code: 'guardrail.denied' } };
    const item = (text: string) => ({
      type: 'conversation.item.create',
      item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
    });
    const live = await session('echo', { metadata: 'guarded' });
    const stopped = [
      JSON.stringify(item('it is forbidden')),
      JSON.stringify(item('it is forbidden')).replace('forbidden', 'f\\u006frbidden'),
      JSON.stringify({ type: 'session.update', session: { instructions: 'forbidden' } }),
      JSON.stringify({ type: 'response.create', response: { instructions: 'forbidden' } }),
      '{"type":"input_audio_buffer.append","type":"conversation.item.create","item":{"x":"forbidden"}}',
      '{"type":"conversation.item.create","item":{"x":"forbidden"}',
    ];
    const passed = [item('it is fine'), { type: 'input_audio_buffer.append', audio: 'AAAA' }];
    for (const frame of stopped) live.socket.send(frame);
    // In their order, behind what is looked at.
    for (const event of passed) live.say(event);
    await eventually(() => expect(live.heard).toHaveLength(stopped.length + passed.length));
    expect(live.heard.slice(0, stopped.length)).toMatchObject(stopped.map(() => denied));
    expect(live.heard.slice(stopped.length)).toEqual(passed);
    // What the vendor hears and says: the response is cancelled, and the item forgotten.
    const opening = vendor.next();
    const spoken = await session('spoken', { metadata: 'guarded' });
    const asked: unknown[] = [];
    (await opening).on('message', (data) => asked.push(JSON.parse(String(data))));
    spoken.say({ type: 'response.create' });
    await spoken.hears('error', 2);
    await eventually(() =>
      expect(asked.slice(1)).toEqual([
        { type: 'response.cancel' },
        { type: 'conversation.item.delete', item_id: 'heard' },
        { type: 'response.cancel' },
        { type: 'conversation.item.delete', item_id: 'said' },
      ]),
    );
    const verdict = { verdict: false, deny: true };
    const hooksOf = async (type: string) => {
      const [record] = await recordsOf('guarded', type, 1);
      return JSON.parse(record?.decisionJson ?? '').hooks;
    };
    expect(await hooksOf('conversation.item.input_audio_transcription.completed')).toMatchObject([
      { event: 'before', ...verdict },
    ]);
    expect(await hooksOf('response.done')).toMatchObject([{ event: 'after', ...verdict }]);
    // What is said in a translation is not read.
    const { status } = await refusal('m', { path: '/v1/realtime/translations' });
    expect(status).toBe(446);
  });

  it('guardrails of a config that only observe: recorded, and nothing waits', async () => {
    const check = { id: 'default.regexMatch', parameters: { rule: 'odd', not: true } };
    const config = JSON.stringify({
      provider: 'openai',
      api_key: vendorKey,
      custom_host: vendor.base,
      before_request_hooks: [{ type: 'guardrail', id: 'seen', checks: [check] }],
    });
    const way = { host: null, headers: { 'x-service-config': config }, metadata: 'observed' };
    const live = await session('gpt-realtime', way);
    live.say({ type: 'conversation.item.create', item: { content: [{ text: 'something odd' }] } });
    live.say({ type: 'response.create' });
    await live.hears('response.done');
    expect(live.types()).not.toContain('error');
    const [record] = await recordsOf('observed', 'response.done', 1);
    expect(JSON.parse(record?.decisionJson ?? '').hooks).toEqual([
      expect.objectContaining({ id: 'seen', event: 'before', verdict: false, deny: false }),
    ]);
  });

  it('what the service keeps is named to no vendor', async () => {
    const live = await session(undefined, { path: '/v1/responses' });
    const id = `svc_${'0'.repeat(32)}`;
    const ask = { type: 'response.create', model: 'gpt-4o-mini', input: 'hi' };
    live.say({ ...ask, previous_response_id: `resp_${id}` });
    live.socket.send(
      JSON.stringify({ ...ask, conversation: { id: `conv_${id}` } }).replace('_', '\\u005f'),
    );
    live.say({ type: ask.type, response: { conversation: `conv_${id}` } });
    live.say(ask);
    await live.hears('response.completed');
    const refused = (param: string) => ({
      type: 'error',
      status: 400,
      error: { code: 'request.invalid_field', param },
    });
    expect(live.heard.slice(0, 3)).toMatchObject([
      refused('event.previous_response_id'),
      refused('event.conversation'),
      refused('event.conversation'),
    ]);
  });

  it('what another workspace keeps is named by nobody, and what is made is the workspace’s', async () => {
    const { id } = await scenario.admin<{ id: string }>('POST', '/admin/workspaces', {
      name: 'Beside responses',
    });
    const { key } = await scenario.admin<{ key: string }>('POST', '/api-keys/workspace/service', {
      name: 'beside',
      workspace_id: id,
      scopes: ['completions.write'],
    });
    const mine = await session(undefined, { path: '/v1/responses' });
    const ask = { type: 'response.create', model: 'gpt-4o-mini', input: 'hi' };
    mine.say(ask);
    await mine.hears('response.completed');
    const { response } = mine.heard[0] as { response: { id: string } };
    const made = response.id;
    const wants = { type: 'input_file', file_id: made };
    const naming: [string, object][] = [
      ['previous_response_id', { ...ask, previous_response_id: made }],
      ['previous_response_id', { type: ask.type, response: { previous_response_id: made } }],
      ['previous_response_id', { type: 'response.steer', input: 'a', previous_response_id: made }],
      ['response_id', { type: 'response.inject', input: [], response_id: made }],
      ['conversation.id', { ...ask, conversation: { id: made } }],
      ['input.*.content.*.file_id', { ...ask, input: [{ role: 'user', content: [wants] }] }],
      [
        'input.*.content.*.file_id',
        { type: 'response.steer', input: [{ role: 'user', content: [wants] }] },
      ],
      [
        'prompt_cache_options.comparison_response_id',
        { ...ask, prompt_cache_options: { comparison_response_id: made } },
      ],
    ];
    const theirs = await session(undefined, { path: '/v1/responses', key });
    for (const [, event] of naming) theirs.say(event);
    theirs.socket.send(
      JSON.stringify({ ...ask, previous_response_id: made }).replace('_id', '\\u005fid'),
    );
    theirs.socket.send(`{"previous_response_id":"a","previous_response_id":"${made}"}`);
    theirs.socket.send(`{"previous_response_id":"${made}"`);
    theirs.say({ ...ask, previous_response_id: 'resp_of_nobody' });
    await theirs.hears('response.completed');
    const errors = theirs.heard.filter(({ type }) => type === 'error');
    expect(errors).toMatchObject([
      ...[...naming.map(([at]) => at), 'previous_response_id'].map((at) => ({
        status: 404,
        error: { code: 'object.owner_unknown', param: `event.${at}` },
      })),
      { error: { code: 'request.ambiguous_member' } },
      { error: { code: 'request.malformed_json' } },
    ]);
    mine.say({ ...ask, previous_response_id: made });
    await mine.hears('response.completed', 2);
    // By HTTP as well, either way.
    const over = {
      headers: {
        'x-service-provider': 'openai',
        'x-service-custom-host': vendor.base,
        authorization: `Bearer ${vendorKey}`,
        'x-service-api-key': key,
        'content-type': 'application/json',
      },
    };
    const asked = await fetch(`${origin}/v1/responses`, {
      method: 'POST',
      ...over,
      body: JSON.stringify({ model: 'm', input: 'a', previous_response_id: made }),
    });
    expect([asked.status, await asked.text()]).toEqual([
      404,
      expect.stringContaining('object.owner_unknown'),
    ]);
  });

  it('how many sessions a key may have', async () => {
    const { key } = await newKey({});
    const all = await Promise.all(
      Array.from({ length: sessionsMax }, () => session('silent', { key })),
    );
    expect(await refusal('silent', { key })).toMatchObject({ status: 429, code: 'limit.sessions' });
    all[0]?.socket.close();
    await eventually(async () => {
      const { socket } = await session('silent', { key });
      socket.close();
    });
  });
});

describe('openai 7.57, over TLS', () => {
  it('holds a session, and responses over WebSocket', async () => {
    const tls = await tlsInFront(origin);
    const saved = await lab.saveProvider({
      aiProviderId: 'openai',
      key: vendorKey,
      customHost: vendor.base,
    });
    const client = new OpenAI({
      apiKey: scenario.stack.credentials.workspace_key,
      baseURL: `${tls.origin}/v1`,
    });
    const options = {
      ca: testCertificate('authority'),
      headers: { 'x-service-provider': saved, 'x-service-metadata': '{"metadata":"client"}' },
    };
    const live = new OpenAIRealtimeWS({ model: 'gpt-realtime', options }, client);
    open.push(live.socket);
    const done = new Promise((resolve, reject) => {
      live.on('error', reject);
      live.on('session.created', () => live.send({ type: 'response.create' }));
      live.on('response.done', ({ response }) => resolve(response.usage));
    });
    expect(await done).toEqual(responseUsage);
    live.close();
    await recordsOf('client', 'response.done', 1);

    const responses = new ResponsesWS(client, options);
    const completed = new Promise((resolve, reject) => {
      responses.on('error', reject);
      responses.on('response.completed', ({ response }) => resolve(response.status));
    });
    responses.socket.on('open', () =>
      responses.send({ type: 'response.create', model: 'gpt-4o-mini', input: 'Hello' }),
    );
    expect(await completed).toBe('completed');
    responses.close();
    await recordsOf('client', 'response.completed', 1);
    tls.close();
  });
});

callCases(() => ({ lab, vendor, newKey, recordsOf, session }));
handoverCases(() => ({ lab, vendor, newKey, recordsOf, session }));
guardedCallCases(() => ({ lab, vendor, newKey, recordsOf, session }));
translationCases(() => ({ lab, vendor, newKey, recordsOf, session }));
clientCases(() => ({ lab, vendor, recordsOf }));

it('a key that was shown to nobody it belongs to is in no log', async () => {
  const metrics = await (await fetch(scenario.stack.gatewayMetricsUrl)).text();
  expect(metrics).not.toContain(canary);
  expect(metrics).toMatch(/^sluice_realtime_sessions\{.*\} \d+$/m);
  const said = JSON.stringify(records.all(), (_key, value) =>
    typeof value === 'bigint' ? Number(value) : value,
  );
  expect(said).not.toContain(canary);
});

it('SIGTERM lets sessions go on until the drain is over, and tells them then', async () => {
  const live = await session('gpt-realtime', { metadata: 'drained' });
  const stopped = scenario.stack.part('gateway').stop();
  await delay(drainMs / 2);
  live.say({ type: 'response.create', cut: true });
  await live.hears('response.created');
  expect(await live.closed).toEqual({ code: 1001, reason: 'gateway.draining' });
  await stopped;
  const [cut] = await recordsOf('drained', 'response.done', 1);
  expect(cut).toMatchObject({ outcome: usage.Outcome.PARTIAL, errorCode: 'gateway.draining' });
});
