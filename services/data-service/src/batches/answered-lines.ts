/** Which lines of a batch were answered, a bit each. */
export class AnsweredLines {
  #bits = new Uint8Array(1024);
  count = 0;

  has(line: number): boolean {
    return ((this.#bits[line >> 3] ?? 0) & (1 << (line & 7))) !== 0;
  }

  add(line: number): void {
    if (this.has(line)) return;
    const at = line >> 3;
    if (at >= this.#bits.length) {
      const bits = new Uint8Array(2 * at);
      bits.set(this.#bits);
      this.#bits = bits;
    }
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (line & 7));
    this.count += 1;
  }
}

/** Line numbers as the register keeps them: ascending, each as its distance to the one before. */
export function encodeLines(lines: readonly number[]): Uint8Array {
  const bytes: number[] = [];
  let before = 0;
  for (const line of [...lines].sort((one, other) => one - other)) {
    let rest = line - before;
    before = line;
    for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest & 0x7f) | 0x80);
    bytes.push(rest);
  }
  return Uint8Array.from(bytes);
}

export function decodeLines(bytes: Uint8Array): number[] {
  const lines: number[] = [];
  let line = 0;
  let distance = 0;
  let scale = 1;
  for (const byte of bytes) {
    distance += (byte & 0x7f) * scale;
    scale *= 128;
    if (byte > 0x7f) continue;
    line += distance;
    lines.push(line);
    distance = 0;
    scale = 1;
  }
  return lines;
}
