import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Reads on for a moment after an early answer: closing a socket with unread
 * data resets it, and the caller would lose the answer that says why. For the
 * same reason such an answer does not announce the close. When the rest comes
 * in time the connection is good for the next request.
 */
export function discardRest(req: IncomingMessage): void {
  req.on('error', () => {});
  req.resume();
  const timer = setTimeout(() => req.socket.destroy(), lingerMs);
  const stop = () => clearTimeout(timer);
  req.once('end', stop);
  req.once('close', stop);
  timer.unref();
}

const lingerMs = 5000;

/**
 * To be called before the head of any answer. Node closes the connection of a caller who
 * asked for that as soon as the answer is written, which would reset it as well.
 */
export function expectRest(req: IncomingMessage, res: ServerResponse): void {
  if (req.complete) return;
  const closes = !res.shouldKeepAlive;
  res.shouldKeepAlive = true;
  // Not before the answer is whole: the rest may come while it is still being written.
  res.once('finish', () => {
    if (!req.complete) discardRest(req);
    if (!closes) return;
    if (req.complete) req.socket.end();
    else req.once('end', () => req.socket.end());
  });
}
