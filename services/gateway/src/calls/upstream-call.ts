import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import { GatewayError } from '@sluice/errors';
import { GrowingBytes } from '@sluice/json';
import { type PlaceInPool, upstreamFailure } from '@sluice/outbound';
import type { Dispatcher } from 'undici';
import { type Abortable, abortReason } from '../http/caller-gone.ts';
import { type Awaiting, type DeadlineLine, deadlineLine } from './deadlines.ts';
import { isCompressed, unpacked } from './unpack.ts';

/** Who takes the bytes of a reply, once its head is known. */
export interface ReplyConsumer {
  /** Return false to be given no more until `resume` is called. */
  data(chunk: Buffer): boolean;
  end(): void;
  /** The reply broke off; `error` says how. */
  fail(error: GatewayError): void;
}

export interface CallOptions {
  path: string;
  method: Dispatcher.HttpMethod;
  headers: Record<string, string | string[]>;
  body: Dispatcher.DispatchOptions['body'];
  /**
   * Until the response headers; for an event stream until its first bytes. While
   * a body flows through, it begins anew with each piece that is passed on.
   */
  timeoutMs: number;
  /** Between two pieces of the reply. */
  idleTimeoutMs: number;
  signal: Abortable;
  /** Where connections are bounded: how long the call waits for one. */
  place?: PlaceInPool | undefined;
  /** Called when a connection takes it. */
  onSent?: (() => void) | undefined;
}

/** Server-sent events, and the framings that vendors use in their place. */
const eventStreams =
  /^(?:text\/event-stream|application\/(?:vnd\.amazon\.eventstream|x-ndjson|stream\+json))\b/i;

const serverSentEvents = /^text\/event-stream\b/i;

/** What servers say of a stream whose authors gave it no type. */
const untoldTypes = /^(?:$|text\/plain\b|application\/octet-stream\b)/i;

/** How a stream of server-sent events begins, and neither JSON nor HTML does. */
const firstEvent = /^\ufeff?\s*(?:data|event|id|retry)?:/;

/** How JSON begins, and no line of server-sent events. */
const firstJson = /^\ufeff?\s*\{/;

const firstBytesMax = 64;

/** Why a reply is not read: its size, or what is held for other requests. */
export type Unread = 'too-large' | 'overloaded';

/** Of an event stream, which is read as it passes: after so many bytes others have their turn. */
const turnBytes = 64 * 1024;

/** A deadline that is somebody else's to keep: no timer is begun for it. */
export const never = 2 ** 31 - 1;

/** Bytes held for a consumer that has not come yet; more pauses the upstream. */
const heldBytesMax = 256 * 1024;

/**
 * One request to one upstream over an undici pool. `head` settles with the
 * response headers or the reason there are none; `consume` then hands the bytes
 * over as they arrive, without a stream object in between.
 */
export class UpstreamCall implements Awaiting {
  older: Awaiting | undefined = undefined;
  newer: Awaiting | undefined = undefined;
  dueAt = 0;
  readonly head: Promise<void>;
  status = 0;
  headers: IncomingHttpHeaders = {};
  #settleHead!: { resolve: () => void; reject: (error: GatewayError) => void };
  #controller: Dispatcher.DispatchController | undefined;
  #consumer: ReplyConsumer | undefined;
  readonly #held = new GrowingBytes();
  #ended = false;
  #failure: GatewayError | undefined;
  /** Undefined = somebody else keeps the deadline. */
  #line: DeadlineLine | undefined;
  #headKnown = false;
  /** Headers, and for an event stream its first bytes: the answer has begun. */
  #hasBegun = false;
  #watchesSilence = false;
  /** We asked the upstream to wait: its silence is ours. */
  #paused = false;
  /** Left of this turn; endless where bytes pass unread. */
  #turnBytesLeft = Number.POSITIVE_INFINITY;
  #isResting = false;
  #isSent = false;
  #isEventStream = false;
  #abortReason: GatewayError | undefined;
  readonly #options: CallOptions;
  readonly #onAbort = () => this.abort(abortReason(this.#options.signal));

  constructor(dispatcher: Dispatcher, options: CallOptions) {
    this.#options = options;
    this.head = new Promise<void>((resolve, reject) => {
      this.#settleHead = { resolve, reject };
    });
    this.#startTimer(options.timeoutMs);
    // An aborted signal tells nobody any more: who left before the call is not called for.
    if (options.signal.aborted) {
      this.#onAbort();
      return;
    }
    if (options.place?.isFull() === true) {
      this.abort(saturated('so many wait for one already'));
      return;
    }
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
    try {
      dispatcher.dispatch(
        {
          path: options.path,
          method: options.method,
          headers: options.headers,
          body: options.body,
          headersTimeout: 0,
          bodyTimeout: 0,
        },
        this,
      );
    } catch (error) {
      this.onResponseError(undefined, error as Error);
    }
    if (options.place !== undefined) this.#waitFor(options.place);
  }

  /** Whoever still stands in line after so long is told; whoever waits for a connection to be opened is not concerned. */
  #waitFor({ waitMs, isTaken }: PlaceInPool): void {
    if (this.#controller !== undefined || this.#isOver) return;
    const timer = setTimeout(() => {
      if (this.#controller === undefined && isTaken())
        this.abort(saturated(`none became free within ${waitMs} ms`));
    }, waitMs);
    timer.unref();
  }

  /** Stops the exchange with the upstream. The consumer is told `reason`. */
  abort(reason: GatewayError): void {
    this.#abortReason = reason;
    if (this.#isOver) return;
    if (this.#controller === undefined) this.onResponseError(undefined, reason);
    else this.#controller.abort(reason);
  }

  /** Hands over what has arrived and what will. */
  consume(consumer: ReplyConsumer): void {
    this.#consumer = consumer;
    if (this.#hasBegun) this.#watchSilence();
    const failedBefore = this.#failure;
    let wantsMore = true;
    for (const chunk of this.#held.takePieces()) {
      // Who leaves on account of a piece is given none of those behind it, be they here already or not.
      if (this.#abortReason !== undefined && failedBefore === undefined) break;
      wantsMore = consumer.data(chunk);
    }
    const left = this.#abortReason;
    if (failedBefore !== undefined) consumer.fail(failedBefore);
    else if (this.#ended && left === undefined) consumer.end();
    else if (this.#ended && left !== undefined) consumer.fail(left);
    // Who leaves before the end is told as it happens.
    else if (left !== undefined) return;
    else if (wantsMore) this.resume();
    else this.#pause();
  }

  resume(): void {
    // The connection may be another request's by now.
    if (this.#isOver) return;
    if (this.#turnBytesLeft <= 0) {
      this.#rest();
      return;
    }
    this.#paused = false;
    if (this.#hasBegun) this.#line?.refresh(this);
    this.#controller?.resume();
  }

  #pause(): void {
    this.#paused = true;
    this.#controller?.pause();
  }

  get #isOver(): boolean {
    return this.#ended || this.#failure !== undefined;
  }

  /** All that the caller sent so far has been passed on: the silence is the caller's. */
  get #waitsForCaller(): boolean {
    const { body } = this.#options;
    return (
      !this.#isSent &&
      this.#controller !== undefined &&
      body instanceof Readable &&
      body.readableLength === 0
    );
  }

  /** A connection has taken it: before, nothing of it has left. */
  get wasSent(): boolean {
    return this.#controller !== undefined;
  }

  get isEventStream(): boolean {
    return this.#isEventStream;
  }

  /** It does not say what it is. */
  get isUntold(): boolean {
    return untoldTypes.test(String(this.headers['content-type'] ?? ''));
  }

  /** Whether a reply that does not say so is server-sent events, by its first bytes. */
  async turnsOutEvents(): Promise<boolean> {
    const isStream = firstEvent.test(await this.#firstBytes());
    if (isStream) this.#turnBytesLeft = turnBytes;
    return isStream;
  }

  /** Whether a reply that says that it is server-sent events is one document of JSON, by its first bytes; then that is what it says. */
  async turnsOutJson(): Promise<boolean> {
    if (!serverSentEvents.test(String(this.headers['content-type']))) return false;
    if (!firstJson.test(await this.#firstBytes())) return false;
    this.headers = { ...this.headers, 'content-type': 'application/json' };
    this.#isEventStream = false;
    this.#turnBytesLeft = Number.POSITIVE_INFINITY;
    return true;
  }

  /** They stay for whoever consumes it; as do its end and its failure, should they come before. */
  async #firstBytes(): Promise<string> {
    if (this.#held.length === 0 && !this.#isOver)
      await new Promise<void>((resolve) => {
        this.consume({
          data: (chunk) => {
            this.#consumer = undefined;
            this.#held.add(chunk);
            resolve();
            return false;
          },
          end: resolve,
          fail: () => resolve(),
        });
      });
    const bytes = this.#held.take();
    this.#held.add(bytes);
    return bytes.toString('utf8', 0, firstBytesMax);
  }

  /** All of a body is here, and waits for whoever takes it. */
  get isWhole(): boolean {
    return this.#ended && this.#failure === undefined && this.#held.length > 0;
  }

  /** Of one that is whole. */
  takeWhole(): Buffer {
    return this.#held.take();
  }

  /** The whole body, unpacked where it came compressed. @throws GatewayError when it breaks off or is larger than `bytesMax`. */
  readAll(bytesMax: number): Promise<Buffer> {
    const read = this.readOrLeave(bytesMax, () => true);
    if (isCompressed(this.headers)) return this.#unpacked(read, bytesMax);
    return read instanceof Promise ? read.then((bytes) => this.#whole(bytes)) : this.#whole(read);
  }

  async #unpacked(read: ReturnType<UpstreamCall['readOrLeave']>, bytesMax: number) {
    const bytes = await this.#whole(await read);
    return this.#whole(await unpacked(bytes, this.headers, bytesMax));
  }

  #whole(bytes: Buffer | Unread): Promise<Buffer> {
    if (Buffer.isBuffer(bytes)) return Promise.resolve(bytes);
    const error = new GatewayError('upstream.response_too_large');
    this.abort(error);
    return Promise.reject(error);
  }

  /**
   * The whole body; or why it is not read, which leaves all of it to whoever
   * consumes it next. Waits for nothing where it came whole with its head, as most do.
   * @throws GatewayError when it breaks off.
   */
  readOrLeave(
    bytesMax: number,
    hold: (bytes: number) => boolean,
  ): Buffer | Unread | Promise<Buffer | Unread> {
    if (Number(this.headers['content-length']) > bytesMax) return 'too-large';
    if (this.#ended && this.#failure === undefined) {
      if (this.#held.length > bytesMax) return 'too-large';
      return hold(this.#held.length) ? this.#held.take() : 'overloaded';
    }
    return new Promise((resolve, reject) => {
      const bytes = new GrowingBytes();
      let gaveUp = false;
      const giveUp = (why: Unread) => {
        gaveUp = true;
        this.#consumer = undefined;
        for (const piece of bytes.takePieces()) this.#held.add(piece);
        resolve(why);
        return false;
      };
      this.consume({
        data: (chunk) => {
          if (gaveUp) {
            this.#held.add(chunk);
            return false;
          }
          bytes.add(chunk);
          if (bytes.length > bytesMax) return giveUp('too-large');
          return hold(chunk.length) || giveUp('overloaded');
        },
        end: () => {
          if (!gaveUp) resolve(bytes.take());
        },
        fail: (error) => {
          if (!gaveUp) reject(error);
        },
      });
    });
  }

  /** What comes, no faster than it is taken. @throws GatewayError when it breaks off */
  async *pieces(): AsyncGenerator<Buffer, void> {
    const waiting: Buffer[] = [];
    let ended = false;
    let failure: GatewayError | undefined;
    let wake = () => {};
    this.consume({
      data(chunk) {
        waiting.push(chunk);
        wake();
        return false;
      },
      end() {
        ended = true;
        wake();
      },
      fail(error) {
        failure = error;
        wake();
      },
    });
    try {
      for (;;) {
        const chunk = waiting.shift();
        if (chunk !== undefined) yield chunk;
        else if (failure !== undefined) throw failure;
        else if (ended) return;
        else {
          const { promise, resolve } = Promise.withResolvers<void>();
          wake = resolve;
          this.resume();
          await promise;
        }
      }
    } finally {
      this.abort(new GatewayError('request.superseded'));
    }
  }

  // What undici calls.

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#abortReason !== undefined) controller.abort(this.#abortReason);
    else this.#options.onSent?.();
  }

  /** A piece of the request was passed on: whoever takes an upload is not silent. */
  onBodySent(): void {
    if (!this.#isOver) this.#line?.refresh(this);
  }

  onRequestSent(): void {
    this.#isSent = true;
    if (!this.#isOver) this.#line?.refresh(this);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (status < 200) return;
    this.status = status;
    this.headers = headers;
    this.#headKnown = true;
    this.#isEventStream = eventStreams.test(String(headers['content-type'] ?? ''));
    if (this.#isEventStream) this.#turnBytesLeft = turnBytes;
    else this.#begin();
    this.#settleHead.resolve();
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // What undici gives whoever asks for more before there is any: who took it for a piece, and asked again, would let nothing come.
    if (chunk.length === 0) return;
    if (this.#hasBegun) this.#line?.refresh(this);
    else this.#begin();
    if (this.#consumer !== undefined) {
      const wantsMore = this.#consumer.data(chunk);
      this.#turnBytesLeft -= chunk.length;
      if (!wantsMore) this.#pause();
      else if (this.#turnBytesLeft <= 0) {
        this.#pause();
        this.#rest();
      }
      return;
    }
    this.#held.add(chunk);
    if (this.#held.length > heldBytesMax) this.#pause();
  }

  /**
   * An upstream that is faster than its stream can be read keeps nobody waiting. A
   * caller that takes all at once asks for more within the same turn: it rests as well.
   */
  #rest(): void {
    if (this.#isResting) return;
    this.#isResting = true;
    setImmediate(() => {
      this.#isResting = false;
      this.#turnBytesLeft = turnBytes;
      this.resume();
    });
  }

  onResponseEnd(): void {
    this.#ended = true;
    this.#finish();
    this.#consumer?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#isOver) return;
    this.#failure = this.#abortReason ?? upstreamFailure(error, this.#headKnown);
    this.#finish();
    if (!this.#headKnown) this.#settleHead.reject(this.#failure);
    else this.#consumer?.fail(this.#failure);
  }

  /** From here on only silence within the answer counts. */
  #begin(): void {
    this.#hasBegun = true;
    if (this.#consumer !== undefined) this.#watchSilence();
  }

  /** Once somebody takes the answer: one that came whole with its head, as most do, needs no timer of its own. */
  #watchSilence(): void {
    if (this.#watchesSilence || this.#isOver) return;
    this.#watchesSilence = true;
    this.#line?.delete(this);
    this.#startTimer(this.#options.idleTimeoutMs);
  }

  #startTimer(ms: number): void {
    this.#line = ms >= never ? undefined : deadlineLine(ms);
    this.#line?.add(this);
  }

  #finish(): void {
    this.#line?.delete(this);
    this.#options.signal.removeEventListener('abort', this.#onAbort);
  }

  onLate(): void {
    if (this.#paused || this.#waitsForCaller) {
      this.#line?.refresh(this);
      return;
    }
    this.abort(
      this.#hasBegun
        ? new GatewayError('upstream.stream_stalled', {
            message: `The provider sent nothing for ${this.#options.idleTimeoutMs} ms.`,
            failureCause: 'stalled',
          })
        : new GatewayError('upstream.timeout', {
            message: `The provider did not answer within ${this.#options.timeoutMs} ms.`,
            failureCause: 'timeout',
          }),
    );
  }
}

function saturated(why: string): GatewayError {
  return new GatewayError('upstream.saturated', {
    message: `All connections to the provider are in use, and ${why}.`,
    headers: { 'retry-after': '1' },
  });
}
