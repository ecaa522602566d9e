import type { IncomingHttpHeaders } from 'node:http';
import { GatewayError } from '@sluice/errors';
import { codingOf, unpack } from '../http/content-coding.ts';

/** Whether a body came compressed, which nobody asks for. */
export function isCompressed(headers: IncomingHttpHeaders): boolean {
  return codingOf(headers) !== '';
}

/**
 * The body that was compressed (gzip, deflate, br, zstd); nothing of more than `bytesMax` is unpacked.
 * @throws GatewayError where it is none of them
 */
export async function unpacked(
  bytes: Buffer,
  headers: IncomingHttpHeaders,
  bytesMax: number,
): Promise<Buffer | 'too-large'> {
  if (bytes.length === 0) return bytes;
  try {
    return await unpack(bytes, codingOf(headers), bytesMax);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return 'too-large';
    throw new GatewayError('upstream.invalid_response', {
      message: 'The provider compressed its reply, and it cannot be unpacked.',
      cause: error,
    });
  }
}

/** What is told in pieces cannot be unpacked piece by piece and be told in time. */
export function compressedStream(): GatewayError {
  return new GatewayError('upstream.invalid_response', {
    message: 'The provider compressed its stream although it was not asked to.',
  });
}
