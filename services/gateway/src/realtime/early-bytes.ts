import type { Duplex } from 'node:stream';

/** What a caller may send ahead of the answer to its handshake; then it is asked to wait. */
const earlyBytesMax = 1024 * 1024;

/** Reads a connection that nobody reads yet, so that its end is seen, and keeps what comes. */
export class EarlyBytes {
  readonly #socket: Duplex;
  readonly #pieces: Buffer[];
  #length: number;
  readonly #onData = (piece: Buffer) => {
    this.#pieces.push(piece);
    this.#length += piece.length;
    if (this.#length >= earlyBytesMax) this.#socket.pause();
  };

  /** @param head what came with the request */
  constructor(socket: Duplex, head: Buffer) {
    this.#socket = socket;
    this.#pieces = head.length === 0 ? [] : [head];
    this.#length = head.length;
    socket.on('data', this.#onData);
  }

  /** Once: from here on whoever asked reads. */
  take(): Buffer {
    this.#socket.off('data', this.#onData);
    this.#socket.pause();
    return Buffer.concat(this.#pieces.splice(0));
  }
}
