import { createHash, timingSafeEqual } from 'node:crypto';
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescService,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServerUnaryCall,
  type ServerWritableStream,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { SettingsError } from '@sluice/env';
import { fromUnknown, type GatewayError } from '@sluice/errors';
import { bindServer } from './bind-server.ts';
import type { ServiceRole } from './compatibility.ts';
import { errorKey, type OnConverted, serviceDefinition, tokenKey } from './definition.ts';
import { greetMethod, refusalOf, saySelf } from './handshake.ts';
import { isLoopbackHost } from './loopback.ts';
import { serverCredentials } from './renewed-credentials.ts';
import type { ServerTls } from './tls.ts';

/** What a handler is told of who waits for its answer. */
export interface CallContext {
  /** Aborts when the caller has gone, or its deadline is over. */
  readonly signal: AbortSignal;
  /** Until when the caller waits, by this machine's clock, ms since 1970; undefined = for as long as it takes. */
  readonly deadlineMs?: number | undefined;
}

type Handler<M> = M extends DescMethod & {
  methodKind: 'unary';
  input: infer I extends DescMessage;
  output: infer O extends DescMessage;
}
  ? (request: MessageShape<I>, context: CallContext) => Promise<MessageInitShape<O>>
  : M extends DescMethod & {
        methodKind: 'server_streaming';
        input: infer I extends DescMessage;
        output: infer O extends DescMessage;
      }
    ? (request: MessageShape<I>, context: CallContext) => AsyncIterable<MessageInitShape<O>>
    : M extends DescMethod & {
          methodKind: 'bidi_streaming';
          input: infer I extends DescMessage;
          output: infer O extends DescMessage;
        }
      ? (
          requests: AsyncIterable<MessageShape<I>>,
          context: CallContext,
        ) => AsyncIterable<MessageInitShape<O>>
      : never;

/** One handler a method, by its local name. A unary handler returns the answer; a streaming one is an async generator. */
export type RpcHandlers<S extends DescService> = {
  [K in keyof S['method']]: Handler<S['method'][K]>;
};

export interface ServeRpcOptions {
  host: string;
  port: number;
  token: string;
  /** Further tokens that are taken, while one is rotated. */
  tokensAlso?: readonly string[];
  /** Which service answers, so that callers of a release that it does not know are refused; without it nobody is. */
  role?: ServiceRole | undefined;
  tls?: ServerTls | undefined;
  /** Allows plaintext beyond loopback; start fails otherwise. */
  allowInsecure?: boolean;
  /** Largest request, bytes. */
  requestBytesMax?: number;
  /** What a handler's failure is to whoever asked, where it is not what was thrown. */
  translate?: (error: unknown) => unknown;
  onError?: (error: GatewayError, method: string) => void;
  onConverted?: OnConverted;
}

export interface RpcServer {
  /** The port in use, also when 0 was asked for. */
  readonly port: number;
  add<S extends DescService>(service: S, handlers: RpcHandlers<S>): void;
  /** Waits for calls under way for at most `graceMs`, then cuts them. */
  close(graceMs: number): Promise<void>;
}

/**
 * What a handler needs is away, which is told where it is watched: to whoever asked it is as if this service were away, with the
 * sentence as the reason.
 */
export class Unavailable extends Error {}

const requestBytesDefault = 4 * 1024 * 1024;

/** What one connection may hold; ours keep a few streams open, and answer pings. */
const peerLimits = {
  'grpc.max_concurrent_streams': 1024,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.keepalive_timeout_ms': 10_000,
  'grpc.max_connection_idle_ms': 10 * 60_000,
  // Megabytes of one HTTP/2 session: headers, frames under way, data not yet read.
  'grpc-node.max_session_memory': 64,
};

/** Binds the port. Every call must carry the shared token. */
export async function serveRpc(options: ServeRpcOptions): Promise<RpcServer> {
  if (!isLoopbackHost(options.host) && options.tls === undefined && options.allowInsecure !== true)
    throw new SettingsError([
      `gRPC on ${options.host} needs TLS; set the TLS_* variables, or GRPC_ALLOW_INSECURE=true on a trusted network.`,
    ]);

  const server = new Server({
    ...peerLimits,
    'grpc.max_receive_message_length': options.requestBytesMax ?? requestBytesDefault,
    'grpc.max_send_message_length': 64 * 1024 * 1024,
    interceptors: [
      authenticated([options.token, ...(options.tokensAlso ?? [])].map(digest), options.role),
    ],
  });
  const { onError = () => {}, translate = (error) => error } = options;
  const toStatus: ToStatus = (caught, method) => asStatus(translate(caught), method, onError);

  const credentials =
    options.tls === undefined
      ? ServerCredentials.createInsecure()
      : serverCredentials(options.tls, options.tls.clientCa !== undefined);
  const port = await bindServer(server, options, credentials);

  server.addService(
    { greet: greetMethod },
    {
      greet: (_call: unknown, answer: (error: null, bytes: Buffer) => void) =>
        answer(null, Buffer.alloc(0)),
    },
  );
  return {
    port,
    add(service, handlers) {
      const implementation: UntypedServiceImplementation = {};
      for (const method of service.methods) {
        const handler = (handlers as Record<string, unknown>)[method.localName];
        if (typeof handler !== 'function') throw new Error(`no handler for ${method.localName}`);
        implementation[method.localName] = implementationOf(method, handler, toStatus);
      }
      server.addService(serviceDefinition(service, options.onConverted), implementation);
    },
    close: (graceMs) =>
      new Promise((resolve) => {
        const timer = setTimeout(() => {
          server.forceShutdown();
          resolve();
        }, graceMs);
        server.tryShutdown(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}

type UnaryHandler = (request: object, context: CallContext) => Promise<object>;
type StreamHandler = (request: object, context: CallContext) => AsyncIterable<object>;
type DuplexHandler = (
  requests: AsyncIterable<object>,
  context: CallContext,
) => AsyncIterable<object>;
type Report = (error: GatewayError, method: string) => void;
type ToStatus = (caught: unknown, method: DescMethod) => object;

function implementationOf(method: DescMethod, handler: unknown, toStatus: ToStatus) {
  switch (method.methodKind) {
    case 'server_streaming':
      return streamImplementation(method, handler as StreamHandler, toStatus);
    case 'bidi_streaming':
      return (call: ServerDuplexStream<object, object>) =>
        answerStream(
          call,
          method,
          (context) => (handler as DuplexHandler)(call, context),
          toStatus,
        );
    default:
      return unaryImplementation(method, handler as UnaryHandler, toStatus);
  }
}

function unaryImplementation(method: DescMethod, handler: UnaryHandler, toStatus: ToStatus) {
  return async (
    call: ServerUnaryCall<object, object>,
    callback: (error: object | null, value?: object) => void,
  ) => {
    const abort = new AbortController();
    call.on('cancelled', () => abort.abort());
    try {
      const answer = await handler(call.request, contextOf(call, abort.signal));
      callback(null, create(method.output, answer as never));
    } catch (caught) {
      // Who has gone is told nothing, and that what was done for them was cut off is no fault.
      if (caught === abort.signal.reason) callback(cancelled);
      else callback(toStatus(caught, method));
    }
  };
}

function streamImplementation(method: DescMethod, handler: StreamHandler, toStatus: ToStatus) {
  return (call: ServerWritableStream<object, object>) =>
    answerStream(call, method, (context) => handler(call.request, context), toStatus);
}

function contextOf(call: { getDeadline(): Date | number }, signal: AbortSignal): CallContext {
  const deadlineMs = Number(call.getDeadline());
  return Number.isFinite(deadlineMs) ? { signal, deadlineMs } : { signal };
}

async function answerStream(
  call: ServerWritableStream<object, object> | ServerDuplexStream<object, object>,
  method: DescMethod,
  answer: (context: CallContext) => AsyncIterable<object>,
  toStatus: ToStatus,
): Promise<void> {
  const abort = new AbortController();
  call.on('cancelled', () => abort.abort());
  call.on('error', () => abort.abort());
  try {
    for await (const message of answer(contextOf(call, abort.signal))) {
      if (abort.signal.aborted) return;
      if (!call.write(create(method.output, message as never)))
        await Promise.race([
          new Promise((resolve) => call.once('drain', resolve)),
          new Promise((resolve) => abort.signal.addEventListener('abort', resolve, { once: true })),
        ]);
    }
    call.end();
  } catch (caught) {
    if (!abort.signal.aborted) call.emit('error', toStatus(caught, method));
  }
}

/**
 * Looks at the token, and at who calls, when a call's headers have come. Its message is neither
 * read nor decoded before that: what was sent for a refused call is dropped. Every answer says who answers.
 */
function authenticated(
  expected: readonly Buffer[],
  role: ServiceRole | undefined,
): ServerInterceptor {
  return (_method, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata(metadata, pass) {
            if (!authorised(metadata, expected)) return call.sendStatus(unauthenticated);
            const refusal = role && refusalOf(metadata, role);
            if (refusal === undefined) pass(metadata);
            else call.sendStatus({ code: status.FAILED_PRECONDITION, details: refusal });
          },
        }),
      sendMetadata(metadata, next) {
        saySelf(metadata, role);
        next(metadata);
      },
    });
}

const cancelled = { code: status.CANCELLED, details: 'The caller has gone.' };
const unauthenticated = {
  code: status.UNAUTHENTICATED,
  details: 'The service token is missing or wrong.',
};

function asStatus(caught: unknown, method: DescMethod, report: Report) {
  if (caught instanceof Unavailable) return { code: status.UNAVAILABLE, details: caught.message };
  const error = fromUnknown(caught);
  report(error, method.name);
  const code =
    error.status === 404
      ? status.NOT_FOUND
      : error.status < 500
        ? status.INVALID_ARGUMENT
        : status.INTERNAL;
  const metadata = new Metadata();
  metadata.set(errorKey, JSON.stringify({ code: error.code, field: error.field }));
  return { code, details: error.message, metadata };
}

function authorised(metadata: Metadata, expected: readonly Buffer[]): boolean {
  const sent = metadata.get(tokenKey)[0];
  if (sent === undefined) return false;
  const found = digest(String(sent));
  return expected.some((each) => timingSafeEqual(found, each));
}

function digest(value: string): Buffer {
  return createHash('sha256').update(value).digest();
}
