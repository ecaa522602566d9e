import type { ServerResponse } from 'node:http';

/**
 * Writes a body of unknown length. Node frames each piece of a chunked body by
 * itself: its size, the piece and a line end are three buffers of one `writev`,
 * a quarter of what a streamed event costs. Here a piece is framed in one
 * buffer. To be made once the head is written, since that decides whether the
 * body is chunked: for HTTP/1.0 it ends with the connection.
 */
export class ChunkedBody {
  readonly #res: ServerResponse;
  readonly #isChunked: boolean;

  constructor(res: ServerResponse) {
    this.#res = res;
    this.#isChunked = res.chunkedEncoding;
    res.chunkedEncoding = false;
  }

  /** False when the caller reads too slowly. */
  write(piece: Buffer): boolean {
    if (!this.#isChunked) return this.#res.write(piece);
    // An empty chunk would be the last one.
    if (piece.length === 0) return !this.#res.writableNeedDrain;
    if (piece.length <= copiedMax) return this.#res.write(framed(piece));
    this.#res.write(sizeLine(piece.length));
    this.#res.write(piece);
    return this.#res.write(lineEnd);
  }

  end(): void {
    if (this.#isChunked) this.#res.end(lastChunk);
    else this.#res.end();
  }
}

/** Copying more costs as much as further buffers do. */
const copiedMax = 16_384;
const lineEnd = Buffer.from('\r\n');
const lastChunk = Buffer.from('0\r\n\r\n');

function sizeLine(size: number): Buffer {
  return Buffer.from(`${size.toString(16)}\r\n`, 'latin1');
}

function framed(piece: Buffer): Buffer {
  const size = piece.length.toString(16);
  const start = size.length + 2;
  const chunk = Buffer.allocUnsafe(start + piece.length + 2);
  chunk.write(size, 0, 'latin1');
  chunk[start - 2] = carriageReturn;
  chunk[start - 1] = lineFeed;
  chunk.set(piece, start);
  chunk[start + piece.length] = carriageReturn;
  chunk[start + piece.length + 1] = lineFeed;
  return chunk;
}

const carriageReturn = 0x0d;
const lineFeed = 0x0a;
