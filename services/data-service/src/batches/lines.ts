/** A line of a file, from 1. */
export interface Line {
  readonly number: number;
  /** Undefined = it is longer than lines may be. */
  readonly bytes: Buffer | undefined;
  /** Of one that is too long, how it begins. */
  readonly head?: Buffer;
}

/** Of lines that are not held. */
const headBytes = 4 * 1024;

const newline = 0x0a;
const carriageReturn = 0x0d;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);
const empty: Buffer = Buffer.alloc(0);

/** The lines of a content that comes in pieces; empty ones are passed over, and one that is too long is not held. */
export async function* linesOf(
  pieces: AsyncIterable<Buffer>,
  lineBytesMax: number,
): AsyncGenerator<Line, void> {
  let begun: Buffer = empty;
  let isTooLong = false;
  let head: Buffer = empty;
  let number = 0;
  for await (const piece of pieces) {
    let from = 0;
    for (;;) {
      const end = piece.indexOf(newline, from);
      const part = piece.subarray(from, end < 0 ? piece.length : end);
      if (begun.length + part.length > lineBytesMax) {
        if (!isTooLong)
          head = Buffer.concat([begun.subarray(0, headBytes), part.subarray(0, headBytes)]);
        isTooLong = true;
        begun = empty;
      } else if (!isTooLong) begun = begun.length === 0 ? part : Buffer.concat([begun, part]);
      if (end < 0) break;
      number += 1;
      const line = isTooLong ? { number, bytes: undefined, head } : lineOf(number, begun);
      begun = empty;
      isTooLong = false;
      from = end + 1;
      if (line !== undefined) yield line;
    }
  }
  const last = isTooLong
    ? { number: number + 1, bytes: undefined, head }
    : lineOf(number + 1, begun);
  if (last !== undefined) yield last;
}

function lineOf(number: number, text: Buffer): Line | undefined {
  const hasMark = number === 1 && text.subarray(0, 3).equals(byteOrderMark);
  const start = hasMark ? 3 : 0;
  const end = text[text.length - 1] === carriageReturn ? text.length - 1 : text.length;
  return end <= start || isBlank(text, start, end)
    ? undefined
    : { number, bytes: text.subarray(start, end) };
}

function isBlank(text: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (!isSpace(text[at])) return false;
  return true;
}

/** Files that were taken to another system twice end their lines with two carriage returns. */
function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x09 || byte === carriageReturn;
}
