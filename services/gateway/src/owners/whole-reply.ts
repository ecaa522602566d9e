import { GatewayError } from '@sluice/errors';
import { jsonBounds } from '@sluice/json';
import type { BodyReply, Reply } from '../exchange/reply.ts';

/** A reply that is a document, whole. @throws GatewayError `upstream.response_too_large` where there is too much of it, or it is cut */
export function wholeReply(reply: Reply): Promise<BodyReply> {
  if (reply.kind === 'body') return Promise.resolve(reply);
  const { status, headers } = reply;
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let held = 0;
    reply.pipeTo({
      write(chunk) {
        held += chunk.length;
        if (held <= jsonBounds.reply.bytesMax) pieces.push(chunk);
        return true;
      },
      onDrain() {},
      end() {
        if (held > jsonBounds.reply.bytesMax)
          reject(new GatewayError('upstream.response_too_large'));
        else resolve({ kind: 'body', status, headers, body: Buffer.concat(pieces) });
      },
      cut: (code) => reject(new GatewayError(code)),
    });
  });
}
