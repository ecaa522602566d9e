import {
  type McpErrorReply,
  type McpResponse,
  messageBounds,
  readMessage,
  SseReader,
} from '@sluice/mcp';
import type { ReplyHeaders } from '../exchange/reply.ts';
import type { CallReply } from './caller-reply.ts';
import { messageOf } from './events.ts';

/** The caller's side of a call that the gateway makes by itself: keeps the answer, and passes over what is told on the way. */
export class CapturedReply implements CallReply {
  readonly #signal: AbortSignal;
  readonly #events = new SseReader();
  readonly #closed: (() => void)[] = [];
  #hasEnded = false;
  status = 0;
  isStreaming = false;
  headers: ReplyHeaders = {};
  /** Undefined while there is none. */
  answer: McpResponse | McpErrorReply | undefined;

  /** @param signal aborted when nobody waits for it any more */
  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', () => this.#close(), { once: true });
  }

  get isOver(): boolean {
    return this.#hasEnded || this.#signal.aborted;
  }

  add(): void {}

  body(status: number, body: Buffer, headers: ReplyHeaders = {}): void {
    if (this.isOver) return;
    this.status = status;
    this.headers = headers;
    this.#take(readMessage(body, messageBounds.upstream));
    this.#end();
  }

  empty(status: number): void {
    if (this.isOver) return;
    this.status = status;
    this.#end();
  }

  openStream(): void {
    this.status = 200;
    this.isStreaming = true;
  }

  write(events: Buffer): boolean {
    for (const event of this.#events.push(events)) {
      const message = messageOf(event);
      if (message !== undefined) this.#take(message);
    }
    return true;
  }

  keepAlive(): void {}

  onDrain(): void {}

  onClose(listener: () => void): void {
    this.#closed.push(listener);
  }

  endStream(): void {
    if (!this.isOver) this.#end();
  }

  #take(message: ReturnType<typeof readMessage>): void {
    if (message.kind === 'response' || message.kind === 'error') this.answer = message;
  }

  #end(): void {
    this.#hasEnded = true;
    this.#close();
  }

  #close(): void {
    for (const listener of this.#closed.splice(0)) listener();
  }
}
