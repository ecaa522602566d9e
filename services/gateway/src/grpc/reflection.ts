import { create, type DescFile, type DescService, toBinary } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { status } from '@grpc/grpc-js';
import { reflection } from '@sluice/proto-stubs';

type Request = reflection.ServerReflectionRequest;
type Response = Pick<reflection.ServerReflectionResponse, 'messageResponse'>;

/**
 * Answers what tools such as grpcurl ask of a server: which services there are,
 * and their definitions, with the files these need.
 */
export class Reflection {
  readonly #services: readonly string[];
  readonly #byName = new Map<string, DescFile>();
  readonly #bySymbol = new Map<string, DescFile>();

  constructor(services: readonly DescService[]) {
    this.#services = services.map(({ typeName }) => typeName);
    for (const { file } of services) this.#add(file);
  }

  answer(request: Request): reflection.ServerReflectionResponse {
    return create(reflection.ServerReflectionResponseSchema, {
      validHost: request.host,
      originalRequest: request,
      ...this.#answerTo(request.messageRequest),
    });
  }

  #answerTo({ case: asked, value }: Request['messageRequest']): Response {
    switch (asked) {
      case 'listServices':
        return {
          messageResponse: {
            case: 'listServicesResponse',
            value: create(reflection.ListServiceResponseSchema, {
              service: this.#services.map((name) => ({ name })),
            }),
          },
        };
      case 'fileByFilename':
        return found(this.#byName.get(value), value);
      case 'fileContainingSymbol':
        return found(this.#bySymbol.get(value), value);
      case 'fileContainingExtension':
      case 'allExtensionNumbersOfType':
        return failed(status.NOT_FOUND, 'Nothing here has extensions.');
      default:
        return failed(status.INVALID_ARGUMENT, 'Nothing was asked.');
    }
  }

  #add(file: DescFile): void {
    const { name } = file.proto;
    if (this.#byName.has(name)) return;
    this.#byName.set(name, file);
    for (const needed of file.dependencies) this.#add(needed);
    for (const message of file.messages) {
      this.#bySymbol.set(message.typeName, file);
      for (const field of message.fields)
        this.#bySymbol.set(`${message.typeName}.${field.name}`, file);
    }
    for (const service of file.services) {
      this.#bySymbol.set(service.typeName, file);
      for (const method of service.methods)
        this.#bySymbol.set(`${service.typeName}.${method.name}`, file);
    }
  }
}

function found(file: DescFile | undefined, asked: string): Response {
  if (file === undefined) return failed(status.NOT_FOUND, `There is no ${asked}.`);
  const files = new Set([file, ...file.dependencies]);
  return {
    messageResponse: {
      case: 'fileDescriptorResponse',
      value: create(reflection.FileDescriptorResponseSchema, {
        fileDescriptorProto: [...files].map(({ proto }) =>
          toBinary(FileDescriptorProtoSchema, proto),
        ),
      }),
    },
  };
}

function failed(errorCode: number, errorMessage: string): Response {
  return {
    messageResponse: {
      case: 'errorResponse',
      value: create(reflection.ErrorResponseSchema, { errorCode, errorMessage }),
    },
  };
}
