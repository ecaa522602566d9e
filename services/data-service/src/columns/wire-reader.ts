/** Bytes that end too early, or that no encoder writes. */
export class MalformedMessage extends Error {}

/** How a field's value is written. */
export const varint = 0;
export const fixed64 = 1;
export const lengthDelimited = 2;
const fixed32 = 5;

/**
 * Protobuf's wire format, read in place: numbers of 64 bits come as two halves, and what has a length as where it
 * begins and ends. The generic decoder makes an object of each message and a bigint of each number.
 */
export class WireReader {
  bytes: Uint8Array = noBytes;
  at = 0;
  #end = 0;
  /** The halves of the last varint. */
  low = 0;
  high = 0;
  /** How the value behind the last tag is written. */
  wireType = 0;

  open(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.at = 0;
    this.#end = bytes.length;
  }

  /** The number of the next field; 0 = the message ends here. */
  field(): number {
    if (this.at === this.#end) return 0;
    this.varint();
    const number = (this.low >>> 3) | (this.high << 29);
    if (number <= 0) throw new MalformedMessage();
    this.wireType = this.low & 7;
    return number;
  }

  varint(): void {
    const { bytes } = this;
    let { at } = this;
    let byte = bytes[at++]!;
    let low = byte & 0x7f;
    let high = 0;
    if (byte >= 0x80) {
      byte = bytes[at++]!;
      low |= (byte & 0x7f) << 7;
      for (let shift = 14; byte >= 0x80; shift += 7) {
        if (shift > 63) throw new MalformedMessage();
        byte = bytes[at++]!;
        const bits = byte & 0x7f;
        if (shift < 28) low |= bits << shift;
        else if (shift === 28) {
          low |= bits << 28;
          high = bits >>> 4;
        } else high |= bits << (shift - 32);
      }
    }
    // Behind the end there is nothing, which counts as a last byte.
    if (at > this.#end) throw new MalformedMessage();
    this.low = low >>> 0;
    this.high = high >>> 0;
    this.at = at;
  }

  /** Where a value with a length ends; it begins at `at`, which is left there. */
  span(): number {
    this.varint();
    const end = this.at + this.low;
    if (this.high !== 0 || end > this.#end) throw new MalformedMessage();
    return end;
  }

  /** Where eight bytes begin, which are passed over. */
  eight(): number {
    const { at } = this;
    this.at = at + 8;
    if (this.at > this.#end) throw new MalformedMessage();
    return at;
  }

  /** Reads a message within this one; returns where this one goes on, for `leave`. */
  enter(): number {
    const end = this.span();
    const outer = this.#end;
    this.#end = end;
    return outer;
  }

  leave(outer: number): void {
    this.at = this.#end;
    this.#end = outer;
  }

  /** @throws MalformedMessage where a field is not written as its type is */
  expect(wireType: number): void {
    if (this.wireType !== wireType) throw new MalformedMessage();
  }

  skip(): void {
    if (this.wireType === varint) this.varint();
    else if (this.wireType === fixed64) this.eight();
    else if (this.wireType === lengthDelimited) this.at = this.span();
    else if (this.wireType === fixed32) {
      this.at += 4;
      if (this.at > this.#end) throw new MalformedMessage();
    } else throw new MalformedMessage();
  }
}

const noBytes = new Uint8Array();
