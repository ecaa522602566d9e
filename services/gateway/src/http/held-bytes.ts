/**
 * How many bytes of bodies are held for all requests together: of what callers
 * send from their first byte, and of replies that are read, until the answer is
 * out. A parsed body takes a few times its bytes, so this is what keeps many
 * large ones from ending the process. There is no line to wait in: whoever comes
 * too much is told to come again.
 */
export class HeldBytes {
  readonly #bytesMax: number;
  readonly #ownerBytesMax: number;
  readonly #owners = new Map<string, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    // One workspace cannot have it all: the others go on.
    this.#ownerBytesMax = Math.floor((3 * bytesMax) / 4);
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** False when so many more would be too many; nothing is held for them then. */
  take(owner: string, bytes: number): boolean {
    const own = (this.#owners.get(owner) ?? 0) + bytes;
    if (this.#bytes + bytes > this.#bytesMax || own > this.#ownerBytesMax) return false;
    this.#bytes += bytes;
    this.#owners.set(owner, own);
    return true;
  }

  give(owner: string, bytes: number): void {
    this.#bytes -= bytes;
    const own = (this.#owners.get(owner) ?? 0) - bytes;
    if (own > 0) this.#owners.set(owner, own);
    else this.#owners.delete(owner);
  }
}

/** Bodies of usual size are not counted: a flood of them is what limits are for. */
export const freeBytes = 64 * 1024;

/** What one request holds. */
export class Holding {
  readonly #held: HeldBytes;
  readonly #owner: string;
  #seen = 0;
  #counted = 0;
  #isOver = false;

  constructor(held: HeldBytes, owner: string) {
    this.#held = held;
    this.#owner = owner;
  }

  /** Counts so many more bytes; false = they must not be held. */
  grow(bytes: number): boolean {
    this.#seen += bytes;
    if (this.#seen <= freeBytes) return true;
    const more = this.#seen - freeBytes - this.#counted;
    if (this.#isOver || !this.#held.take(this.#owner, more)) {
      this.#seen -= bytes;
      return false;
    }
    this.#counted += more;
    return true;
  }

  /** The request is over. May be called more than once. */
  release(): void {
    this.#isOver = true;
    if (this.#counted > 0) this.#held.give(this.#owner, this.#counted);
    this.#counted = 0;
  }
}
