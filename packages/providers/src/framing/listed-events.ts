import { isWithinText } from '@sluice/json';
import type { StreamFault, Unframer } from '../contract.ts';

const quote = 0x22;
const backslash = 0x5c;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const blank = 0x20;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

const begin = Buffer.from('data: ');
const end = Buffer.from('\n\n');

/**
 * Makes server-sent events of a stream that is told as one list of JSON, an object an event, as Google tells it without
 * `alt=sse`: its objects come one by one, and have line ends within.
 */
export class ListUnframer implements Unframer {
  readonly fault: StreamFault | undefined = undefined;
  #depth = 0;
  #isText = false;
  #isEscaped = false;

  push(chunk: Buffer): Buffer {
    const parts: Buffer[] = [];
    // Of its own: what passes is not to be changed.
    const bytes = Buffer.from(chunk);
    const { length } = bytes;
    // Of locals the loop is several times as fast as of fields.
    let depth = this.#depth;
    let isText = this.#isText;
    let isEscaped = this.#isEscaped;
    let from = 0;
    for (let at = 0; at < length; at++) {
      // Nearly all of what is long.
      if (isText && !isEscaped) while (at < length && isWithinText[bytes[at] as number] === 1) at++;
      if (at === length) break;
      const byte = bytes[at] as number;
      if (byte === lineFeed || byte === carriageReturn) bytes[at] = blank;
      if (isText) {
        if (isEscaped) isEscaped = false;
        else if (byte === backslash) isEscaped = true;
        else if (byte === quote) isText = false;
      } else if (byte === quote) isText = true;
      else if (byte === openObject || byte === openList) {
        depth++;
        if (depth !== 2) continue;
        parts.push(begin);
        from = at;
      } else if (byte === closeObject || byte === closeList) {
        depth--;
        if (depth !== 1) continue;
        parts.push(bytes.subarray(from, at + 1), end);
      }
    }
    this.#depth = depth;
    this.#isText = isText;
    this.#isEscaped = isEscaped;
    if (depth > 1) parts.push(bytes.subarray(from));
    return Buffer.concat(parts);
  }

  end(): Buffer {
    return Buffer.alloc(0);
  }
}
