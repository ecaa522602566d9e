import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { ServerInterceptingCallInterface } from '@grpc/grpc-js';
import { GatewayError } from '@sluice/errors';
import type { Carrier } from '../http/carrier.ts';
import { overloaded, type ReadBodyOptions } from '../http/read-body.ts';

export interface CarriedCall {
  readonly call: Pick<ServerInterceptingCallInterface, 'startRead'>;
  readonly headers: IncomingHttpHeaders;
  /** Path of the endpoint. */
  readonly target: string;
  readonly asksStream: boolean | undefined;
  readonly address: () => string;
  /** Ends the call, of which nothing came that can be answered. */
  readonly refuse: (details: string) => void;
}

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

  readBody({ bytesMax, hold }: Pick<ReadBodyOptions, 'bytesMax' | 'hold'>): Promise<Buffer> {
    if (this.#isOver) return Promise.reject(new GatewayError('request.aborted'));
    return new Promise<Buffer>((resolve, reject) => {
      this.#reading = { resolve, reject };
      this.#carried.call.startRead();
    }).then((body) => {
      if (body.length > bytesMax)
        throw new GatewayError('request.too_large', {
          field: 'input',
          message: `The input is larger than ${bytesMax} bytes.`,
        });
      if (!hold(body.length)) throw overloaded();
      return body;
    });
  }

  bodyStream(): Readable {
    const read = () => this.readBody({ bytesMax: Number.POSITIVE_INFINITY, hold: () => true });
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
    if (this.#message === undefined) this.#carried.refuse('The call ended without a request.');
    else this.#reading?.resolve(this.#message);
    this.#reading = undefined;
  }

  /** Nothing more is read or written. */
  end(isGone: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reading?.reject(new GatewayError('request.aborted'));
    this.#reading = undefined;
    if (isGone) for (const listener of this.#whenGone) listener();
    for (const listener of this.#whenOver) listener();
  }
}
