import type { Socket } from 'node:net';
import type { ChannelCredentials } from '@grpc/grpc-js';

/** Either side of HTTP/2 speaks unasked, so its first bytes come at once. */
const usualMs = 10_000;

/**
 * The same credentials, whose connections are given up when the other side says nothing over them. grpc-js waits for that without an
 * end, and makes no other connection meanwhile: who met a load balancer whose target had just gone, or a machine that took the
 * connection and hung, would never come back. Once something was heard its pings find out.
 */
export function answeredConnections(of: ChannelCredentials, ms = usualMs): ChannelCredentials {
  const createConnector: ChannelCredentials['_createSecureConnector'] = (...about) => {
    const connector = of._createSecureConnector(...about);
    const connect: typeof connector.connect = async (socket) => {
      const { promise: late, reject } = Promise.withResolvers<never>();
      const timer = setTimeout(() => reject(cut(socket)), ms);
      // Undone at once where there is no TLS.
      const found = await Promise.race([connector.connect(socket), late]).finally(() =>
        clearTimeout(timer),
      );
      cutWhenSilent(found.socket, ms);
      return found;
    };
    return Object.create(connector, { connect: { value: connect } }) as typeof connector;
  };
  return Object.create(of, {
    _createSecureConnector: { value: createConnector },
  }) as ChannelCredentials;
}

function cutWhenSilent(socket: Socket, ms: number): void {
  const timer = setTimeout(() => {
    if (socket.bytesRead === 0) cut(socket);
  }, ms);
  timer.unref();
  socket.once('close', () => clearTimeout(timer));
}

function cut(socket: Socket): Error {
  const error = new Error('the other side took the connection and said nothing');
  socket.destroy(error);
  return error;
}
