/** Amounts by name: a map, since names of counters are seldom the same for long, and objects remember every name they had. */
export type Counts = ReadonlyMap<string, number>;

/**
 * Protobuf by hand, for what is written with every request: the generic
 * encoder walks descriptors and costs several times more. Values that are
 * empty are left out, as in proto3. Integers are plain numbers below 2^52.
 */
export class ProtoWriter {
  #buffer = Buffer.allocUnsafe(16 * 1024);
  #at = 0;

  /** Begins a message. */
  reset(): void {
    this.#at = 0;
  }

  /** The message so far; valid until the next `reset`. */
  written(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  text(field: number, value: string): void {
    if (value === '') return;
    // UTF-8 needs at most three bytes for each UTF-16 unit.
    this.#reserve(value.length * 3 + 16);
    this.#tag(field, 2);
    if (value.length > shortLengthMax || !this.#shortAscii(value)) this.#lengthPrefixed(value);
  }

  bytes(field: number, value: Uint8Array): void {
    if (value.length === 0) return;
    this.#reserve(value.length + 16);
    this.#tag(field, 2);
    this.#varint(value.length);
    this.#buffer.set(value, this.#at);
    this.#at += value.length;
  }

  /** Fields that were written before. */
  encoded(fields: Buffer): void {
    this.#reserve(fields.length);
    this.#at += fields.copy(this.#buffer, this.#at);
  }

  /** One entry of a map from texts to texts. */
  pair(field: number, key: string, value: string): void {
    if (key.length + value.length <= pairMax) {
      this.#reserve(pairMax + 32);
      const start = this.#at;
      this.#tag(field, 2);
      // Both are short and ASCII, as nearly all are: then all lengths are known beforehand.
      this.#buffer[this.#at++] = 4 + key.length + value.length;
      this.#buffer[this.#at++] = 0x0a;
      if (this.#shortAscii(key)) {
        this.#buffer[this.#at++] = 0x12;
        if (this.#shortAscii(value)) return;
      }
      this.#at = start;
    }
    const keyLength = Buffer.byteLength(key);
    const valueLength = Buffer.byteLength(value);
    this.#reserve(keyLength + valueLength + 32);
    this.#tag(field, 2);
    this.#varint(
      1 + varintLength(keyLength) + keyLength + 1 + varintLength(valueLength) + valueLength,
    );
    this.#buffer[this.#at++] = 0x0a;
    this.#varint(keyLength);
    this.#at += this.#buffer.write(key, this.#at, 'utf8');
    this.#buffer[this.#at++] = 0x12;
    this.#varint(valueLength);
    this.#at += this.#buffer.write(value, this.#at, 'utf8');
  }

  /** A map from texts to counts; zeros are entries too. */
  counts(field: number, counts: Counts): void {
    if (counts.size === 0) return;
    for (const [key, value] of counts) this.#count(field, key, value);
  }

  #count(field: number, key: string, value: number): void {
    this.#reserve(key.length * 3 + 48);
    this.#tag(field, 2);
    const { length } = key;
    const valueLength = varintLength(value);
    // Names of counters are short and ASCII: then all lengths are known beforehand.
    if (length <= countKeyMax) {
      const start = this.#at;
      this.#buffer[this.#at++] = 3 + length + valueLength;
      this.#buffer[this.#at++] = 0x0a;
      if (this.#shortAscii(key)) {
        this.#buffer[this.#at++] = 0x10;
        this.#varint(value);
        return;
      }
      this.#at = start;
    }
    const keyLength = Buffer.byteLength(key);
    this.#varint(2 + varintLength(keyLength) + keyLength + valueLength);
    this.#buffer[this.#at++] = 0x0a;
    this.#varint(keyLength);
    this.#at += this.#buffer.write(key, this.#at, 'utf8');
    this.#buffer[this.#at++] = 0x10;
    this.#varint(value);
  }

  uint(field: number, value: number): void {
    if (value === 0) return;
    this.#reserve(24);
    this.#tag(field, 0);
    this.#varint(value);
  }

  /** Zig-zag. */
  sint(field: number, value: number): void {
    this.uint(field, value >= 0 ? value * 2 : -value * 2 - 1);
  }

  bool(field: number, value: boolean): void {
    if (value) this.uint(field, 1);
  }

  double(field: number, value: number): void {
    if (value === 0) return;
    this.#reserve(24);
    this.#tag(field, 1);
    this.#at = this.#buffer.writeDoubleLE(value, this.#at);
  }

  /** Fields have numbers below 2048, which makes a tag of one or two bytes. */
  #tag(field: number, wireType: number): void {
    const tag = (field << 3) | wireType;
    if (tag > 0x7f) {
      this.#buffer[this.#at++] = (tag & 0x7f) | 0x80;
      this.#buffer[this.#at++] = tag >>> 7;
    } else this.#buffer[this.#at++] = tag;
  }

  /** Most texts: a loop here is cheaper than a call into the runtime. False, with nothing written, for others. */
  #shortAscii(value: string): boolean {
    const { length } = value;
    const buffer = this.#buffer;
    const start = this.#at + 1;
    for (let index = 0; index < length; index++) {
      const unit = value.charCodeAt(index);
      if (unit > 0x7f) return false;
      buffer[start + index] = unit;
    }
    buffer[start - 1] = length;
    this.#at = start + length;
    return true;
  }

  /** One byte is kept for the length; longer texts are moved up once their length is known. */
  #lengthPrefixed(value: string): void {
    const start = this.#at + 1;
    const length = this.#buffer.write(value, start, 'utf8');
    if (length < 128) {
      this.#buffer[this.#at] = length;
      this.#at = start + length;
      return;
    }
    const prefix = varintLength(length);
    this.#buffer.copyWithin(this.#at + prefix, start, start + length);
    this.#varint(length);
    this.#at += length;
  }

  #varint(value: number): void {
    let rest = value;
    while (rest > 0x7f) {
      this.#buffer[this.#at++] = (rest % 128) | 0x80;
      rest = Math.floor(rest / 128);
    }
    this.#buffer[this.#at++] = rest;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + bytes));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}

const shortLengthMax = 40;
/** With tags and lengths, the length of an entry is one byte still. */
const pairMax = 123;
/** With the largest count beside it, the length of an entry is one byte still. */
const countKeyMax = 116;

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 0x7f; rest = Math.floor(rest / 128)) length++;
  return length;
}
