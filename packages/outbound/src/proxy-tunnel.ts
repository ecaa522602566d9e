import { request } from 'node:http';
import { isIP, connect as openTcp, type Socket } from 'node:net';
import { connect as openTls } from 'node:tls';
import { failureCauses, GatewayError } from '@sluice/errors';
import type { OutboundProxy } from './proxies.ts';
import { unreachable } from './upstream-failure.ts';

/**
 * A connection to a host that a proxy opens for us (`CONNECT`). The proxy is
 * the operator's choice: its own address is under none of the host rules.
 * @param onSocket is given the connection to the proxy at once, to end it when time is up
 */
export function openTunnel(
  proxy: OutboundProxy,
  hostname: string,
  port: number,
  onSocket: (socket: Socket) => void,
): Promise<Socket> {
  const socket = openTcp({ host: proxy.hostname, port: proxy.port });
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 60_000);
  // Its failures are those of the request below.
  socket.on('error', () => undefined);
  onSocket(socket);
  const link = proxy.secure ? secured(socket, proxy.hostname) : socket;
  if (link !== socket) onSocket(link);
  const target = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`;
  return new Promise((resolve, reject) => {
    const ask = request({
      method: 'CONNECT',
      path: target,
      headers: {
        host: target,
        ...(proxy.authorization === undefined
          ? {}
          : { 'proxy-authorization': proxy.authorization }),
      },
      createConnection: () => link,
    });
    ask.once('connect', (reply, tunnel, head) => {
      if (reply.statusCode !== 200) return reject(refused(reply.statusCode));
      if (head.length > 0) tunnel.unshift(head);
      resolve(tunnel as Socket);
    });
    // Some proxies refuse with an ordinary answer.
    ask.once('response', (reply) => {
      reply.destroy();
      reject(refused(reply.statusCode));
    });
    ask.on('error', (cause) => reject(unreachable('proxy_unreachable', { cause })));
    ask.end();
  });
}

function secured(socket: Socket, hostname: string): Socket {
  return openTls({ socket, host: hostname, ...(isIP(hostname) ? {} : { servername: hostname }) });
}

function refused(status: number | undefined): GatewayError {
  return new GatewayError('upstream.unreachable', {
    message: `The provider could not be reached: ${failureCauses.proxy_refused} (${status ?? 0}).`,
    failureCause: 'proxy_refused',
  });
}
