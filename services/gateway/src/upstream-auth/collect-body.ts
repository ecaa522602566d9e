import { Readable } from 'node:stream';
import { GatewayError } from '@sluice/errors';
import type { Dispatcher } from 'undici';

/**
 * All bytes of a body, for signatures over them. What flows through is
 * collected, up to a limit.
 * @throws GatewayError `request.too_large`
 */
export async function collectBody(
  body: Dispatcher.DispatchOptions['body'],
  bytesMax: number,
  signal: AbortSignal,
): Promise<Buffer | undefined> {
  if (body === null || body === undefined) return undefined;
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (!(body instanceof Readable)) throw new GatewayError('internal');
  const onAbort = () =>
    body.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax)
        throw new GatewayError('request.too_large', {
          message: `This provider wants the whole body signed, and so it is collected first: at most ${bytesMax} bytes.`,
        });
      chunks.push(chunk);
    }
    return Buffer.concat(chunks, bytes);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
