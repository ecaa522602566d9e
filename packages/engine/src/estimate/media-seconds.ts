/**
 * How long sound and video last by what their own headers say, without decoding
 * them. Sources: ISO/IEC 14496-12 (`mvhd`, `mehd`), the EBML and Matroska
 * specifications, RFC 3533 and RFC 7845 (Ogg, Opus), the Vorbis I specification,
 * RFC 9639 (FLAC), the RIFF/WAVE format, and ISO/IEC 11172-3 (frames of MP3).
 */

/** Bytes that are read where they are looked at: of a body, or of base64 within its text. */
export interface MediaBytes {
  readonly length: number;
  /** Fewer at the end; none where nothing is there. */
  read(at: number, length: number): Buffer;
}

export function bytesOfBuffer(buffer: Buffer): MediaBytes {
  return { length: buffer.length, read: (at, length) => buffer.subarray(at, at + length) };
}

/** @param start of the base64 within the text */
export function bytesOfBase64(text: string, start: number): MediaBytes {
  const length = Math.floor(((text.length - start) * 3) / 4);
  const read = (at: number, count: number): Buffer => {
    if (at >= length) return Buffer.alloc(0);
    const from = start + Math.floor(at / 3) * 4;
    const to = start + Math.ceil((at + count) / 3) * 4;
    const skipped = at % 3;
    return Buffer.from(text.slice(from, to), 'base64').subarray(skipped, skipped + count);
  };
  return { length, read };
}

/** Undefined = the headers do not say, or nobody here knows the format. */
export function mediaSeconds(bytes: MediaBytes): number | undefined {
  const seconds = secondsOf(bytes, bytes.read(0, headBytes));
  return seconds !== undefined && Number.isFinite(seconds) && seconds > 0 ? seconds : undefined;
}

const headBytes = 4096;

function secondsOf(bytes: MediaBytes, head: Buffer): number | undefined {
  if (head.length < 32) return undefined;
  const word = head.toString('latin1', 0, 4);
  if (head.toString('latin1', 4, 8) === 'ftyp') return secondsOfMp4(bytes);
  if (head.readUInt32BE(0) === 0x1a45dfa3) return secondsOfMatroska(bytes);
  if (word === 'RIFF') return secondsOfWave(bytes, head);
  if (word === 'OggS') return secondsOfOgg(bytes, head);
  if (word === 'fLaC') return secondsOfFlac(head);
  return secondsOfMp3(bytes, head);
}

/** MP4, MOV and M4A: boxes, of which `moov` may stand behind all the data. */
function secondsOfMp4(bytes: MediaBytes): number | undefined {
  const moov = findBox(bytes, 'moov', 0, bytes.length);
  if (moov === undefined) return undefined;
  const movie = findBox(bytes, 'mvhd', moov.at, moov.end);
  if (movie === undefined) return undefined;
  const header = bytes.read(movie.at, 32);
  if (header.length < 32) return undefined;
  const isLong = header[0] === 1;
  const scale = header.readUInt32BE(isLong ? 20 : 12);
  const duration = isLong ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  if (duration !== 0) return duration / scale;
  // In fragments: what all of them last is told apart, where it is told.
  const extension = findBox(bytes, 'mvex', moov.at, moov.end);
  const told = extension && findBox(bytes, 'mehd', extension.at, extension.end);
  if (told === undefined) return undefined;
  const fragments = bytes.read(told.at, 12);
  if (fragments.length < 12) return undefined;
  const all = fragments[0] === 1 ? Number(fragments.readBigUInt64BE(4)) : fragments.readUInt32BE(4);
  return all / scale;
}

interface Box {
  /** Of what it holds. */
  at: number;
  end: number;
}

function findBox(bytes: MediaBytes, type: string, from: number, to: number): Box | undefined {
  let at = from;
  for (let seen = 0; seen < boxesMax && at + 8 <= to; seen++) {
    const head = bytes.read(at, 16);
    if (head.length < 16) return undefined;
    const short = head.readUInt32BE(0);
    const size = short === 1 ? Number(head.readBigUInt64BE(8)) : short === 0 ? to - at : short;
    const inner = short === 1 ? 16 : 8;
    if (size < inner) return undefined;
    if (head.toString('latin1', 4, 8) === type)
      return { at: at + inner, end: Math.min(to, at + size) };
    at += size;
  }
  return undefined;
}

const boxesMax = 100;

/** WebM and Matroska: `Info` stands at the beginning; its `Duration` is a float of four or eight bytes. */
function secondsOfMatroska(bytes: MediaBytes): number | undefined {
  const head = bytes.read(0, 64 * 1024);
  const scaleAt = head.indexOf(Buffer.from([0x2a, 0xd7, 0xb1]));
  const scaleBytes = scaleAt < 0 ? 0 : (head[scaleAt + 3] ?? 0) & 0x7f;
  const scaleIsRead = scaleBytes >= 1 && scaleBytes <= 6 && scaleAt + 4 + scaleBytes <= head.length;
  const scaleNs = scaleIsRead ? head.readUIntBE(scaleAt + 4, scaleBytes) : 1_000_000;
  for (const [size, length] of [
    [0x84, 4],
    [0x88, 8],
  ] as const) {
    const at = head.indexOf(Buffer.from([0x44, 0x89, size]));
    if (at < 0 || at + 3 + length > head.length) continue;
    const duration = length === 4 ? head.readFloatBE(at + 3) : head.readDoubleBE(at + 3);
    return (duration * scaleNs) / 1e9;
  }
  return undefined;
}

function secondsOfWave(bytes: MediaBytes, head: Buffer): number | undefined {
  if (head.toString('latin1', 8, 12) !== 'WAVE') return undefined;
  const format = head.indexOf('fmt ', 12, 'latin1');
  if (format < 0 || format + 20 > head.length) return undefined;
  return bytes.length / head.readUInt32LE(format + 16);
}

/** Opus counts at 48 kHz whatever it was made of, Vorbis as it says; the last page tells how far it is. */
function secondsOfOgg(bytes: MediaBytes, head: Buffer): number | undefined {
  const vorbis = head.indexOf('\x01vorbis', 0, 'latin1');
  const isVorbis = vorbis > 0 && vorbis + 16 <= head.length;
  if (!isVorbis && head.indexOf('OpusHead', 0, 'latin1') < 0) return undefined;
  const rate = isVorbis ? head.readUInt32LE(vorbis + 12) : 48_000;
  const tail = bytes.read(Math.max(0, bytes.length - 64 * 1024), 64 * 1024);
  const page = tail.lastIndexOf('OggS', undefined, 'latin1');
  if (page < 0 || page + 14 > tail.length) return undefined;
  return Number(tail.readBigInt64LE(page + 6)) / rate;
}

/** `STREAMINFO` comes first: 20 bits of rate, 36 of samples. */
function secondsOfFlac(head: Buffer): number | undefined {
  const rate = head.readUIntBE(18, 3) >>> 4;
  const samples = ((head[21] ?? 0) & 0x0f) * 2 ** 32 + head.readUInt32BE(22);
  return samples / rate;
}

/** By the rate of its first frame, or the number of frames where a Xing header has it. */
function secondsOfMp3(bytes: MediaBytes, head: Buffer): number | undefined {
  const tag = head.toString('latin1', 0, 3) === 'ID3' ? 10 + tagBytes(head) : 0;
  const start = tag === 0 ? head : bytes.read(tag, headBytes);
  if (start.length < 160 || start.readUInt16BE(0) < 0xffe0) return undefined;
  const [, second = 0, third = 0] = start;
  const version = (second >> 3) & 3;
  if (version === 1 || ((second >> 1) & 3) !== 1) return undefined;
  const isFirst = version === 3;
  const kilobits = (isFirst ? kilobitsOfMpeg1 : kilobitsOfMpeg2)[third >> 4] ?? 0;
  const rate = (ratesOfMpeg1[(third >> 2) & 3] ?? 0) / (isFirst ? 1 : version === 2 ? 2 : 4);
  const counted = ['Xing', 'Info'].map((name) => start.subarray(0, 160).indexOf(name, 0, 'latin1'));
  const xing = Math.max(...counted);
  if (xing > 0 && xing + 12 <= start.length && (start.readUInt32BE(xing + 4) & 1) === 1)
    return (start.readUInt32BE(xing + 8) * (isFirst ? 1152 : 576)) / rate;
  return kilobits === 0 ? undefined : ((bytes.length - tag) * 8) / (kilobits * 1000);
}

/** Seven bits of each of four bytes. */
function tagBytes(head: Buffer): number {
  return [6, 7, 8, 9].reduce((size, at) => size * 128 + ((head[at] ?? 0) & 0x7f), 0);
}

const kilobitsOfMpeg1 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const kilobitsOfMpeg2 = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];
const ratesOfMpeg1 = [44_100, 48_000, 32_000];
