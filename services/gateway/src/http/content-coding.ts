import { Duplex, pipeline, type Transform } from 'node:stream';
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

/** What servers write where a coding belongs, and is none: RFC 9110, 8.4. */
const noCodings: ReadonlySet<string> = new Set(['', 'identity', 'none', 'utf-8', 'utf8']);

/** Nobody packs what was packed thrice. */
const codingsMax = 3;

/** How a body is compressed, as its `content-encoding` says, in the order in which it was: `br`, `br,gzip`; empty = not at all. */
export function codingOf(headers: Headers): string {
  const said = headers['content-encoding'];
  if (said === undefined) return '';
  const codings = String(said)
    .toLowerCase()
    .split(',')
    .map((coding) => coding.trim());
  return codings.filter((coding) => !noCodings.has(coding)).join(',');
}

/** The last one first, as a body is unpacked; of too many one that nothing is unpacked from. */
function layersOf(coding: string): readonly string[] {
  const layers = coding.split(',').reverse();
  return layers.length > codingsMax ? ['unknown'] : layers;
}

/** The whole body unpacked. @throws Error of code `ERR_BUFFER_TOO_LARGE` beyond `bytesMax`, or for what cannot be unpacked */
export async function unpack(bytes: Buffer, coding: string, bytesMax: number): Promise<Buffer> {
  const options = { maxOutputLength: bytesMax };
  let plain = bytes;
  for (const layer of layersOf(coding)) plain = await unpackLayer(plain, layer, options);
  return plain;
}

type WholeOptions = Pick<ZlibOptions, 'maxOutputLength'>;

function unpackLayer(bytes: Buffer, coding: string, options: WholeOptions): Promise<Buffer> {
  if (coding === 'br') return unpackBrotli(bytes, options);
  return coding === 'zstd' ? unpackZstd(bytes, options) : unpackZip(bytes, options);
}

const unpackZip = promisify(unzip);
const unpackBrotli = promisify(brotliDecompress);
const unpackZstd = promisify(zstdDecompress);

type Options = Pick<ZlibOptions, 'chunkSize'>;

/** Unpacks a body piece by piece; what cannot be is an `error` of it. */
export function openUnpacking(coding: string, options: Options): Duplex {
  const layers = layersOf(coding).map((layer) => openLayer(layer, options));
  const [first, ...rest] = layers;
  const last = rest.at(-1);
  if (first === undefined || last === undefined) return first as Duplex;
  const whole = Duplex.from({ writable: first, readable: last });
  pipeline(layers, (error) => error && whole.destroy(error));
  return whole;
}

function openLayer(coding: string, options: Options): Transform {
  if (coding === 'br') return createBrotliDecompress(options);
  return coding === 'zstd' ? createZstdDecompress(options) : createUnzip(options);
}
