import type { DescService } from '@bufbuild/protobuf';
import { type RpcHandlers, type RpcServer, type ServeRpcOptions, serveRpc } from '@sluice/rpc';
import type { Part } from './part.ts';

/** Adds a service to the server that has just been opened. */
export type Serve = (server: RpcServer) => void;

/** One service of a gRPC port, with what answers its methods. */
export function served<S extends DescService>(service: S, handlers: RpcHandlers<S>): Serve {
  return (server) => server.add(service, handlers);
}

/** Listens for the other services. Draining lets their calls end, and cuts those that do not in time. */
export function rpcPart(options: ServeRpcOptions & { services: readonly Serve[] }): Part {
  let server: RpcServer | undefined;
  return {
    name: 'grpc',
    async start() {
      server = await serveRpc(options);
      for (const serve of options.services) serve(server);
    },
    drain: (deadlineMs) => server?.close(deadlineMs),
    ports: () => ({ grpc_port: server?.port }),
  };
}
