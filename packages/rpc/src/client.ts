import {
  create,
  type DescMessage,
  type DescMethod,
  type DescService,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import {
  Client,
  type ClientReadableStream,
  credentials,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { SettingsError } from '@sluice/env';
import { answeredConnections } from './answered-connections.ts';
import { methodDefinition, tokenKey } from './definition.ts';
import { greeting, greetMethod, type HandshakeOptions, saySelf } from './handshake.ts';
import { isLoopbackAddress } from './loopback.ts';
import { Patience } from './patience.ts';
import { clientCredentials } from './renewed-credentials.ts';
import type { ClientTls } from './tls.ts';
import { whyUnreachable } from './why-unreachable.ts';

export interface RpcClientOptions {
  /** host:port */
  address: string;
  token: string;
  /** Without it the connection is plaintext, which is refused beyond loopback. */
  tls?: ClientTls | undefined;
  /** Allows plaintext beyond loopback, the token with it. */
  allowInsecure?: boolean;
  /** Largest message in either direction, bytes. */
  messageBytesMax?: number;
  /** How long `failFast` calls wait, all together, for a side that only just went, ms. */
  graceMs?: number;
  /** A connection over which nothing comes for so long after it was made is made anew, ms. */
  firstBytesMs?: number;
  /** Who asks whom, so that releases that do not work with each other find out before they try; without it nobody does. */
  handshake?: HandshakeOptions | undefined;
}

/** Unary calls by name. Every call has a deadline; a failure is grpc-js's ServiceError with `code`. */
export interface RpcClient {
  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { methodKind: 'unary'; input: I; output: O },
    request: MessageInitShape<I>,
    /** With `failFast` a side that is down is an error at once, unless it only just went (`patience.ts`); otherwise it is waited for until the deadline. */
    options: { timeoutMs: number; signal?: AbortSignal; failFast?: boolean },
  ): Promise<MessageShape<O>>;
  /** The caller must listen to 'data', 'error' and 'end', and cancel() when done. */
  serverStream<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { methodKind: 'server_streaming'; input: I; output: O },
    request: MessageInitShape<I>,
    options?: { failFast?: boolean },
  ): ClientReadableStream<MessageShape<O>>;
  /** The caller must listen to 'data', 'error' and 'end', and cancel() when done. */
  duplexStream<I extends DescMessage, O extends DescMessage>(
    method: DescMethod & { methodKind: 'bidi_streaming'; input: I; output: O },
    options?: { failFast?: boolean },
  ): DuplexStream<MessageInitShape<I>, MessageShape<O>>;
  /** Why the other side does not answer now, in words for who runs the two; undefined = it does. Waits for nobody who is not there. */
  whyUnreachable(timeoutMs: number): Promise<string | undefined>;
  close(): void;
}

/** Both sides speak when they like. */
export type DuplexStream<I, O> = ClientReadableStream<O> & {
  /** False = 'drain' tells when to go on. */
  say(message: I): boolean;
  /** Nothing more is said. */
  end(): void;
};

/** @throws SettingsError when the token would travel in the clear. */
export function createRpcClient(_service: DescService, options: RpcClientOptions): RpcClient {
  const { tls } = options;
  if (tls === undefined && options.allowInsecure !== true && !isLoopbackAddress(options.address))
    throw new SettingsError([
      `gRPC to ${options.address} needs TLS; set the TLS_* variables, or GRPC_ALLOW_INSECURE=true on a trusted network.`,
    ]);
  const channelCredentials = answeredConnections(
    tls === undefined ? credentials.createInsecure() : clientCredentials(tls),
    options.firstBytesMs,
  );
  const bytesMax = options.messageBytesMax ?? 64 * 1024 * 1024;
  const { handshake, token } = options;
  const interceptors =
    handshake === undefined ? [] : [greeting(() => client, { ...handshake, token: () => token })];
  const client: Client = new Client(options.address, channelCredentials, {
    interceptors,
    'grpc.max_receive_message_length': bytesMax,
    'grpc.max_send_message_length': bytesMax,
    // Services of one installation talk to each other directly, whatever http_proxy says.
    'grpc.enable_http_proxy': 0,
    // Come back quickly after the other side restarts; the default backs off to two minutes.
    'grpc.initial_reconnect_backoff_ms': 200,
    'grpc.max_reconnect_backoff_ms': 1000,
    'grpc.keepalive_time_ms': 10_000,
    'grpc.keepalive_timeout_ms': 5_000,
  });
  // A call made while the other side restarts waits for it, within its deadline.
  const patient = new Metadata({ waitForReady: true });
  const impatient = new Metadata();
  const patience = new Patience(client, options.graceMs);
  let hasAnswered = false;
  for (const metadata of [patient, impatient]) {
    metadata.set(tokenKey, token);
    saySelf(metadata, handshake?.role);
  }

  return {
    unary(method, request, { timeoutMs, signal, failFast }) {
      const definition = methodDefinition(method);
      const graceMs = failFast === true ? patience.leftMs() : undefined;
      return new Promise((resolve, reject) => {
        const call = client.makeUnaryRequest(
          definition.path,
          definition.requestSerialize,
          definition.responseDeserialize,
          create(method.input, request) as object,
          graceMs === 0 ? impatient : patient,
          { deadline: Date.now() + timeoutMs },
          (error, value) => {
            signal?.removeEventListener('abort', cancel);
            endGrace();
            hasAnswered ||= error === null;
            if (error) reject(isGraceOver ? notThere(error) : error);
            else if (value === undefined)
              reject(Object.assign(new Error('empty answer'), { code: status.INTERNAL }));
            else resolve(value as MessageShape<typeof method.output>);
          },
        );
        const cancel = () => call.cancel();
        signal?.addEventListener('abort', cancel, { once: true });
        let isGraceOver = false;
        const endGrace = patience.whenOver(graceMs, () => {
          isGraceOver = true;
          cancel();
        });
      });
    },
    serverStream(method, request, options) {
      const definition = methodDefinition(method);
      const graceMs = options?.failFast === true ? patience.leftMs() : undefined;
      const stream = client.makeServerStreamRequest(
        definition.path,
        definition.requestSerialize,
        definition.responseDeserialize,
        create(method.input, request) as object,
        graceMs === 0 ? impatient : patient,
      ) as ClientReadableStream<MessageShape<typeof method.output>>;
      stream.once(
        'status',
        patience.whenOver(graceMs, () => stream.cancel()),
      );
      return stream;
    },
    duplexStream(method, options) {
      const definition = methodDefinition(method);
      const graceMs = options?.failFast === true ? patience.leftMs() : undefined;
      const stream = client.makeBidiStreamRequest(
        definition.path,
        definition.requestSerialize,
        definition.responseDeserialize,
        graceMs === 0 ? impatient : patient,
      );
      stream.once(
        'status',
        patience.whenOver(graceMs, () => stream.cancel()),
      );
      const say = (message: MessageInitShape<typeof method.input>) =>
        stream.write(create(method.input, message) as object);
      return Object.assign(stream, { say }) as never;
    },
    whyUnreachable(timeoutMs) {
      return new Promise((resolve) => {
        client.makeUnaryRequest(
          greetMethod.path,
          greetMethod.requestSerialize,
          greetMethod.responseDeserialize,
          Buffer.alloc(0),
          impatient,
          { deadline: Date.now() + timeoutMs },
          (error) =>
            // One of before the handshake does not know the greeting, and answers.
            resolve(
              error === null || isAnswerOfOld(error)
                ? undefined
                : whyUnreachable(error, tls !== undefined || hasAnswered),
            ),
        );
      });
    },
    close: () => client.close(),
  };
}

/** We have cancelled it ourselves, which tells nobody anything. */
function notThere(error: ServiceError): Error {
  const details = 'no connection could be made for as long as it is waited for';
  const message = `${status.UNAVAILABLE} UNAVAILABLE: ${details}`;
  return Object.assign(error, { code: status.UNAVAILABLE, details, message });
}

function isAnswerOfOld({ code, details }: ServiceError): boolean {
  return code === status.UNIMPLEMENTED && !details.includes('HTTP status');
}
