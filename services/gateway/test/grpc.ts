import { create } from '@bufbuild/protobuf';
import {
  type Client,
  credentials,
  Metadata,
  makeGenericClientConstructor,
  type ServiceError,
  type StatusObject,
} from '@grpc/grpc-js';
import { callers } from '@sluice/proto-stubs';
import { serviceDefinition } from '@sluice/rpc';

export interface GrpcAnswer {
  /** Of the call. */
  code: number;
  details: string;
  /** Undefined where the call failed. */
  statusCode: number | undefined;
  body: string;
  trailing: Record<string, string>;
}

type Headers = Record<string, string | string[]>;

/** A client of the gateway's gRPC port, as grpc-js makes one of a definition. */
export interface GrpcClient {
  readonly client: Client;
  call(method: string, body: unknown, headers?: Headers, deadlineMs?: number): Promise<GrpcAnswer>;
  stream(method: string, body: unknown, headers?: Headers): GrpcStream;
  close(): void;
}

export interface GrpcStream {
  /** Text of the pieces so far. */
  readonly pieces: string[];
  readonly ended: Promise<GrpcAnswer>;
  cancel(): void;
}

export function grpcClient(address: string, creds = credentials.createInsecure()): GrpcClient {
  const Constructor = makeGenericClientConstructor(
    serviceDefinition(callers.Gateway, undefined),
    'Gateway',
  );
  const client = new Constructor(address, creds, { 'grpc.enable_http_proxy': 0 });
  return {
    client,
    call: (method, body, headers = {}, deadlineMs = 30_000) =>
      new Promise((resolve) => {
        let answer: { statusCode?: number; body?: Uint8Array } | undefined;
        const call = unaryOf(client, method)(
          requestOf(body),
          metadataOf(headers),
          { deadline: Date.now() + deadlineMs },
          (_error: ServiceError | null, value: typeof answer) => {
            answer = value;
          },
        );
        call.on('status', (ending: StatusObject) =>
          resolve({
            ...endOf(ending),
            statusCode: answer?.statusCode,
            body: Buffer.from(answer?.body ?? []).toString(),
          }),
        );
      }),
    stream(method, body, headers = {}) {
      const pieces: string[] = [];
      const call = streamOf(client, method)(requestOf(body), metadataOf(headers), {
        deadline: Date.now() + 30_000,
      });
      call.on('data', ({ data }: { data: Uint8Array }) =>
        pieces.push(Buffer.from(data).toString()),
      );
      call.on('error', () => {});
      const ended = new Promise<GrpcAnswer>((resolve) =>
        call.on('status', (ending: StatusObject) =>
          resolve({ ...endOf(ending), statusCode: undefined, body: pieces.join('') }),
        ),
      );
      return { pieces, ended, cancel: () => call.cancel() };
    },
    close: () => client.close(),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the library makes the methods while it runs
type Methods = Record<string, any>;

function unaryOf(client: Client, method: string) {
  return (client as unknown as Methods)[method].bind(client);
}

const streamOf = unaryOf;

function requestOf(body: unknown) {
  const input = typeof body === 'string' ? body : JSON.stringify(body);
  return create(callers.GatewayRequestSchema, { input });
}

function metadataOf(headers: Headers): Metadata {
  const metadata = new Metadata();
  for (const [name, values] of Object.entries(headers))
    for (const value of [values].flat()) metadata.add(name, value);
  return metadata;
}

function endOf({ code, details, metadata }: StatusObject) {
  const trailing = Object.entries(metadata.getMap()).map(([name, value]) => [name, String(value)]);
  return { code, details, trailing: Object.fromEntries(trailing) as Record<string, string> };
}
