import { crc32 } from 'node:zlib';

/** One message of an event stream, checked, with the headers that tell what it is. */
export interface AwsFrame {
  /** `event`, `exception` or `error`. */
  kind: string;
  /** The event's or the exception's type, or the error's code. */
  name: string;
  /** The text of an error; events and exceptions say theirs in the payload. */
  message: string | undefined;
  payload: Buffer;
}

/** The two lengths and their checksum. */
export const preludeBytes = 12;
const checksumBytes = 4;

/** More than any provider sends; what claims to be larger is not this framing. */
export const awsFrameBytesMax = 16 * 1024 * 1024;

/** The length of the frame that begins here; undefined when the prelude is not one. */
export function frameBytes(prelude: Buffer): number | undefined {
  if (crc32(prelude.subarray(0, 8)) !== prelude.readUInt32BE(8)) return undefined;
  const total = prelude.readUInt32BE(0);
  const headers = prelude.readUInt32BE(4);
  const isPossible = total <= awsFrameBytesMax && headers + preludeBytes + checksumBytes <= total;
  return isPossible ? total : undefined;
}

/** Reads a whole frame, whose prelude `frameBytes` has checked; undefined when it is broken. */
export function readFrame(frame: Buffer): AwsFrame | undefined {
  const end = frame.length - checksumBytes;
  if (crc32(frame.subarray(0, end)) !== frame.readUInt32BE(end)) return undefined;
  const payloadStart = preludeBytes + frame.readUInt32BE(4);
  const headers = readHeaders(frame.subarray(preludeBytes, payloadStart));
  if (headers === undefined) return undefined;
  const name =
    headers.get(':event-type') ?? headers.get(':exception-type') ?? headers.get(':error-code');
  return {
    kind: headers.get(':message-type') ?? 'event',
    name: name ?? '',
    message: headers.get(':error-message'),
    payload: frame.subarray(payloadStart, end),
  };
}

const text = 7;
const byteType = 6;

/** Bytes of each type of value; texts and byte arrays bring a length of their own. */
const valueBytes = new Map([
  [0, 0],
  [1, 0],
  [2, 1],
  [3, 2],
  [4, 4],
  [5, 8],
  [8, 8],
  [9, 16],
]);

/** Those headers that are texts, which all that name a message are. */
function readHeaders(bytes: Buffer): Map<string, string> | undefined {
  const headers = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + (bytes[at] as number);
    const type = bytes[nameEnd];
    let start = nameEnd + 1;
    let length = type === undefined ? undefined : valueBytes.get(type);
    if (type === text || type === byteType) {
      if (start + 2 > bytes.length) return undefined;
      length = bytes.readUInt16BE(start);
      start += 2;
    }
    if (length === undefined || start + length > bytes.length) return undefined;
    if (type === text)
      headers.set(
        bytes.toString('utf8', at + 1, nameEnd),
        bytes.toString('utf8', start, start + length),
      );
    at = start + length;
  }
  return headers;
}
