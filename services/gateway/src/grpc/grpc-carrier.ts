import type { IncomingHttpHeaders } from 'node:http';
import { constants, type ServerHttp2Stream } from 'node:http2';
import { Readable } from 'node:stream';
import type { ServerInterceptingCallInterface } from '@grpc/grpc-js';
import { GatewayError } from '@sluice/errors';
import type { Carrier } from '../http/carrier.ts';
import { overloaded, type ReadBodyOptions } from '../http/read-body.ts';
import type { ArrivingBody } from '../http/slow-bodies.ts';

export interface CarriedCall {
  readonly call: Pick<ServerInterceptingCallInterface, 'startRead'>;
  /** Whose bytes are counted as they come; without one, when the message is whole. */
  readonly stream: Pick<ServerHttp2Stream, 'on' | 'once' | 'off' | 'close'> | undefined;
  readonly headers: IncomingHttpHeaders;
  /** Path of the endpoint. */
  readonly target: string;
  readonly asksStream: boolean | undefined;
  readonly address: () => string;
  /** Ends the call, of which nothing came that can be answered. */
  readonly refuse: (details: string) => void;
}

/** What callers have to end their side, once the answer was handed over. */
const lastBytesMs = 1000;

/**
 * A call as what carries a request. Its message is not read before somebody asks
 * for the body, which is after its key was found to be one.
 */
export class GrpcCarrier implements Carrier {
  readonly method = 'POST';
  readonly #carried: CarriedCall;
  readonly #whenOver: (() => void)[] = [];
  readonly #whenGone: (() => void)[] = [];
  #reading: { resolve(body: Buffer): void; reject(error: GatewayError): void } | undefined;
  #message: Buffer | undefined;
  #hasBegun = false;
  #hasReadAll = false;
  #isOver = false;

  constructor(carried: CarriedCall) {
    this.#carried = carried;
  }

  get target(): string {
    return this.#carried.target;
  }

  get headers(): IncomingHttpHeaders {
    return this.#carried.headers;
  }

  get asksStream(): boolean | undefined {
    return this.#carried.asksStream;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  onceOver(listener: () => void): void {
    this.#whenOver.push(listener);
  }

  onceGone(listener: () => void): void {
    this.#whenGone.push(listener);
  }

  address(): string {
    return this.#carried.address();
  }

  readBody({ bytesMax, slowBodies, hold }: ReadBodyOptions): Promise<Buffer> {
    if (this.#isOver) return Promise.reject(new GatewayError('request.aborted'));
    let stop = () => {};
    let arrived = 0;
    return new Promise<Buffer>((resolve, reject) => {
      this.#reading = { resolve, reject };
      const arriving: ArrivingBody = {
        older: undefined,
        newer: undefined,
        startedAt: performance.now(),
        total: 0,
        fail: reject,
      };
      const onData = (piece: Buffer) => {
        arriving.total += piece.length;
        if (hold(piece.length)) arrived += piece.length;
        else reject(overloaded());
      };
      stop = () => {
        slowBodies.forget(arriving);
        this.#carried.stream?.off('data', onData);
      };
      slowBodies.watch(arriving);
      this.#carried.stream?.on('data', onData);
      this.#hasBegun = true;
      this.#carried.call.startRead();
    })
      .then((body) => {
        if (body.length > bytesMax)
          throw new GatewayError('request.too_large', {
            field: 'input',
            message: `The input is larger than ${bytesMax} bytes.`,
          });
        // What was compressed is larger now.
        if (body.length > arrived && !hold(body.length - arrived)) throw overloaded();
        return body;
      })
      .finally(() => stop());
  }

  /** The message is read whole all the same: there is no other way to have it. */
  bodyStream(options: ReadBodyOptions): Readable {
    const read = () => this.readBody(options);
    return Readable.from(
      (async function* () {
        yield await read();
      })(),
    );
  }

  /** A message came: the one there is, or the end of the call. */
  receive(input: string): void {
    if (this.#message !== undefined) {
      this.#carried.refuse('The call has one request.');
      return;
    }
    this.#message = Buffer.from(input);
    // Its end has to come as well.
    this.#carried.call.startRead();
  }

  receiveEnd(): void {
    this.#hasReadAll = true;
    if (this.#message === undefined) this.#carried.refuse('The call ended without a request.');
    else this.#reading?.resolve(this.#message);
    this.#reading = undefined;
  }

  /** Nothing more is read or written. */
  end(isGone: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    // What has come of a message is kept until the caller ends their side, or we do: sooner, it would overtake the answer.
    const { stream } = this.#carried;
    if (this.#hasBegun && !this.#hasReadAll && stream !== undefined) {
      const late = setTimeout(() => stream.close(constants.NGHTTP2_NO_ERROR), lastBytesMs);
      stream.once('close', () => clearTimeout(late));
    }
    this.#reading?.reject(new GatewayError('request.aborted'));
    this.#reading = undefined;
    if (isGone) for (const listener of this.#whenGone) listener();
    for (const listener of this.#whenOver) listener();
  }
}
