import { promisify } from 'node:util';
import {
  brotliDecompress,
  createBrotliDecompress,
  createUnzip,
  createZstdDecompress,
  unzip,
  type ZlibOptions,
  zstdDecompress,
} from 'node:zlib';

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** How a body is compressed, as its `content-encoding` says; empty = not at all. */
export function codingOf(headers: Headers): string {
  const said = headers['content-encoding'];
  if (said === undefined) return '';
  const coding = String(said).trim().toLowerCase();
  return coding === 'identity' ? '' : coding;
}

/** The whole body unpacked. @throws Error of code `ERR_BUFFER_TOO_LARGE` beyond `bytesMax`, or for what cannot be unpacked */
export function unpack(bytes: Buffer, coding: string, bytesMax: number): Promise<Buffer> {
  const options = { maxOutputLength: bytesMax };
  if (coding === 'br') return unpackBrotli(bytes, options);
  return coding === 'zstd' ? unpackZstd(bytes, options) : unpackZip(bytes, options);
}

const unpackZip = promisify(unzip);
const unpackBrotli = promisify(brotliDecompress);
const unpackZstd = promisify(zstdDecompress);

/** Unpacks a body piece by piece. */
export function openUnpacking(coding: string, options: Pick<ZlibOptions, 'chunkSize'>) {
  if (coding === 'br') return createBrotliDecompress(options);
  return coding === 'zstd' ? createZstdDecompress(options) : createUnzip(options);
}
