import { Client, Dispatcher, errors } from 'undici';

export interface OriginPoolOptions extends Omit<Client.Options, 'pipelining'> {
  /** Requests beyond it wait in line; undefined = as many connections as there are requests. */
  connectionsMax?: number | undefined;
}

/** One connection: opened by its first request, and anew when a request finds it closed. */
interface Lane {
  readonly client: Client;
  /** Requests that it was given. */
  sent: number;
  /** It may be given the next request. */
  isFree: boolean;
  /** It is given none any more. */
  isGone: boolean;
  /** In the stack of those that are free. */
  below: Lane | undefined;
  above: Lane | undefined;
}

interface Queued {
  readonly options: Dispatcher.DispatchOptions;
  readonly handler: Dispatcher.DispatchHandler;
}

/**
 * The connections to one origin, each with one request at a time. undici's own
 * pool looks through all of its connections for a free one, twice for each
 * request: of 5,000 streams begun at once that is 25 million looks. Here those
 * that are free are a stack. The last one freed is taken first, so that what a
 * burst opened falls idle and is closed, and a connection that was closed is
 * forgotten, where undici keeps what it knew of it.
 */
export class OriginPool extends Dispatcher {
  readonly #origin: string;
  readonly #options: Client.Options;
  readonly #connectionsMax: number;
  readonly #lanes = new Set<Lane>();
  #free: Lane | undefined;
  #freeCount = 0;
  #line: Queued[] = [];
  #lineStart = 0;
  #isClosed = false;
  #isDestroyed = false;
  #lineIsEmpty: (() => void) | undefined;

  constructor(origin: string, { connectionsMax, ...options }: OriginPoolOptions) {
    super();
    this.#origin = origin;
    this.#options = { ...options, pipelining: 1 };
    this.#connectionsMax = connectionsMax ?? Number.POSITIVE_INFINITY;
  }

  /** `close` or `destroy` was called: it takes no more requests. */
  get closed(): boolean {
    return this.#isClosed;
  }

  /** Requests that wait in line for a connection. */
  get queued(): number {
    return this.#line.length - this.#lineStart;
  }

  /** Nothing is on its way or waits. */
  get isIdle(): boolean {
    if (this.queued > 0) return false;
    if (this.#freeCount === this.#lanes.size) return true;
    // Whose request is over is free a turn later.
    for (const { client } of this.#lanes) if (client.stats.size > 0) return false;
    return true;
  }

  /** Connections that are open, and requests that wait for one to be free or to open. */
  get load(): { connections: number; waiting: number } {
    let connections = 0;
    let waiting = this.queued;
    for (const { client } of this.#lanes) {
      const { connected, pending } = client.stats;
      if (connected) connections += 1;
      waiting += pending;
    }
    return { connections, waiting };
  }

  /** @returns false when the next request would wait in line */
  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    if (this.#isClosed) {
      const error = this.#isDestroyed
        ? new errors.ClientDestroyedError()
        : new errors.ClientClosedError();
      // Nothing was begun that could be controlled.
      handler.onResponseError?.(undefined as never, error);
      return false;
    }
    const lane = this.#takeLane();
    if (lane === undefined) this.#line.push({ options, handler });
    else this.#send(lane, options, handler);
    return this.#free !== undefined || this.#lanes.size < this.#connectionsMax;
  }

  override close(): Promise<void>;
  override close(callback: () => void): void;
  override close(callback?: () => void): Promise<void> | void {
    this.#isClosed = true;
    const closed = this.#close();
    if (callback === undefined) return closed;
    closed.then(callback, callback);
  }

  async #close(): Promise<void> {
    if (this.queued > 0)
      await new Promise<void>((resolve) => {
        this.#lineIsEmpty = resolve;
      });
    await Promise.all(
      Array.from(this.#lanes, ({ client }) => (client.destroyed ? undefined : client.close())),
    );
  }

  override destroy(error?: Error | null): Promise<void>;
  override destroy(callback: () => void): void;
  override destroy(error: Error | null, callback: () => void): void;
  override destroy(
    given?: Error | null | (() => void),
    callback?: () => void,
  ): Promise<void> | void {
    const error = given instanceof Error ? given : new errors.ClientDestroyedError();
    this.#isClosed = true;
    this.#isDestroyed = true;
    const waiting = this.#line.slice(this.#lineStart);
    this.#line = [];
    this.#lineStart = 0;
    for (const { handler } of waiting) handler.onResponseError?.(undefined as never, error);
    this.#lineIsEmpty?.();
    const destroyed = Promise.all(
      Array.from(this.#lanes, ({ client }) => client.destroy(error)),
    ).then(() => {});
    const done = typeof given === 'function' ? given : callback;
    if (done === undefined) return destroyed;
    destroyed.then(done, done);
  }

  /** A connection that is free, or a further one; undefined = all are in use. */
  #takeLane(): Lane | undefined {
    const lane = this.#free;
    if (lane === undefined)
      return this.#lanes.size < this.#connectionsMax ? this.#openLane() : undefined;
    this.#unstack(lane);
    return lane;
  }

  #openLane(): Lane {
    const client = new Client(this.#origin, this.#options);
    const lane: Lane = {
      client,
      sent: 0,
      isFree: false,
      isGone: false,
      below: undefined,
      above: undefined,
    };
    this.#lanes.add(lane);
    client.on('drain', () => this.#freed(lane));
    // With something left to do it opens its connection anew by itself.
    const forget = () => {
      if (client.stats.size === 0) this.#forget(lane);
    };
    client.on('disconnect', forget);
    client.on('connectionError', forget);
    return lane;
  }

  #send(lane: Lane, options: Queued['options'], handler: Queued['handler']): void {
    lane.sent += 1;
    const { sent } = lane;
    lane.client.dispatch(options, handler);
    // What was asked for, and be it for a moment, is followed by `drain`, in the turn at the latest that was begun by now;
    // a request that could not even be made is not.
    if (lane.client.stats.size === 0)
      queueMicrotask(() => {
        if (lane.sent === sent) this.#freed(lane);
      });
  }

  /** It may take a request: the first in line, or the next that comes. */
  #freed(lane: Lane): void {
    if (lane.isFree || lane.isGone) return;
    const next = this.#nextInLine();
    if (next === undefined) this.#stack(lane);
    else this.#send(lane, next.options, next.handler);
  }

  /** Room for another, which whoever is first in line may have. */
  #forget(lane: Lane): void {
    if (lane.isGone) return;
    if (lane.isFree) this.#unstack(lane);
    lane.isGone = true;
    this.#lanes.delete(lane);
    if (this.queued === 0 || this.#isDestroyed) return;
    const other = this.#takeLane();
    const next = other === undefined ? undefined : this.#nextInLine();
    if (other !== undefined && next !== undefined) this.#send(other, next.options, next.handler);
  }

  #nextInLine(): Queued | undefined {
    if (this.queued === 0) return undefined;
    const next = this.#line[this.#lineStart] as Queued;
    this.#lineStart += 1;
    if (this.#lineStart === this.#line.length) {
      this.#line = [];
      this.#lineStart = 0;
      this.#lineIsEmpty?.();
    } else if (this.#lineStart > 1_000) {
      this.#line = this.#line.slice(this.#lineStart);
      this.#lineStart = 0;
    }
    return next;
  }

  #stack(lane: Lane): void {
    lane.isFree = true;
    lane.below = this.#free;
    if (this.#free !== undefined) this.#free.above = lane;
    this.#free = lane;
    this.#freeCount += 1;
  }

  #unstack(lane: Lane): void {
    lane.isFree = false;
    if (lane.above === undefined) this.#free = lane.below;
    else lane.above.below = lane.below;
    if (lane.below !== undefined) lane.below.above = lane.above;
    lane.above = undefined;
    lane.below = undefined;
    this.#freeCount -= 1;
  }
}
