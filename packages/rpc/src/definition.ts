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

export function serviceDefinition(service: DescService): ServiceDefinition {
  return Object.fromEntries(
    service.methods.map((method) => [method.localName, methodDefinition(method)]),
  );
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
