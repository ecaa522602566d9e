import type { IncomingMessage } from 'node:http';
import { GatewayError } from '@sluice/errors';
import { GrowingBytes } from '@sluice/json';
import type { ArrivingBody, SlowBodies } from './slow-bodies.ts';

export interface ReadBodyOptions {
  bytesMax: number;
  slowBodies: SlowBodies;
  /** Asked for each piece; false = no more is held at present. */
  hold: (bytes: number) => boolean;
}

/**
 * The whole body, or an error. A body that is too large is refused as soon as
 * that is known, from its declared length if there is one.
 * @throws GatewayError `request.too_large`, `request.timeout`, `request.aborted`, `overloaded`
 */
export function readBody(
  req: IncomingMessage,
  { bytesMax, slowBodies, hold }: ReadBodyOptions,
): Promise<Buffer> {
  const declared = Number(req.headers['content-length']);
  if (declared > bytesMax) return Promise.reject(tooLarge(bytesMax));
  return new Promise((resolve, reject) => {
    const bytes = new GrowingBytes();
    const arriving: ArrivingBody = {
      older: undefined,
      newer: undefined,
      startedAt: performance.now(),
      total: 0,
      fail(error: GatewayError) {
        stop();
        bytes.clear();
        req.pause();
        reject(error);
      },
    };
    const onData = (chunk: Buffer) => {
      arriving.total += chunk.length;
      if (arriving.total > bytesMax) arriving.fail(tooLarge(bytesMax));
      else if (!hold(chunk.length)) arriving.fail(overloaded());
      else bytes.add(chunk);
    };
    let isOver = false;
    // Nothing is told to them after the end, and taking them off costs as much as all else here.
    const onEnd = () => {
      isOver = true;
      slowBodies.forget(arriving);
      resolve(bytes.take());
    };
    // Whatever breaks a request off closes it; an error is told to those alone who listen.
    const onGone = () => {
      if (isOver) return;
      stop();
      reject(new GatewayError('request.aborted'));
    };
    const stop = () => {
      isOver = true;
      slowBodies.forget(arriving);
      req.off('data', onData);
      req.off('end', onEnd);
      req.off('close', onGone);
    };
    slowBodies.watch(arriving);
    req.on('data', onData);
    req.on('end', onEnd);
    req.on('close', onGone);
  });
}

/** More bodies are held than this process can take. */
export function overloaded(): GatewayError {
  return new GatewayError('overloaded', {
    message: 'This gateway holds as many bytes of bodies as it can; try again in a moment.',
    headers: { 'retry-after': '1' },
  });
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('request.too_large', {
    field: 'body',
    message: `The request body is larger than ${bytesMax} bytes.`,
  });
}
