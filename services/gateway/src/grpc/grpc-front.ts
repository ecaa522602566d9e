import { create } from '@bufbuild/protobuf';
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  ServerInterceptingCall,
  type ServerInterceptor,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { callers, reflection } from '@sluice/proto-stubs';
import {
  bindServer,
  type OnConverted,
  release,
  type ServerTls,
  serverCredentials,
  serviceDefinition,
} from '@sluice/rpc';
import type { Part } from '@sluice/service';
import type { Readiness } from '../routes/health.ts';
import { type AnswerCallDeps, AnsweredCall } from './answer-call.ts';
import { type CalledEndpoint, calledEndpoints } from './called-endpoints.ts';
import { Reflection } from './reflection.ts';

export interface GrpcFrontOptions extends Omit<AnswerCallDeps, 'encrypted'> {
  readonly host: string;
  readonly port: number;
  readonly tls: ServerTls | undefined;
  readonly readiness: () => Readiness;
  /** Ends what is left at the drain's deadline, each with an answer. */
  readonly cut: () => void;
  readonly onConverted: OnConverted;
}

/** A request around its input: field number and length. */
const aroundInputBytes = 16;

/** What callers have for their last bytes, as over HTTP. */
const lastBytesMs = 150;

const { Gateway } = callers;

/** The port of callers who speak gRPC. */
export function grpcFront(options: GrpcFrontOptions): Part {
  const { host, port, tls, timeoutMs } = options;
  const server = new Server({
    'grpc.max_receive_message_length': options.serving.bodyBytesMax.json + aroundInputBytes,
    'grpc.max_concurrent_streams': 1024,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.max_connection_idle_ms': 15 * 60_000,
    // Nobody can hold an answer for ever by not reading it.
    'grpc.max_connection_age_ms': 60 * 60_000,
    'grpc.max_connection_age_grace_ms': timeoutMs.stream + 30_000,
    'grpc-node.max_session_memory': 64,
    'grpc.enable_channelz': 0,
    interceptors: [takeCalls({ ...options, encrypted: tls !== undefined })],
  });
  let bound: number | undefined;
  return {
    name: 'grpc-front',
    async start() {
      addServices(server, options);
      bound = await bindServer(server, { host, port }, credentialsOf(tls));
    },
    drain: (deadlineMs) =>
      new Promise((resolve) => {
        let late = setTimeout(() => {
          options.cut();
          late = setTimeout(() => {
            server.forceShutdown();
            resolve();
          }, lastBytesMs);
        }, deadlineMs);
        server.tryShutdown(() => {
          clearTimeout(late);
          resolve();
        });
      }),
    stop: () => server.forceShutdown(),
    ports: () => ({ grpc_port: bound }),
  };
}

/** Takes a call over as soon as its metadata is there: the library's own handlers are given whole messages. */
function takeCalls(deps: AnswerCallDeps): ServerInterceptor {
  const byPath = new Map<string, CalledEndpoint>(
    Object.entries(calledEndpoints).map(([name, called]) => [
      `/${Gateway.typeName}/${Gateway.method[name as keyof typeof calledEndpoints].name}`,
      called,
    ]),
  );
  return ({ path }, call) => {
    const called = byPath.get(path);
    return new ServerInterceptingCall(
      call,
      called === undefined ? {} : { start: () => new AnsweredCall(call, called, deps).start() },
    );
  };
}

function addServices(server: Server, { readiness, onConverted, timeoutMs }: GrpcFrontOptions) {
  const handlers: UntypedServiceImplementation = {
    health: (_call: unknown, answer: (error: null, health: object) => void) =>
      answer(null, healthOf(readiness())),
  };
  for (const name of Object.keys(calledEndpoints))
    handlers[name] = () => {
      throw new Error('the call was taken over before');
    };
  server.addService(serviceDefinition(Gateway, onConverted), handlers);
  const described = new Reflection([Gateway, reflection.ServerReflection]);
  const serverReflectionInfo = (
    call: ServerDuplexStream<
      reflection.ServerReflectionRequest,
      reflection.ServerReflectionResponse
    >,
  ) => {
    const late = setTimeout(() => call.end(), timeoutMs.unary);
    call.on('data', (request) => {
      if (call.write(described.answer(request))) return;
      call.pause();
      call.once('drain', () => call.resume());
    });
    call.on('end', () => call.end());
    for (const over of ['end', 'cancelled', 'error', 'finish'])
      call.on(over, () => clearTimeout(late));
  };
  const definition = serviceDefinition(reflection.ServerReflection, undefined);
  server.addService(definition, { serverReflectionInfo });
  // What tools asked before it was called v1, with the same messages.
  const older = Object.entries(definition).map(([name, method]) => [
    name,
    { ...method, path: method.path.replace('.v1.', '.v1alpha.') },
  ]);
  server.addService(Object.fromEntries(older), { serverReflectionInfo });
}

function healthOf({ ready, draining }: Readiness) {
  const status = draining ? 'draining' : ready ? 'ok' : 'starting';
  return create(callers.HealthResponseSchema, {
    status,
    message: messages[status],
    version: release,
  });
}

const messages = {
  ok: 'The gateway takes calls.',
  starting: 'The gateway has nothing yet to decide by.',
  draining: 'The gateway is about to end.',
};

/** Who callers are is told by their keys, as over HTTPS: they need no certificate. */
function credentialsOf(tls: ServerTls | undefined): ServerCredentials {
  return tls === undefined ? ServerCredentials.createInsecure() : serverCredentials(tls, false);
}
