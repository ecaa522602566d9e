import { connect, type Socket } from 'node:net';

/**
 * One keep-alive HTTP/1.1 connection that reads replies with as little work as
 * possible, so that the load generator is not what is measured. It knows
 * content-length, chunked and read-to-end bodies, and nothing else.
 */
export interface ReplyFacts {
  status: number;
  bodyBytes: number;
  /** The last bytes of the body. */
  tail: string;
  firstByteAt: number;
}

export type OnReply = (reply: ReplyFacts | Error) => void;

const tailLength = 64;

export class HttpConnection {
  readonly #host: string;
  readonly #port: number;
  #socket: Socket | undefined;
  #onReply: OnReply | undefined;
  #head: Buffer | undefined;
  #facts: ReplyFacts = { status: 0, bodyBytes: 0, tail: '', firstByteAt: 0 };
  /** Bytes of the body (or of the current chunk, with its line end) still to come; -1 = until the connection ends. */
  #left = 0;
  #isChunked = false;
  #sizeLine: string | undefined;
  #isLastChunk = false;
  #isInBody = false;
  #closesAfter = false;

  constructor(host: string, port: number) {
    this.#host = host;
    this.#port = port;
  }

  /** One request at a time; `onReply` is called exactly once. */
  send(request: Buffer, onReply: OnReply): void {
    this.#onReply = onReply;
    this.#head = undefined;
    this.#isInBody = false;
    this.#facts = { status: 0, bodyBytes: 0, tail: '', firstByteAt: 0 };
    this.#socket ??= this.#open();
    this.#socket.write(request);
  }

  /** A body has begun and not ended. */
  get isReceiving(): boolean {
    return this.#onReply !== undefined && this.#isInBody;
  }

  /** Of the reply that is being received; 0 = there is none yet. */
  get firstByteAt(): number {
    return this.#facts.firstByteAt;
  }

  close(): void {
    this.#onReply = undefined;
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): Socket {
    const socket = connect({ host: this.#host, port: this.#port, noDelay: true });
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
    socket.on('error', (error) => this.#finish(error));
    socket.on('close', () => {
      if (this.#socket === socket) this.#socket = undefined;
      this.#finish(
        this.#isInBody && this.#left === -1
          ? this.#facts
          : new Error('the connection was closed before the reply was complete'),
      );
    });
    return socket;
  }

  #finish(outcome: ReplyFacts | Error): void {
    const onReply = this.#onReply;
    if (onReply === undefined) return;
    this.#onReply = undefined;
    if (this.#closesAfter || outcome instanceof Error) {
      this.#socket?.destroy();
      this.#socket = undefined;
    }
    onReply(outcome);
  }

  #read(chunk: Buffer): void {
    if (this.#isInBody) this.#readBody(chunk);
    else this.#readUntilBody(chunk);
  }

  #readUntilBody(chunk: Buffer): void {
    const head = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end === -1) {
      this.#head = head;
      return;
    }
    this.#readHead(head.toString('latin1', 0, end + 2).toLowerCase());
    if (this.#left === 0 && !this.#isChunked) this.#finish(this.#facts);
    else if (head.length > end + 4) this.#readBody(head.subarray(end + 4));
  }

  #readHead(head: string): void {
    this.#facts.status = Number(head.slice(9, 12));
    this.#isChunked = head.includes('\r\ntransfer-encoding: chunked');
    this.#closesAfter = head.includes('\r\nconnection: close');
    this.#sizeLine = '';
    this.#isLastChunk = false;
    this.#isInBody = true;
    const length = head.indexOf('\r\ncontent-length:');
    if (this.#isChunked) this.#left = 0;
    else this.#left = length === -1 ? -1 : Number.parseInt(head.slice(length + 17), 10);
  }

  #readBody(chunk: Buffer): void {
    if (this.#facts.firstByteAt === 0) this.#facts.firstByteAt = performance.now();
    if (this.#isChunked) {
      this.#readChunks(chunk);
      return;
    }
    this.#take(chunk);
    if (this.#left === -1) return;
    this.#left -= chunk.length;
    if (this.#left <= 0) this.#finish(this.#facts);
  }

  #readChunks(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      if (this.#sizeLine !== undefined) {
        const lineEnd = bytes.indexOf(10, at);
        this.#sizeLine += bytes.toString('latin1', at, lineEnd === -1 ? bytes.length : lineEnd);
        if (lineEnd === -1) return;
        const size = Number.parseInt(this.#sizeLine, 16);
        this.#sizeLine = undefined;
        this.#isLastChunk = size === 0;
        this.#left = size + 2;
        at = lineEnd + 1;
        continue;
      }
      const take = Math.min(this.#left, bytes.length - at);
      // The two bytes of the line end are not the body's.
      const ofBody = Math.min(take, Math.max(this.#left - 2, 0));
      if (ofBody > 0) this.#take(bytes.subarray(at, at + ofBody));
      this.#left -= take;
      at += take;
      if (this.#left > 0) return;
      if (this.#isLastChunk) {
        this.#finish(this.#facts);
        return;
      }
      this.#sizeLine = '';
    }
  }

  #take(bytes: Buffer): void {
    const facts = this.#facts;
    facts.bodyBytes += bytes.length;
    if (bytes.length >= tailLength)
      facts.tail = bytes.toString('latin1', bytes.length - tailLength);
    else facts.tail = (facts.tail + bytes.toString('latin1')).slice(-tailLength);
  }
}
