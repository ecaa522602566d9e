import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import { keepAliveMs } from '@sluice/testkit';
import type { RunningServer } from './start-fixtures.ts';

/**
 * For clients that cannot send a credential: adds it, and passes everything
 * else on as it came, each request to the next of the addresses.
 */
export async function startKeyProxy(urls: readonly string[], key: string): Promise<RunningServer> {
  let next = 0;
  const server = createServer({ keepAliveTimeout: keepAliveMs }, (incoming, outgoing) => {
    const target = new URL(urls[next++ % urls.length] as string);
    const forwarded = httpRequest(
      target,
      {
        method: incoming.method,
        headers: [...incoming.rawHeaders, 'x-service-api-key', key],
        agent: false,
      },
      (reply) => {
        outgoing.writeHead(reply.statusCode ?? 502, reply.rawHeaders);
        outgoing.flushHeaders();
        pipeline(reply, outgoing, () => {});
      },
    );
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    pipeline(incoming, forwarded, () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
