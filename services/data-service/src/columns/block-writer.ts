/** What ClickHouse's Native format is made of, in a buffer that grows. */
export class BlockWriter {
  #buffer = Buffer.allocUnsafeSlow(1 << 20);
  #at = 0;

  written(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  varint(value: number): void {
    this.#reserve(10);
    let rest = value;
    for (; rest > 0x7f; rest = Math.floor(rest / 128))
      this.#buffer[this.#at++] = (rest % 128) | 0x80;
    this.#buffer[this.#at++] = rest;
  }

  text(value: string): void {
    const bytes = Buffer.from(value);
    this.varint(bytes.length);
    this.bytes(bytes);
  }

  uint64(value: number): void {
    this.#reserve(8);
    this.#at = this.#buffer.writeUInt32LE(value % 2 ** 32, this.#at);
    this.#at = this.#buffer.writeUInt32LE(Math.floor(value / 2 ** 32), this.#at);
  }

  bytes(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  zeros(count: number): void {
    this.#reserve(count);
    this.#buffer.fill(0, this.#at, this.#at + count);
    this.#at += count;
  }

  #reserve(count: number): void {
    if (this.#at + count <= this.#buffer.length) return;
    const buffer = Buffer.allocUnsafeSlow(2 ** Math.ceil(Math.log2(this.#at + count)));
    this.#buffer.copy(buffer, 0, 0, this.#at);
    this.#buffer = buffer;
  }
}
