import { isUtf8 } from 'node:buffer';
import { MalformedMessage } from './wire-reader.ts';

/** Bytes that are added to at the end. */
export class ByteList {
  bytes = Buffer.allocUnsafeSlow(1024);
  length = 0;

  /** Adds a text as ClickHouse has it: its length and its bytes. */
  addText(from: Uint8Array, start: number, end: number): void {
    const size = end - start;
    this.#reserve(size + 5);
    const { bytes } = this;
    let at = this.length;
    let rest = size;
    for (; rest > 0x7f; rest >>>= 7) bytes[at++] = (rest & 0x7f) | 0x80;
    bytes[at++] = rest;
    at = copyText(from, start, end, bytes, at);
    this.length = at;
  }

  /** Adds so many empty texts. */
  addEmpty(count: number): void {
    this.#reserve(count);
    this.bytes.fill(0, this.length, this.length + count);
    this.length += count;
  }

  /** Room for so many more bytes behind `length`, which the caller moves. */
  #reserve(count: number): void {
    const least = this.length + count;
    if (least <= this.bytes.length) return;
    const bytes = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(least)));
    this.bytes.copy(bytes, 0, 0, this.length);
    this.bytes = bytes;
  }
}

/**
 * Copies a text, and returns where it ends.
 * @throws MalformedMessage for bytes that are no UTF-8
 */
function copyText(
  from: Uint8Array,
  start: number,
  end: number,
  to: Uint8Array,
  place: number,
): number {
  let at = place;
  if (end - start > longText) {
    const text = from.subarray(start, end);
    if (!isUtf8(text)) throw new MalformedMessage();
    to.set(text, at);
    return at + text.length;
  }
  let bits = 0;
  for (let index = start; index < end; index += 1) {
    const byte = from[index]!;
    bits |= byte;
    to[at++] = byte;
  }
  if (bits > 0x7f && !isUtf8(from.subarray(start, end))) throw new MalformedMessage();
  return at;
}

/** Beyond it, calls that copy are faster than copying byte by byte. */
const longText = 64;
