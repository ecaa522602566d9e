/** Smaller pieces are copied together: a buffer of its own for each byte takes a hundred times the byte. */
const pieceBytesMin = 4096;
const slabBytes = 16 * 1024;
/** So many are kept as they came, however small. */
const piecesApart = 64;

/** Bytes that arrive in pieces, of any size and number, held in little more memory than they have. */
export class GrowingBytes {
  /** How many have been added. */
  length = 0;
  #pieces: Buffer[] = [];
  /** Room for small pieces; what lies between `#slabStart` and `#slabEnd` is not among the pieces yet. */
  #slab: Buffer | undefined;
  #slabStart = 0;
  #slabEnd = 0;

  add(chunk: Buffer): void {
    const { length } = chunk;
    if (length === 0) return;
    // Most bodies are one piece or a few, and the events of a stream are told apart by theirs.
    if (length >= pieceBytesMin || this.#pieces.length < piecesApart) {
      this.#closeSlab();
      this.#pieces.push(chunk);
    } else this.#copy(chunk);
    this.length += length;
  }

  /** All of them; nothing is left. */
  take(): Buffer {
    this.#closeSlab();
    const pieces = this.#pieces;
    const { length } = this;
    this.clear();
    if (pieces.length === 1) return pieces[0] as Buffer;
    return Buffer.concat(pieces, length);
  }

  /** The same in the pieces as they are held, in order. */
  takePieces(): Buffer[] {
    this.#closeSlab();
    const pieces = this.#pieces;
    this.clear();
    return pieces;
  }

  clear(): void {
    this.#pieces = [];
    this.#slab = undefined;
    this.#slabStart = 0;
    this.#slabEnd = 0;
    this.length = 0;
  }

  #copy(chunk: Buffer): void {
    let from = 0;
    while (from < chunk.length) {
      if (this.#slab === undefined || this.#slabEnd === slabBytes) {
        this.#closeSlab();
        this.#slab = Buffer.allocUnsafeSlow(slabBytes);
        this.#slabStart = 0;
        this.#slabEnd = 0;
      }
      const copied = chunk.copy(this.#slab, this.#slabEnd, from);
      this.#slabEnd += copied;
      from += copied;
    }
  }

  #closeSlab(): void {
    if (this.#slab === undefined || this.#slabStart === this.#slabEnd) return;
    this.#pieces.push(this.#slab.subarray(this.#slabStart, this.#slabEnd));
    this.#slabStart = this.#slabEnd;
  }
}
