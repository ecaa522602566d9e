import type { Server } from 'node:http';
import { WebSocket, WebSocketServer } from 'ws';

const options = { perMessageDeflate: false, skipUTF8Validation: true };

/** Of the bench's upstream: each frame comes back as it was sent. */
export function echoSockets(server: Server): void {
  const sockets = new WebSocketServer({ server, clientTracking: false, ...options });
  sockets.on('connection', (socket) => {
    socket.on('error', () => {});
    socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
}

/** Of the bare proxy: two sockets, whatever one says goes to the other, and nothing else. */
export function relaySockets(server: Server, upstreamOrigin: string): void {
  const sockets = new WebSocketServer({ noServer: true, clientTracking: false, ...options });
  server.on('upgrade', (req, socket, head) => {
    const upstream = new WebSocket(`${upstreamOrigin.replace('http', 'ws')}${req.url}`, options);
    upstream.on('error', () => socket.destroy());
    upstream.once('open', () => {
      sockets.handleUpgrade(req, socket, head, (caller) => {
        caller.on('error', () => {});
        caller.on('message', (data, isBinary) => upstream.send(data, { binary: isBinary }));
        upstream.on('message', (data, isBinary) => caller.send(data, { binary: isBinary }));
        caller.on('close', () => upstream.close());
        upstream.on('close', () => caller.close());
      });
    });
  });
}
