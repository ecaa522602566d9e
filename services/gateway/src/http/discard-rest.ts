import type { IncomingMessage } from 'node:http';

/**
 * Reads on for a moment after an early answer: closing a socket with unread
 * data resets it, and the caller would lose the answer that says why.
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
