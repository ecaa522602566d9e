import type { ServerResponse } from 'node:http';
import { type HeaderPrefixes, type HeaderSpelling, spelledHeaders } from '@sluice/contracts';
import { notePassingBytes } from '@sluice/service';
import type { ReplyHeaders } from '../exchange/reply.ts';
import { ChunkedBody } from '../http/chunked-body.ts';
import { endWith } from '../http/end-with.ts';

/** A comment: it keeps the connection open on its way through proxies, and means nothing. */
const comment = Buffer.from(': \n\n');

export interface CallerReplyOptions {
  readonly res: ServerResponse;
  readonly prefixes: HeaderPrefixes;
  readonly spelling: HeaderSpelling;
  /** With every answer. */
  readonly headers: ReplyHeaders;
}

/** The caller's side of one request: one answer, or a stream of events. */
export class CallerReply {
  readonly #options: CallerReplyOptions;
  #body: ChunkedBody | undefined;
  #hasEnded = false;
  /** Of the answer; 0 = there is none yet. */
  status = 0;

  constructor(options: CallerReplyOptions) {
    this.#options = options;
  }

  /** To be said with every answer. */
  add(headers: ReplyHeaders): void {
    Object.assign(this.#options.headers, headers);
  }

  get isStreaming(): boolean {
    return this.#body !== undefined;
  }

  /** Nothing more can be said: it was, or nobody listens. */
  get isOver(): boolean {
    return this.#hasEnded || this.#options.res.destroyed;
  }

  /** @param type of the body; `application/json` unless said otherwise */
  body(status: number, body: Buffer, headers: ReplyHeaders = {}, type = 'application/json'): void {
    if (this.isOver) return;
    this.#head(status, {
      'content-type': type,
      'content-length': String(body.length),
      ...headers,
    });
    this.#hasEnded = true;
    endWith(this.#options.res, body);
  }

  empty(status: number, headers: ReplyHeaders = {}): void {
    if (this.isOver) return;
    this.#head(status, status === 204 ? headers : { 'content-length': '0', ...headers });
    this.#hasEnded = true;
    this.#options.res.end();
  }

  /** From here on it is told by events. */
  openStream(headers: ReplyHeaders = {}): void {
    if (this.isOver || this.isStreaming) return;
    this.#head(200, {
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      ...headers,
      'cache-control': 'no-cache, no-store, no-transform',
    });
    const { res } = this.#options;
    const { socket } = res;
    // What has come with the upstream's head leaves with ours.
    socket?.cork();
    res.flushHeaders();
    process.nextTick(() => socket?.uncork());
    this.#body = new ChunkedBody(res);
  }

  /** Whole events. False when the caller reads too slowly. */
  write(events: Buffer): boolean {
    if (this.isOver || this.#body === undefined) return true;
    notePassingBytes(events.length);
    return this.#body.write(events);
  }

  /** To be called while nothing else is said. */
  keepAlive(): void {
    if (this.isOver || this.#options.res.writableNeedDrain) return;
    this.#body?.write(comment);
  }

  onDrain(listener: () => void): void {
    this.#options.res.on('drain', listener);
  }

  /** At once where that was already: it is told once. */
  onClose(listener: () => void): void {
    const { res } = this.#options;
    if (res.closed) listener();
    else res.once('close', listener);
  }

  endStream(): void {
    if (this.isOver) return;
    this.#hasEnded = true;
    this.#body?.end();
  }

  #head(status: number, headers: ReplyHeaders): void {
    const { res, prefixes, spelling } = this.#options;
    this.status = status;
    res.writeHead(
      status,
      spelledHeaders(prefixes, spelling, { ...this.#options.headers, ...headers }),
    );
  }
}

/** The same, whoever listens: a caller's connection, or we ourselves. */
export type CallReply = Pick<CallerReply, keyof CallerReply>;
