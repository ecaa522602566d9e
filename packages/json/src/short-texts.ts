import { GrowingBytes } from './growing-bytes.ts';

/** What a text is cut to. */
const textBytesMax = 4096;

const quote = 0x22;
const backslash = 0x5c;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const letterU = 0x75;
/** A character's first byte is none of these. */
const continued = 0x80;
const continuedMask = 0xc0;
/** By byte: 1 for those of a text of JSON that mean nothing to where it, or its line, ends. */
export const isWithinText = new Uint8Array(256).fill(1);
for (const byte of [quote, backslash, lineFeed, carriageReturn]) isWithinText[byte] = 0;

/**
 * Cuts the long texts of JSON while its bytes pass, in pieces of any size: a picture, a sound or a document is nearly
 * all that makes a document large, and what is told of it stands beside it. What comes out is JSON where what went in
 * was. A text ends with its line at the latest, so JSON may stand in lines of something else. Holds nothing, and takes one to two
 * nanoseconds a byte.
 */
export class ShortTexts {
  #isText = false;
  #isCut = false;
  /** Of the text that is being read. */
  #bytes = 0;
  /** Bytes that an escape still has; -1 = the next one says which it is. */
  #escape = 0;

  /** Adds what stays of a chunk. */
  add(chunk: Buffer, kept: GrowingBytes): void {
    const { length } = chunk;
    // A copy where little stays: a part of the chunk would hold all of it.
    const keep = (from: number, to: number) => {
      const part = chunk.subarray(from, to);
      kept.add(part.length < length ? Buffer.from(part) : part);
    };
    // Of locals the loop is three times as fast as of fields.
    let isText = this.#isText;
    let isCut = this.#isCut;
    let bytes = this.#bytes;
    let escaped = this.#escape;
    let from = 0;
    for (let at = 0; at < length; at++) {
      // Nearly all of what is cut.
      if (isCut && escaped === 0)
        while (at < length && isWithinText[chunk[at] as number] === 1) at++;
      if (at >= length) break;
      const byte = chunk[at] as number;
      if (!isText) {
        isText = byte === quote;
        continue;
      }
      if (byte === lineFeed || byte === carriageReturn || (byte === quote && escaped === 0)) {
        if (isCut) from = at;
        isText = false;
        isCut = false;
        bytes = 0;
        escaped = 0;
        continue;
      }
      // Neither within a character nor within an escape.
      if (bytes === textBytesMax && escaped === 0 && (byte & continuedMask) !== continued) {
        if (!isCut && from < at) keep(from, at);
        isCut = true;
      } else if (bytes < textBytesMax) bytes++;
      if (escaped === -1) escaped = byte === letterU ? 4 : 0;
      else if (escaped > 0) escaped--;
      else if (byte === backslash) escaped = -1;
    }
    if (!isCut && from < length) keep(from, length);
    this.#isText = isText;
    this.#isCut = isCut;
    this.#bytes = bytes;
    this.#escape = escaped;
  }
}

/** A document without what is long in its texts. */
export function shortTexts(bytes: Buffer): Buffer {
  const kept = new GrowingBytes();
  new ShortTexts().add(bytes, kept);
  return kept.take();
}
