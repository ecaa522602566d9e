import { connect, type IncomingHttpHeaders } from 'node:http2';
import { create, fromBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { Client, credentials, status } from '@grpc/grpc-js';
import { arrivalReader, headerPrefixes } from '@sluice/contracts';
import { GatewayError } from '@sluice/errors';
import { reflection } from '@sluice/proto-stubs';
import { serviceDefinition } from '@sluice/rpc';
import type { Part } from '@sluice/service';
import { createLogger } from '@sluice/telemetry';
import { eventually, testCertificate } from '@sluice/testkit';
import { afterEach, describe, expect, it } from 'vitest';
import { type GrpcClient, grpcClient } from '../../test/grpc.ts';
import type { Exchange } from '../exchange/exchange.ts';
import type { Reply, ReplySink } from '../exchange/reply.ts';
import { HeldBytes } from '../http/held-bytes.ts';
import { OpenStreams } from '../http/open-streams.ts';
import { RequestsUnderWay } from '../http/requests-under-way.ts';
import { SlowBodies } from '../http/slow-bodies.ts';
import { type GrpcFrontOptions, grpcFront } from './grpc-front.ts';

/** A front before pipelines of the test's own, on a real port. */
interface Running {
  readonly front: Part;
  readonly port: number;
  readonly client: GrpcClient;
  readonly openStreams: OpenStreams;
}

const running: Running[] = [];
afterEach(() => {
  for (const { front, client } of running.splice(0)) {
    client.close();
    front.stop?.(0);
  }
});

async function start(
  run: (exchange: Exchange) => Promise<Reply>,
  {
    serving,
    ...over
  }: Partial<Omit<GrpcFrontOptions, 'serving'>> & {
    serving?: Partial<GrpcFrontOptions['serving']>;
  } = {},
): Promise<Running> {
  const openStreams = new OpenStreams();
  const underWay = new RequestsUnderWay();
  const front = grpcFront({
    serving: {
      logger: createLogger({ service: 'test', level: 'silent' }),
      metrics: { observeRequest: () => {} },
      bodyBytesMax: { json: 1000, form: 1000 },
      slowBodies: new SlowBodies({ bytesPerSecondMin: 0, graceMs: 1000, timeoutMs: 1000 }),
      heldBytes: new HeldBytes(1_000_000),
      openStreams,
      underWay,
      headerPrefixes: headerPrefixes('x-service-', []),
      requestLog: undefined,
      isDraining: () => false,
      readArrival: () => ({ address: '127.0.0.1', host: undefined, proto: 'http' }),
      ...serving,
    },
    run,
    readArrival: arrivalReader([]),
    timeoutMs: { unary: 10_000, stream: 10_000 },
    tellsFailures: 'body',
    host: '127.0.0.1',
    port: 0,
    tls: undefined,
    readiness: () => ({
      ready: true,
      draining: false,
      controlPlane: 'connected',
      keyPepper: 'same',
      ledger: 'taken',
    }),
    cut: () => underWay.cut(),
    onConverted: () => {},
    ...over,
  });
  await front.start?.(new AbortController().signal);
  const port = front.ports?.().grpc_port ?? 0;
  const creds =
    over.tls === undefined
      ? credentials.createInsecure()
      : credentials.createSsl(Buffer.from(testCertificate('authority')));
  const client = grpcClient(`localhost:${port}`, creds);
  const started = { front, port, client, openStreams };
  running.push(started);
  return started;
}

const bodyReply = (http: number, body: string, headers = {}): Reply => ({
  kind: 'body',
  status: http,
  headers: { 'content-type': 'application/json', ...headers },
  body: Buffer.from(body),
});

/** A stream that says what the test says, when it says it. */
function streamReply(pipeTo: (sink: ReplySink) => void): Reply {
  return { kind: 'stream', status: 200, headers: {}, pipeTo, discard() {}, wasWhole: () => true };
}

/** What was asked is told: headers, address and body. */
const echo = async ({ arrival }: Exchange): Promise<Reply> =>
  bodyReply(
    200,
    JSON.stringify({
      headers: arrival.headers,
      address: arrival.callerAddress(),
      body: (await arrival.readBody()).toString(),
    }),
  );

/** Until the caller leaves, or everybody has to. */
const hang = ({ arrival: { signal } }: Exchange): Promise<Reply> =>
  new Promise((_resolve, reject) =>
    signal.addEventListener('abort', () =>
      reject(
        signal.reason instanceof GatewayError ? signal.reason : new GatewayError('request.aborted'),
      ),
    ),
  );

describe('the gRPC port', () => {
  it('takes metadata for headers, and nothing of the call itself', async () => {
    const { client } = await start(echo);
    const answer = await client.call('chatCompletions', '{}', {
      authorization: 'Bearer one',
      'x-forwarded-for': ['1.2.3.4', '5.6.7.8'],
      constructor: 'x',
      'grpc-previous-rpc-attempts': '1',
    });
    const { headers, address, body } = JSON.parse(answer.body);
    expect(headers).toMatchObject({
      authorization: 'Bearer one',
      'x-forwarded-for': '1.2.3.4, 5.6.7.8',
      constructor: 'x',
      'content-type': 'application/json',
    });
    expect(Object.keys(headers).filter((name) => name.startsWith('grpc-'))).toEqual([]);
    expect([address, body]).toEqual(['127.0.0.1', '{}']);
  });

  it('sends headers of replies as metadata can carry them', async () => {
    const odd = {
      'grpc-status': '13',
      'transfer-encoding': 'chunked',
      'content-encoding': 'gzip',
      'x-odd!name': 'x',
      'x-bytes-bin': 'x',
      'x-latin': 'caf\u00e9\u0007',
      'x-twice': ['a', 'b'],
      ...Object.fromEntries(
        Array.from({ length: 200 }, (_, at) => [`x-much-${at}`, 'y'.repeat(99)]),
      ),
    };
    const { client } = await start(() => Promise.resolve(bodyReply(200, '{}', odd)));
    const { code, statusCode, trailing } = await client.call('embeddings', '{}');
    expect([code, statusCode]).toEqual([status.OK, 200]);
    expect(trailing).toMatchObject({ 'x-latin': 'caf', 'x-twice': 'a, b' });
    expect(trailing['x-service-request-id']).toBeTruthy();
    for (const name of ['transfer-encoding', 'content-encoding', 'x-odd!name', 'x-bytes-bin'])
      expect(trailing[name]).toBeUndefined();
    const bytes = Object.entries(trailing).reduce(
      (sum, [n, v]) => sum + n.length + v.length + 32,
      0,
    );
    expect(bytes).toBeLessThan(8192);
  });

  it.each<[number, keyof typeof status]>([
    [400, 'INVALID_ARGUMENT'],
    [401, 'UNAUTHENTICATED'],
    [404, 'NOT_FOUND'],
    [429, 'RESOURCE_EXHAUSTED'],
    [446, 'PERMISSION_DENIED'],
    [418, 'FAILED_PRECONDITION'],
    [504, 'DEADLINE_EXCEEDED'],
    [500, 'INTERNAL'],
  ])('tells %d by the call’s status where that is wanted', async (http, name) => {
    const body = JSON.stringify({ error: { message: 'no: ü\ud800' } });
    const { client } = await start(() => Promise.resolve(bodyReply(http, body)), {
      tellsFailures: 'status',
    });
    const answer = await client.call('messages', '{}');
    expect(status[answer.code]).toBe(name);
    expect(answer.details).toContain('no: ü');
    expect(answer.trailing['x-service-status-code']).toBe(String(http));
    expect((await client.stream('messagesStream', '{}').ended).code).toBe(answer.code);
  });

  it('tells faults of its own by the call’s status, and nothing of them', async () => {
    const { client } = await start(() => Promise.reject(new Error('secret place')));
    const answer = await client.call('responses', '{}');
    expect(answer.code).toBe(status.INTERNAL);
    expect(JSON.stringify(answer)).not.toContain('secret');
  });

  it('does not read what nobody asked for', async () => {
    const { client } = await start(() => Promise.reject(new GatewayError('auth.missing_key')));
    const answer = await client.call('chatCompletions', 'x'.repeat(5_000_000));
    expect([answer.code, answer.statusCode]).toEqual([status.OK, 401]);
  });

  it('ends calls at its deadline, and hears of the caller’s', async () => {
    const { client, openStreams } = await start(hang, { timeoutMs: { unary: 50, stream: 50 } });
    expect((await client.call('chatCompletions', '{}')).code).toBe(status.DEADLINE_EXCEEDED);
    expect((await client.stream('chatCompletionsStream', '{}').ended).code).toBe(
      status.DEADLINE_EXCEEDED,
    );
    expect(openStreams.size).toBe(0);
  });

  it('lets the provider wait for a caller who does not read', async () => {
    let written = 0;
    let isFull = false;
    const piece = Buffer.alloc(32 * 1024, 'x');
    const { port } = await start(() =>
      Promise.resolve(
        streamReply((sink) => {
          const go = () => {
            while (written < 64 * 1024 * 1024) {
              written += piece.length;
              if (!sink.write(piece)) {
                isFull = true;
                return;
              }
            }
          };
          sink.onDrain(go);
          go();
        }),
      ),
    );
    const session = connect(`http://localhost:${port}`);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/gateway.Gateway/ChatCompletionsStream',
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    stream.on('error', () => {});
    stream.end(Buffer.from([0, 0, 0, 0, 0]));
    await eventually(() => isFull);
    expect(written).toBeLessThan(1024 * 1024);
    session.destroy();
  });

  it.each([
    ['no request', Buffer.alloc(0), status.INVALID_ARGUMENT],
    ['two', Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0]), status.INVALID_ARGUMENT],
    ['what is no message', Buffer.from([0, 0, 0, 0, 3, 255, 255, 255]), status.INTERNAL],
    ['more than there may be', Buffer.from([0, 127, 255, 255, 255]), status.RESOURCE_EXHAUSTED],
  ])('refuses %s', async (_name, bytes, code) => {
    const { port } = await start(echo);
    expect(await rawStatus(port, bytes)).toBe(String(code));
  });

  /** So much of a message, and no end of it. */
  const begun = (of: number, sent: number) => {
    const bytes = Buffer.alloc(5 + sent, 'x');
    bytes.writeUInt8(0, 0);
    bytes.writeUInt32BE(of, 1);
    return bytes;
  };

  it('counts a message as held while it comes, and lets go of it', async () => {
    const heldBytes = new HeldBytes(400_000);
    const bodyBytesMax = { json: 1_000_000, form: 1000 };
    const { port, client } = await start(echo, { serving: { heldBytes, bodyBytesMax } });
    const told = await rawStatus(port, begun(900_000, 500_000), {}, 'open');
    expect(told).toBe(String(status.RESOURCE_EXHAUSTED));
    expect(heldBytes.bytes).toBe(0);
    const body = JSON.stringify('x'.repeat(200_000));
    expect((await client.call('chatCompletions', body)).statusCode).toBe(200);
    await eventually(() => heldBytes.bytes === 0);
  });

  it('ends a message that drips, and the call with it', async () => {
    const slowBodies = new SlowBodies({ bytesPerSecondMin: 1e6, graceMs: 1, timeoutMs: 0 });
    const { port } = await start(echo, { serving: { slowBodies }, tellsFailures: 'status' });
    const told = await rawStatus(port, begun(900, 10), {}, 'open');
    expect(told).toBe(String(status.DEADLINE_EXCEEDED));
  });

  it('survives metadata of any size', async () => {
    const { port, client } = await start(echo);
    await rawStatus(port, Buffer.alloc(0), { 'x-large': 'y'.repeat(60_000) }).catch(() => {});
    const many = Object.fromEntries(Array.from({ length: 3000 }, (_, at) => [`x-${at}`, 'y']));
    await rawStatus(port, Buffer.alloc(0), many).catch(() => {});
    expect((await client.call('chatCompletions', '{}')).statusCode).toBe(200);
  });

  it('speaks TLS where it has a certificate', async () => {
    const tls = {
      cert: Buffer.from(testCertificate('server')),
      key: Buffer.from(testCertificate('server-key')),
    };
    const { client } = await start(echo, { tls });
    expect((await client.call('chatCompletions', '{}')).statusCode).toBe(200);
  });

  it('says in one line that it cannot have its port', async () => {
    const { port } = await start(async () => bodyReply(200, '{}'));
    const taken = start(async () => bodyReply(200, '{}'), { port });
    await expect(taken).rejects.toMatchObject({
      faults: [expect.stringMatching(`^GRPC_PORT ${port} cannot be used: .*EADDRINUSE`)],
    });
  });

  it('lets calls end when it is drained, takes no new ones, and tells those that are late', async () => {
    let finish = () => {};
    let asked = 0;
    const { client, front, openStreams } = await start((exchange) => {
      asked++;
      if (exchange.subject.operation.id === 'embed') return hang(exchange);
      const stream = streamReply((sink) => {
        sink.write(Buffer.from('data: a\n\n'));
        finish = () => sink.end();
      });
      return Promise.resolve(stream);
    });
    const stream = client.stream('chatCompletionsStream', '{}');
    await eventually(() => stream.pieces.length === 1 && openStreams.size === 1);
    const late = client.call('embeddings', '{}');
    await eventually(() => asked === 2);
    const draining = front.drain?.(300);
    expect((await client.call('chatCompletions', '{}')).code).toBe(status.UNAVAILABLE);
    finish();
    expect(await stream.ended).toMatchObject({ code: status.OK, body: 'data: a\n\n' });
    expect((await late).code).toBe(status.UNAVAILABLE);
    await draining;
  });

  it('tells what it serves, in both versions of reflection', async () => {
    const { port } = await start(echo);
    const client = new Client(`localhost:${port}`, credentials.createInsecure());
    const { serverReflectionInfo: v1 } = serviceDefinition(reflection.ServerReflection, undefined);
    if (v1 === undefined) throw new Error('reflection has one method');
    for (const path of [v1.path, v1.path.replace('.v1.', '.v1alpha.')]) {
      const call = client.makeBidiStreamRequest(path, v1.requestSerialize, v1.responseDeserialize);
      const answers: reflection.ServerReflectionResponse[] = [];
      call.on('data', (answer) => answers.push(answer));
      const ended = new Promise((resolve) => call.on('end', resolve));
      const ask = (messageRequest: reflection.ServerReflectionRequest['messageRequest']) =>
        call.write(create(reflection.ServerReflectionRequestSchema, { messageRequest }));
      ask({ case: 'listServices', value: '' });
      ask({ case: 'fileContainingSymbol', value: 'gateway.Gateway' });
      ask({ case: 'fileByFilename', value: '../etc/passwd' });
      ask({ case: undefined });
      call.end();
      await ended;
      const [list, file, missing, nothing] = answers.map(({ messageResponse }) => messageResponse);
      expect(list).toMatchObject({
        value: { service: [{ name: 'gateway.Gateway' }, { name: v1.path.split('/')[1] }] },
      });
      const [bytes] = file?.case === 'fileDescriptorResponse' ? file.value.fileDescriptorProto : [];
      const { package: name, service } = fromBinary(
        FileDescriptorProtoSchema,
        bytes ?? new Uint8Array(),
      );
      expect([name, service[0]?.method.length]).toEqual(['gateway', 8]);
      expect(missing).toMatchObject({ value: { errorCode: status.NOT_FOUND } });
      expect(nothing).toMatchObject({ value: { errorCode: status.INVALID_ARGUMENT } });
    }
    client.close();
  });
});

/** The status of a call that is no library's. One that stays open has to be closed by the other side. */
function rawStatus(
  port: number,
  bytes: Buffer,
  metadata: Record<string, string> = {},
  after: 'ended' | 'open' = 'ended',
): Promise<string> {
  const session = connect(`http://localhost:${port}`);
  return new Promise<string>((resolve, reject) => {
    session.on('error', reject);
    const stream = session.request({
      ':method': 'POST',
      ':path': '/gateway.Gateway/ChatCompletions',
      'content-type': 'application/grpc',
      te: 'trailers',
      ...metadata,
    });
    stream.on('error', reject);
    let told: string | undefined;
    const tell = (head: IncomingHttpHeaders) => {
      if (head['grpc-status'] === undefined) return;
      told = String(head['grpc-status']);
      if (after === 'ended') resolve(told);
    };
    stream.on('response', tell);
    stream.on('trailers', tell);
    stream.on('close', () => (told === undefined ? reject(new Error('no status')) : resolve(told)));
    stream.resume();
    if (after === 'ended') stream.end(bytes);
    else stream.write(bytes);
  }).finally(() => session.destroy());
}
