import {
  type DescMessage,
  type DescMethod,
  type DescService,
  fromBinary,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import type { MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';

/** Metadata key that carries the shared token. */
export const tokenKey = 'x-sluice-token';

/** Metadata key of a failed call: which error of ours it is. */
export const errorKey = 'x-sluice-error';

/** Told how long each message took to be read or written. */
export type OnConverted = (side: 'request' | 'reply', method: DescMethod, ms: number) => void;

/** A method of a descriptor as grpc-js wants it. */
export function methodDefinition(method: DescMethod): MethodDefinition<object, object> {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream:
      method.methodKind === 'client_streaming' || method.methodKind === 'bidi_streaming',
    responseStream:
      method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming',
    requestSerialize: serializer(method.input),
    requestDeserialize: deserializer(method.input),
    responseSerialize: serializer(method.output),
    responseDeserialize: deserializer(method.output),
  };
}

/** All methods of a service, as the side that answers has them. */
export function serviceDefinition(
  service: DescService,
  onConverted: OnConverted | undefined,
): ServiceDefinition {
  return Object.fromEntries(
    service.methods.map((method) => {
      const definition = methodDefinition(method);
      if (onConverted === undefined) return [method.localName, definition];
      const { requestDeserialize, responseSerialize } = definition;
      return [
        method.localName,
        {
          ...definition,
          requestDeserialize: timed(requestDeserialize, (ms) => onConverted('request', method, ms)),
          responseSerialize: timed(responseSerialize, (ms) => onConverted('reply', method, ms)),
        },
      ];
    }),
  );
}

function timed<From, To>(convert: (from: From) => To, tell: (ms: number) => void) {
  return (from: From): To => {
    const startedAt = performance.now();
    const to = convert(from);
    tell(performance.now() - startedAt);
    return to;
  };
}

function serializer(schema: DescMessage) {
  return (message: object): Buffer => {
    const bytes = toBinary(schema, message as MessageShape<DescMessage>);
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
}

function deserializer(schema: DescMessage) {
  return (bytes: Buffer): object => fromBinary(schema, bytes);
}
