import type { IncomingMessage } from 'node:http';
import { GatewayError } from '@sluice/errors';

/**
 * The whole body, or an error. A body that is too large is refused as soon as
 * that is known, from its declared length if there is one.
 * @throws GatewayError `request.too_large`, `request.aborted`
 */
export function readBody(req: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const declared = Number(req.headers['content-length']);
  if (declared > bytesMax) return Promise.reject(tooLarge(bytesMax));
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    let rest: Buffer[] | undefined;
    let total = 0;
    const onData = (chunk: Buffer) => {
      total += chunk.length;
      if (total > bytesMax) {
        stop();
        req.pause();
        reject(tooLarge(bytesMax));
      } else if (first === undefined) first = chunk;
      else {
        rest ??= [first];
        rest.push(chunk);
      }
    };
    const onEnd = () => {
      stop();
      resolve(rest === undefined ? (first ?? empty) : Buffer.concat(rest, total));
    };
    const onGone = () => {
      stop();
      reject(new GatewayError('request.aborted'));
    };
    const stop = () => {
      req.off('data', onData);
      req.off('end', onEnd);
      req.off('close', onGone);
      req.off('error', onGone);
    };
    req.on('data', onData);
    req.on('end', onEnd);
    req.on('close', onGone);
    req.on('error', onGone);
  });
}

const empty = Buffer.alloc(0);

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError('request.too_large', {
    message: `The request body is larger than ${bytesMax} bytes.`,
  });
}
