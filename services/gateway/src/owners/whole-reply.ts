import { GatewayError } from '@sluice/errors';
import type { BodyReply, Reply } from '../exchange/reply.ts';

/** Of a list, or whatever else is read before it is told. */
export const wholeBytesMax = 32 * 1024 * 1024;

/** A reply that is a document, whole. @throws GatewayError `upstream.response_too_large` where there is too much of it, or it is cut */
export function wholeReply(reply: Reply): Promise<BodyReply> {
  if (reply.kind === 'body') return Promise.resolve(reply);
  const { status, headers } = reply;
  return new Promise((resolve, reject) => {
    let pieces: Buffer[] | undefined = [];
    let held = 0;
    reply.pipeTo({
      write(chunk) {
        if (pieces === undefined) return true;
        held += chunk.length;
        if (held <= wholeBytesMax) pieces.push(chunk);
        else {
          pieces = undefined;
          reject(new GatewayError('upstream.response_too_large'));
          // It may have no end.
          reply.discard();
        }
        return true;
      },
      onDrain() {},
      end() {
        if (pieces !== undefined)
          resolve({ kind: 'body', status, headers, body: Buffer.concat(pieces) });
      },
      cut: (code) => reject(new GatewayError(code)),
    });
  });
}
