import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { GatewayError } from '@sluice/errors';
import { notePassingBytes } from '@sluice/service';

/**
 * The unread body of a request as a stream of its own. An HTTP client destroys
 * the body it was given when the other side fails or answers early; with the
 * request itself that would cut the caller's connection, and the answer with it.
 * A caller who leaves half-way ends the stream with `request.aborted`.
 */
export function bodyStream(req: IncomingMessage): Readable {
  const onData = (chunk: Buffer) => {
    notePassingBytes(chunk.length);
    if (!body.push(chunk)) req.pause();
  };
  const onEnd = () => {
    detach();
    body.push(null);
  };
  const onGone = () => {
    detach();
    body.destroy(new GatewayError('request.aborted'));
  };
  const detach = () => {
    req.off('data', onData);
    req.off('end', onEnd);
    req.off('close', onGone);
    req.off('error', onGone);
  };
  const body = new Readable({
    read: () => void req.resume(),
    destroy(error, done) {
      detach();
      // Whoever answers the caller decides what becomes of the rest.
      if (!req.destroyed) req.pause();
      done(error);
    },
  });
  // The client that reads it learns of errors by its own means; without it nobody cares.
  body.on('error', () => {});
  req.on('data', onData);
  req.on('end', onEnd);
  req.on('close', onGone);
  req.on('error', onGone);
  req.pause();
  return body;
}

export function carriesBody(headers: IncomingHttpHeaders): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > 0;
}
