import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Calls back once when the caller leaves before the whole answer was handed
 * over. A pipelined request waits for the answers before it without a socket of
 * its own, and Node tells its response nothing when the connection ends: there
 * the connection itself is listened to.
 */
export function whenCallerGone(
  req: IncomingMessage,
  res: ServerResponse,
  listener: () => void,
): void {
  res.on('close', () => {
    if (!res.writableFinished) listener();
  });
  if (res.socket !== null) return;
  const { socket } = req;
  socket.once('close', listener);
  res.once('finish', () => socket.off('close', listener));
}
