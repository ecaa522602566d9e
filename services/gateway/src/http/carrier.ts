import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import type { Arrival } from '@sluice/contracts';
import { bodyStream } from './body-stream.ts';
import { whenCallerGone } from './caller-gone.ts';
import { type ReadBodyOptions, readBody } from './read-body.ts';

/** What a request came by, HTTP or gRPC: all that is known of the caller's side while nothing is answered. */
export interface Carrier {
  readonly method: string;
  /** Path and query as they came. */
  readonly target: string;
  /** By lower-case names, as Node has them. */
  readonly headers: IncomingHttpHeaders;
  /** Whether the answer is a stream, where that is not the body's to say. */
  readonly asksStream: boolean | undefined;
  /** There is nobody left to answer to, or everything was said. */
  readonly isOver: boolean;
  onceOver(listener: () => void): void;
  /** The caller left before the whole answer was handed over. */
  onceGone(listener: () => void): void;
  /** The caller's, an IP address; empty when the connection is gone. */
  address(): string;
  readBody(options: ReadBodyOptions): Promise<Buffer>;
  /** @param options  for carriers that hold it whole */
  bodyStream(options: ReadBodyOptions): Readable;
}

/** A request of HTTP/1.1. */
export class HttpCarrier implements Carrier {
  readonly #req: IncomingMessage & { originalUrl?: string };
  readonly #res: ServerResponse;
  readonly #readArrival: (req: IncomingMessage) => Arrival;

  constructor(
    req: IncomingMessage & { originalUrl?: string },
    res: ServerResponse,
    readArrival: (req: IncomingMessage) => Arrival,
  ) {
    this.#req = req;
    this.#res = res;
    this.#readArrival = readArrival;
  }

  get method(): string {
    return this.#req.method ?? 'GET';
  }

  get target(): string {
    return this.#req.originalUrl ?? this.#req.url ?? '/';
  }

  get headers(): IncomingHttpHeaders {
    return this.#req.headers;
  }

  get asksStream(): undefined {
    return undefined;
  }

  get isOver(): boolean {
    return this.#res.closed;
  }

  onceOver(listener: () => void): void {
    this.#res.once('close', listener);
  }

  onceGone(listener: () => void): void {
    whenCallerGone(this.#req, this.#res, listener);
  }

  address(): string {
    return this.#readArrival(this.#req).address;
  }

  readBody(options: ReadBodyOptions): Promise<Buffer> {
    return readBody(this.#req, options);
  }

  bodyStream(): Readable {
    return bodyStream(this.#req);
  }
}
