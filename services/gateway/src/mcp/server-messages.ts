import { GatewayError } from '@sluice/errors';
import { type McpMessage, type McpRequest, messageBounds, SseReader } from '@sluice/mcp';
import type { UpstreamCall } from '../calls/upstream-call.ts';
import { type Awaited, EventReading } from './events.ts';
import { readReply, type ServerReply } from './server-reply.ts';

/** Read ahead of whoever takes them. */
const aheadMax = 64;
/** Of a stream that nobody may hold up: many may come at once. */
const heldMax = 1024;
const heldBytesMax = 4 * 1024 * 1024;

/** The messages of one answer, body or stream, one after the other, and what is told of it elsewhere. */
export class ServerMessages {
  #upstream: UpstreamCall | undefined;
  readonly #ready: McpMessage[] = [];
  #readyBytes = 0;
  #wanted:
    | { resolve: (message: McpMessage | undefined) => void; reject: (error: unknown) => void }
    | undefined;
  #error: unknown;
  #hasEnded = false;

  /** @throws McpFault, GatewayError where the head says that there are none */
  static async of(upstream: UpstreamCall, asked: McpRequest): Promise<ServerMessages> {
    const messages = new ServerMessages();
    await messages.#read(upstream, asked);
    return messages;
  }

  /** Of an answer whose head is waited for: what goes wrong is told to whoever takes the next one. */
  follow(answered: Promise<UpstreamCall>, asked: McpRequest): void {
    answered
      .then((upstream) => this.#read(upstream, asked))
      .catch((error: unknown) => this.#fail(error));
  }

  /** Of an answer that comes by itself, beside what is told of it. */
  await(answered: Promise<ServerReply>): void {
    answered.then(
      (reply) => {
        this.add(reply);
        this.#end();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  /** Of a stream that is the answer to nothing. */
  static told(upstream: UpstreamCall): ServerMessages {
    const messages = new ServerMessages();
    messages.#upstream = upstream;
    messages.#consume(upstream, 'none');
    return messages;
  }

  async #read(upstream: UpstreamCall, asked: McpRequest): Promise<void> {
    this.#upstream = upstream;
    if (upstream.isEventStream && upstream.status === 200) {
      this.#consume(upstream, asked);
      return;
    }
    const body = await upstream.readAll(messageBounds.upstream.bytesMax);
    this.add(readReply(upstream, body, asked));
    this.#end();
  }

  /** Undefined = there are no more. One at a time asks. */
  next(): Promise<McpMessage | undefined> {
    const ready = this.#ready.shift();
    if (ready !== undefined) {
      this.#readyBytes -= ready.bytes.length;
      if (this.#ready.length < aheadMax) this.#upstream?.resume();
      return Promise.resolve(ready);
    }
    if (this.#error !== undefined) return Promise.reject(this.#error);
    if (this.#hasEnded) return Promise.resolve(undefined);
    return new Promise((resolve, reject) => {
      this.#wanted = { resolve, reject };
    });
  }

  /** Nobody wants the rest. */
  leave(): void {
    this.#upstream?.abort(new GatewayError('request.aborted'));
  }

  /** So many wait for whoever takes them that no more should be told. */
  get isFull(): boolean {
    return this.#ready.length >= heldMax || this.#readyBytes >= heldBytesMax;
  }

  /** The next one, wherever it was told. */
  add(message: McpMessage): void {
    if (this.#wanted === undefined) {
      this.#ready.push(message);
      this.#readyBytes += message.bytes.length;
    } else {
      const { resolve } = this.#wanted;
      this.#wanted = undefined;
      resolve(message);
    }
  }

  #consume(upstream: UpstreamCall, awaited: Awaited): void {
    const reader = new SseReader();
    const reading = new EventReading(awaited);
    upstream.consume({
      data: (chunk) => {
        try {
          for (const event of reader.push(chunk)) {
            const message = reading.read(event);
            if (message) this.add(message);
          }
        } catch (error) {
          upstream.abort(new GatewayError('upstream.invalid_response', { cause: error }));
          this.#fail(error);
        }
        return this.#ready.length < aheadMax;
      },
      end: () => (reading.fault === undefined ? this.#end() : this.#fail(reading.fault)),
      fail: (error) => this.#fail(error),
    });
  }

  #end(): void {
    this.#hasEnded = true;
    this.#wanted?.resolve(undefined);
    this.#wanted = undefined;
  }

  #fail(error: unknown): void {
    this.#error ??= error;
    this.#wanted?.reject(error);
    this.#wanted = undefined;
  }
}
