import type { WebSocket } from 'ws';
import { type Closing, relayedClose } from './close-codes.ts';

export interface RelayBounds {
  /** Bytes that one side may have waiting before the other is asked to pause. */
  readonly waitingBytesMax: number;
}

export interface RelayEvents {
  /**
   * What the caller sent; false = it does not go on, a promise = what comes behind it waits. Absent = all of it goes on,
   * unseen. Never rejects.
   */
  fromCaller?: ((data: Buffer) => boolean | Promise<boolean>) | undefined;
  /** What the provider sent, once it is on its way. Only text is shown. */
  fromUpstream(data: Buffer): void;
  /** Either side has closed, and the other is being closed as it was. Once. */
  closed(by: Side, code: number): void;
}

export type Side = 'caller' | 'upstream';

/**
 * Two WebSockets as one: messages go on as they came, text or binary, in their
 * order, and who reads slowly slows down who sends. Knows nothing of what is said.
 */
export class Relay {
  readonly #caller: WebSocket;
  readonly #upstream: WebSocket;
  readonly #bytesMax: number;
  readonly #events: RelayEvents;
  #isOver = false;
  /** Behind a frame of the caller's that is looked at. */
  #waiting: Frame[] | undefined;
  /** From either side, so far. */
  messages = 0;
  /** How often each side was asked whether it is there, and said nothing since. */
  #callerMissed = 0;
  #upstreamMissed = 0;

  /** Begins at once: `upstream` may have been paused since it opened. */
  constructor(
    caller: WebSocket,
    upstream: WebSocket,
    { waitingBytesMax }: RelayBounds,
    events: RelayEvents,
  ) {
    this.#caller = caller;
    this.#upstream = upstream;
    this.#bytesMax = waitingBytesMax;
    this.#events = events;
    caller.on('message', (data: Buffer, isBinary) => {
      this.messages++;
      this.#callerMissed = 0;
      if (this.#waiting !== undefined) this.#waiting.push({ data, isBinary });
      else this.#fromCaller(data, isBinary);
    });
    upstream.on('message', (data: Buffer, isBinary) => {
      this.messages++;
      this.#upstreamMissed = 0;
      this.#pass(upstream, caller, data, isBinary);
      if (!isBinary) this.#events.fromUpstream(data);
    });
    caller.on('pong', () => {
      this.#callerMissed = 0;
    });
    upstream.on('pong', () => {
      this.#upstreamMissed = 0;
    });
    // Each is followed by a close.
    caller.on('error', ignore);
    upstream.on('error', ignore);
    caller.on('close', (code, reason) => this.#closed('caller', code, reason));
    upstream.on('close', (code, reason) => this.#closed('upstream', code, reason));
    if (upstream.readyState !== upstream.OPEN) this.#closed('upstream', 1006, nothing);
    upstream.resume();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** To the caller alone, behind what was sent so far. */
  tell(text: string): void {
    if (this.#caller.readyState === this.#caller.OPEN) this.#caller.send(text);
  }

  /** To the provider, for nobody. */
  ask(text: string): void {
    if (this.#upstream.readyState === this.#upstream.OPEN) this.#upstream.send(text);
  }

  /** Ends both sides: the caller is told why, the provider that it is over. */
  end(closing: Closing): void {
    if (this.#isOver) return;
    close(this.#caller, closing);
    close(this.#upstream, { code: 1000, reason: '' });
  }

  /** What is not closed yet is cut. */
  cut(): void {
    this.#caller.terminate();
    this.#upstream.terminate();
  }

  /**
   * Asks both sides whether they are there; who has said nothing since this was called
   * twice is cut. To be called at intervals.
   */
  look(): void {
    this.#callerMissed = askWhetherThere(this.#caller, this.#callerMissed);
    this.#upstreamMissed = askWhetherThere(this.#upstream, this.#upstreamMissed);
  }

  #fromCaller(data: Buffer, isBinary: boolean): void {
    const may = this.#events.fromCaller?.(data) ?? true;
    if (may === true) this.#pass(this.#caller, this.#upstream, data, isBinary);
    else if (may !== false) void this.#hold(data, isBinary, may);
  }

  /** The caller sends no more than what is on its way until it is known what becomes of this. */
  async #hold(data: Buffer, isBinary: boolean, judged: Promise<boolean>): Promise<void> {
    const waiting: Frame[] = [];
    this.#waiting = waiting;
    this.#caller.pause();
    const may = await judged;
    if (may) this.#pass(this.#caller, this.#upstream, data, isBinary);
    this.#waiting = undefined;
    this.#release(waiting);
  }

  #release(waiting: readonly Frame[]): void {
    for (const [at, { data, isBinary }] of waiting.entries()) {
      this.#fromCaller(data, isBinary);
      if (this.#waiting === undefined) continue;
      // Another one is looked at: the rest waits for it.
      this.#waiting.push(...waiting.slice(at + 1));
      return;
    }
    if (this.#upstream.bufferedAmount <= this.#bytesMax) this.#caller.resume();
  }

  #pass(from: WebSocket, to: WebSocket, data: Buffer, isBinary: boolean): void {
    if (to.readyState !== to.OPEN) return;
    if (to.bufferedAmount + data.length <= this.#bytesMax) {
      to.send(data, isBinary ? asBinary : asText);
      return;
    }
    from.pause();
    to.send(data, isBinary ? asBinary : asText, () => {
      // Whose frame is looked at is asked to go on when that is done.
      const isHeld = from === this.#caller && this.#waiting !== undefined;
      if (!isHeld && to.bufferedAmount * 2 <= this.#bytesMax) from.resume();
    });
  }

  #closed(by: Side, code: number, reason: Buffer): void {
    const isFirst = !this.#isOver;
    this.#isOver = true;
    const other = by === 'caller' ? this.#upstream : this.#caller;
    close(other, relayedClose(code, reason));
    if (isFirst) this.#events.closed(by, code);
  }
}

/** @returns how often it was asked in vain, this time counted */
function askWhetherThere(socket: WebSocket, missed: number): number {
  if (socket.readyState !== socket.OPEN) return missed;
  // Who was asked to pause is not heard, and who reads slowly has not read the question yet.
  const canAnswer = !socket.isPaused && socket.bufferedAmount === 0;
  if (canAnswer && missed >= missedMax) {
    socket.terminate();
    return missed;
  }
  socket.ping(ignore);
  return canAnswer ? missed + 1 : 0;
}

const missedMax = 2;

function close(socket: WebSocket, { code, reason }: Closing): void {
  // Its answer must be read.
  if (socket.isPaused) socket.resume();
  if (socket.readyState !== socket.OPEN) return;
  if (code === undefined) socket.close();
  else socket.close(code, reason);
}

interface Frame {
  readonly data: Buffer;
  readonly isBinary: boolean;
}

const asText = { binary: false, compress: false };
const asBinary = { binary: true, compress: false };
const nothing = Buffer.alloc(0);
const ignore = () => {};
