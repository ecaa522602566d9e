import type { Server, ServerCredentials } from '@grpc/grpc-js';
import { SettingsError } from '@sluice/env';

/**
 * Listens, and gives the port in use, also when 0 was asked for.
 * @throws SettingsError with one line of a port that cannot be had
 */
export async function bindServer(
  server: Server,
  { host, port }: { host: string; port: number },
  credentials: ServerCredentials,
): Promise<number> {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new Promise((resolve, reject) => {
    server.bindAsync(address, credentials, (error, bound) => {
      if (error === null) return resolve(bound);
      // The library says why at the end.
      const why = /^No address added .+ errors: \[(.+)\]$/.exec(error.message)?.[1];
      reject(new SettingsError([`GRPC_PORT ${port} cannot be used: ${why ?? error.message}`]));
    });
  });
}
