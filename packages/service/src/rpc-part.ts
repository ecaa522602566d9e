import type { DescService } from '@bufbuild/protobuf';
import {
  callFault,
  type RpcHandlers,
  type RpcServer,
  type ServeRpcOptions,
  serveRpc,
} from '@sluice/rpc';
import type { Logger } from '@sluice/telemetry';
import type { Part } from './part.ts';

/** Adds a service to the server that has just been opened. */
export type Serve = (server: RpcServer) => void;

/** One service of a gRPC port, with what answers its methods. */
export function served<S extends DescService>(service: S, handlers: RpcHandlers<S>): Serve {
  return (server) => server.add(service, handlers);
}

/** Listens for the other services. Draining lets their calls end, and cuts those that do not in time. */
export function rpcPart(
  options: Omit<ServeRpcOptions, 'onError'> & { services: readonly Serve[]; logger: Logger },
): Part {
  const { logger } = options;
  const onError: ServeRpcOptions['onError'] = (error, method) => {
    const { code, cause, status } = error;
    // What was refused, whoever asked is told: anybody with a key could fill the log with it.
    if (status < 500) logger.debug({ code, method }, 'a gRPC call was refused');
    // Whoever asked asks again; that another service is away is said once, by who watches it.
    else if (status === 503) {
      const fault = callFault(error);
      const level = 'reason' in fault ? 'debug' : 'warn';
      logger[level]({ ...fault, code, method }, 'a gRPC call was put off');
    } else logger.error({ err: error, cause, code, method }, 'a gRPC call failed');
  };
  let server: RpcServer | undefined;
  return {
    name: 'grpc',
    async start() {
      server = await serveRpc({ ...options, onError });
      for (const serve of options.services) serve(server);
    },
    drain: (deadlineMs) => server?.close(deadlineMs),
    ports: () => ({ grpc_port: server?.port }),
  };
}
