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
    let from = 0;
    for (let at = 0; at < length; at++) {
      const byte = bytes[at];
      if (byte === lineFeed || byte === carriageReturn) bytes[at] = blank;
      if (this.#isText) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) this.#isText = false;
      } else if (byte === quote) this.#isText = true;
      else if (byte === openObject || byte === openList) {
        this.#depth++;
        if (this.#depth !== 2) continue;
        parts.push(begin);
        from = at;
      } else if (byte === closeObject || byte === closeList) {
        this.#depth--;
        if (this.#depth !== 1) continue;
        parts.push(bytes.subarray(from, at + 1), end);
      }
    }
    if (this.#depth > 1) parts.push(bytes.subarray(from));
    return Buffer.concat(parts);
  }

  end(): Buffer {
    return Buffer.alloc(0);
  }
}
