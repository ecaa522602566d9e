import { hash } from 'node:crypto';

/**
 * Which texts there were before, in 12 bytes each: of 500,000 ids the texts alone would be a hundred megabytes. Two texts are taken
 * for one where 64 bits of their hashes are the same.
 */
export class SeenIds {
  #halves = new Uint32Array(2 * 1024);
  #lines = new Uint32Array(1024);
  #count = 0;

  /** The line that had it before; undefined = none, and this one has it now. */
  add(id: string, line: number): number | undefined {
    if (this.#count * 2 > this.#lines.length) this.#grow();
    const [low, high] = halvesOf(id);
    return this.#place(low, high, line);
  }

  has(id: string): boolean {
    const [low, high] = halvesOf(id);
    return this.#lines[this.#find(low, high)] !== 0;
  }

  #place(low: number, high: number, line: number): number | undefined {
    const at = this.#find(low, high);
    const known = this.#lines[at] as number;
    if (known !== 0) return known;
    this.#halves[2 * at] = low;
    this.#halves[2 * at + 1] = high;
    this.#lines[at] = line;
    this.#count += 1;
    return undefined;
  }

  /** Where it is, or would be. */
  #find(low: number, high: number): number {
    const mask = this.#lines.length - 1;
    let at = low & mask;
    while (
      this.#lines[at] !== 0 &&
      (this.#halves[2 * at] !== low || this.#halves[2 * at + 1] !== high)
    )
      at = (at + 1) & mask;
    return at;
  }

  #grow(): void {
    const halves = this.#halves;
    const lines = this.#lines;
    this.#halves = new Uint32Array(2 * halves.length);
    this.#lines = new Uint32Array(2 * lines.length);
    this.#count = 0;
    for (const [at, line] of lines.entries())
      if (line !== 0) this.#place(halves[2 * at] as number, halves[2 * at + 1] as number, line);
  }
}

function halvesOf(id: string): [number, number] {
  const digest = hash('sha256', id, 'buffer');
  return [digest.readUInt32LE(0), digest.readUInt32LE(4)];
}
